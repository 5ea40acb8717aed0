import Testing

@testable import PipSink

@Suite struct PrometheusTextTests {
  private let usage = ResourceUsage(
    cpuSeconds: 1.5, residentBytes: 1000, peakResidentBytes: 2000, threadCount: 3, openFileCount: 4)

  private func statistics(_ id: StreamID, intervals: [UInt64] = [], isInPictureInPicture: Bool = false) throws
    -> RenderStatistics
  {
    var counts = StreamStatistics()
    var now = MonotonicTime(nanoseconds: 1_000_000_000)
    for interval in [0] + intervals {
      now = MonotonicTime(nanoseconds: now.nanoseconds + interval)
      counts.countFrame(to: isInPictureInPicture ? .pictureInPicture : .inApp, at: now)
    }
    return RenderStatistics(
      id, counts, .init(shown: 2, late: 3), lastHandover: nil, info: nil,
      processing: .init(received: 9, passed: 4, dropped: 5, failed: 1))
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

  @Test func whatIsNotKnownIsLeftOut() throws {
    let text = try PrometheusText([statistics("a")], process: usage)
    #expect(lines(text, with: "per_second").isEmpty)
    #expect(lines(text, with: "handover").isEmpty)
  }

  @Test func aStreamsNameIsEscaped() throws {
    let text = try PrometheusText([statistics("a\\\"\n}")], process: usage)
    #expect(lines(text, with: "received") == ["pipsink_frames_received_total{stream=\"a\\\\\\\"\\n}\"} 1"])
  }

  /// A mark behind a quote makes another character of it for Swift, and "\r\n" is one character; readers see bytes.
  @Test(arguments: [
    ("a\"\u{301}", "a\\\"\u{301}"), ("\\\u{301}", "\\\\\u{301}"), ("a\r\nb", "a\r\\nb"), ("\n\u{301}", "\\n\u{301}"),
    ("e\u{301}", "e\u{301}"),
  ])
  func aStreamsNameIsEscapedByBytes(id: String, label: String) throws {
    let text = try PrometheusText([statistics(id)], process: usage).text
    let line = text.utf8.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: "pipsink_frames_received".utf8) }
    #expect(line.map { Array($0) } == Array("pipsink_frames_received_total{stream=\"\(label)\"} 1".utf8))
  }
}
