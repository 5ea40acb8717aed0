import Testing

@testable import PipSink
@testable import TestSupport

@Suite struct PrometheusTextTests {
  private let usage = ResourceUsage(
    cpuTime: .milliseconds(1500), residentBytes: 1000, peakResidentBytes: 2000, threadCount: 3, openFileCount: 4)

  private func statistics(_ id: StreamID, intervals: [UInt64] = [], isInPictureInPicture: Bool = false) throws
    -> RenderStatistics
  {
    var counts = StreamStatistics()
    var now = MonotonicTime(nanoseconds: 1_000_000_000)
    for interval in [0] + intervals {
      now = MonotonicTime(nanoseconds: now.nanoseconds + interval)
      counts.countFrame(to: isInPictureInPicture ? .pictureInPicture : .inApp, at: now)
    }
    var info = StreamInfo(id: id, isLocal: false)
    info.lateFrameCount = 3
    return RenderStatistics(
      id, counts, .init(shown: 2), lastHandover: nil, info: info,
      processing: .init(passed: 4, dropped: 5, failed: 1))
  }

  private func lines(_ text: PrometheusText, with part: String) -> [String] {
    text.text.split(separator: "\n").map(String.init).filter { $0.contains(part) && !$0.hasPrefix("#") }
  }

  @Test func countsHaveTheirStreamSurfaceAndReason() throws {
    let text = try PrometheusText(
      [statistics("a", intervals: [1000]), statistics("b", isInPictureInPicture: true)], process: usage)
    #expect(
      lines(text, with: "received") == [
        "pipsink_frames_received_total{stream=\"a\"} 2", "pipsink_frames_received_total{stream=\"b\"} 1",
      ])
    #expect(text.text.contains("pipsink_frames_routed_total{stream=\"b\",surface=\"picture_in_picture\"} 1\n"))
    #expect(text.text.contains("pipsink_frames_dropped_total{stream=\"a\",reason=\"processor\"} 6\n"))
    #expect(text.text.contains("pipsink_frames_late_total{stream=\"a\"} 3\n"))
    #expect(!text.text.contains("overdue"), "there is no timebase")
    #expect(text.text.contains("pipsink_process_open_fds 4\n"))
    #expect(text.text.hasSuffix("\n"))
  }

  @Test func histogramsGoUpToInfinityAndAddUp() throws {
    let text = try PrometheusText(
      [statistics("a", intervals: [50_000, 3_000_000, 3_000_000, 20_000_000_000])], process: usage)
    let buckets = lines(text, with: "interval_seconds_bucket")
    #expect(buckets.first == "pipsink_frame_interval_seconds_bucket{stream=\"a\",le=\"0.0001\"} 1")
    #expect(buckets.contains("pipsink_frame_interval_seconds_bucket{stream=\"a\",le=\"0.005\"} 3"))
    #expect(buckets.suffix(2).map { $0.suffix(3) } == ["} 3", "} 4"])
    #expect(lines(text, with: "interval_seconds_count") == ["pipsink_frame_interval_seconds_count{stream=\"a\"} 4"])
    #expect(lines(text, with: "interval_seconds_sum") == ["pipsink_frame_interval_seconds_sum{stream=\"a\"} 20.00605"])
  }

  @Test func everyNumberIsInItsOwnLine() throws {
    var counts = StreamStatistics()
    for index in 0..<5 {
      let now = MonotonicTime(nanoseconds: 1_000_000_000 + UInt64(index) * 500_000_000)
      counts.countFrame(to: index < 3 ? .inApp : .pictureInPicture, at: now)
    }
    counts.replaced = 11
    var latencies = IntervalHistogram()
    for milliseconds in [1, 2, 30] as [UInt64] { latencies.record(nanoseconds: milliseconds * 1_000_000) }
    var screenLatencies = IntervalHistogram()
    for milliseconds in [17, 34] as [UInt64] { screenLatencies.record(nanoseconds: milliseconds * 1_000_000) }
    var change = SurfaceChange(
      streamID: "a", from: .inApp, to: .pictureInPicture, requestedAt: MonotonicTime(nanoseconds: 1_000))
    (change.framesLost, change.framesRepeated) = (21, 22)
    change.firstPresentedAt = MonotonicTime(nanoseconds: 250_001_000)
    var info = StreamInfo(id: "a", isLocal: false)
    (info.skippedFrameCount, info.lateFrameCount) = (31, 32)
    let statistics = RenderStatistics(
      "a", counts,
      .init(
        shown: 12, drawnByOpenGL: 3, drawnByDisplayServer: 2, late: 13, hidden: 14, failed: 15, latencies: latencies,
        screenLatencies: screenLatencies,
        missedRefreshes: 16), lastHandover: change, info: info, processing: .init(passed: 60, dropped: 33, failed: 7))
    let text = PrometheusText([statistics], process: usage)
    let expected = [
      ("frames_received_total", "", "5"), ("frames_routed_total", "surface=\"in_app\"", "3"),
      ("frames_routed_total", "surface=\"picture_in_picture\"", "2"), ("frames_shown_total", "", "12"),
      ("frames_drawn_total", "by=\"processor\"", "7"), ("frames_drawn_total", "by=\"opengl\"", "3"),
      ("frames_drawn_total", "by=\"display_server\"", "2"), ("frames_replaced_total", "", "11"),
      ("frames_late_total", "", "32"),
      ("frames_dropped_total", "reason=\"processor\"", "40"), ("frames_dropped_total", "reason=\"unreadable\"", "31"),
      ("frames_dropped_total", "reason=\"overdue\"", "13"), ("frames_dropped_total", "reason=\"hidden\"", "14"),
      ("frames_dropped_total", "reason=\"failed\"", "15"), ("frame_interval_seconds_count", "", "4"),
      ("frame_interval_seconds_sum", "", "2.0"), ("frame_interval_seconds_bucket", "le=\"0.25\"", "0"),
      ("frame_interval_seconds_bucket", "le=\"0.5\"", "4"), ("frame_latency_seconds_count", "", "3"),
      ("frame_latency_seconds_sum", "", "0.033"), ("frame_latency_seconds_bucket", "le=\"0.0025\"", "2"),
      ("frame_latency_seconds_bucket", "le=\"+Inf\"", "3"), ("screen_latency_seconds_count", "", "2"),
      ("screen_latency_seconds_sum", "", "0.051"), ("screen_latency_seconds_bucket", "le=\"0.02\"", "1"),
      ("missed_refreshes_total", "", "16"), ("last_handover_latency_seconds", "", "0.25"),
      ("last_handover_frames_lost", "", "21.0"), ("last_handover_frames_repeated", "", "22.0"),
    ]
    let lines = text.text.split(separator: "\n").map(String.init)
    for (name, label, value) in expected {
      let labels = "stream=\"a\"\(label.isEmpty ? "" : ",")\(label)"
      #expect(lines.count { $0 == "pipsink_\(name){\(labels)} \(value)" } == 1, "\(name) \(label)")
    }
    let process = [
      ("cpu_seconds_total", "1.5"), ("resident_memory_bytes", "1000"), ("peak_resident_memory_bytes", "2000"),
      ("threads", "3"), ("open_fds", "4"),
    ]
    for (name, value) in process {
      #expect(lines.count { $0 == "pipsink_process_\(name) \(value)" } == 1, "\(name)")
    }
    // The frames are dated right after the start of the machine, so the rate depends on how long the machine has run.
    #expect(self.lines(text, with: "frames_per_second").count == 1)
  }

  @Test func everyMetricIsDescribedOnceBeforeItsFirstLine() throws {
    let text = try PrometheusText([statistics("a", intervals: [1000]), statistics("b")], process: usage)
    var types: [String: String] = [:]
    var helps: Set<String> = []
    for line in text.text.split(separator: "\n") {
      let words = line.split(separator: " ").map(String.init)
      switch words.prefix(2) {
      case ["#", "HELP"]: #expect(helps.insert(words[2]).inserted && words.count > 3)
      case ["#", "TYPE"]: #expect(types.updateValue(words[3], forKey: words[2]) == nil)
      default:
        let name = String(words[0].prefix { $0 != "{" })
        let suffix = ["_bucket", "_sum", "_count"].first { name.hasSuffix($0) }
        let metric = suffix.map { String(name.dropLast($0.count)) } ?? name
        #expect(types[metric] != nil && helps.contains(metric), "\(name)")
        #expect((types[metric] == "histogram") == (suffix != nil), "\(name)")
      }
    }
    #expect(helps == Set(types.keys))
    for (name, type) in types { #expect((type == "counter") == name.hasSuffix("_total"), "\(name)") }
  }

  @Test func whatIsNotKnownIsLeftOut() throws {
    let text = try PrometheusText([statistics("a")], process: usage)
    #expect(lines(text, with: "per_second").isEmpty)
    #expect(lines(text, with: "handover").isEmpty)
  }

  @Test func aStreamsNameIsEscaped() throws {
    let text = try PrometheusText([statistics("a\\\"\n}")], process: usage)
    #expect(lines(text, with: "received") == ["pipsink_frames_received_total{stream=\"a\\\\\\\"\\n}\"} 1"])
  }

  /// In Swift, a combining mark after a quotation mark forms a different character with it, and "\r
  /// " is a single character. Readers of the text see bytes.
  @Test(arguments: [
    ("a\"\u{301}", "a\\\"\u{301}"), ("\\\u{301}", "\\\\\u{301}"), ("a\r\nb", "a\r\\nb"), ("\n\u{301}", "\\n\u{301}"),
    ("e\u{301}", "e\u{301}"),
  ])
  func aStreamsNameIsEscapedByBytes(id: String, label: String) throws {
    let text = try PrometheusText([statistics(StreamID(id))], process: usage).text
    let line = text.utf8.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: "pipsink_frames_received".utf8) }
    #expect(line.map { Array($0) } == Array("pipsink_frames_received_total{stream=\"\(label)\"} 1".utf8))
  }
}
