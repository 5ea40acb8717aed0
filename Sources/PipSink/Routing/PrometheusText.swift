/// Statistics in Prometheus' text exposition format, version 0.0.4. They can be written to a file for node_exporter's
/// textfile collector, or served by HTTP.
///
/// All names begin with `pipsink_`, including those of the process metrics, so that they do not collide with the
/// collector's.
public struct PrometheusText {
  /// The upper limits of the histograms' buckets.
  private static let bucketLimits = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 100, 250, 500, 1000, 5000]
    .map(Duration.milliseconds)

  /// The whole text; its last line ends with a line feed.
  public private(set) var text = ""
  private let streams: [RenderStatistics]

  /// Makes the text of streams, and of what the process uses at the moment.
  ///
  /// - Parameter streams: the statistics of each stream.
  public init(_ streams: [RenderStatistics]) { self.init(streams, process: .current) }

  package init(_ streams: [RenderStatistics], process: ResourceUsage) {
    self.streams = streams
    count("received", "Frames taken from the engine.") { [("", $0.received)] }
    count("routed", "Frames sent to a surface.") {
      [("surface=\"in_app\"", $0.inApp), ("surface=\"picture_in_picture\"", $0.pictureInPicture)]
    }
    count("shown", "Frames that were presented.") { [("", $0.shown)] }
    count("drawn", "Presented frames, by who has drawn them.") { statistics in
      let (openGL, server) = (statistics.drawnByOpenGL, statistics.drawnByDisplayServer)
      return [("processor", statistics.shown - openGL - server), ("opengl", openGL), ("display_server", server)].map {
        ("by=\"\($0)\"", $1)
      }
    }
    count("replaced", "Frames that were never shown, because a newer one came first.") { [("", $0.replaced)] }
    count("late", "Frames that elements dropped because they were late.") { [("", $0.late)] }
    count("dropped", "Frames that were left out, by reason.") { statistics in
      let dropped = statistics.dropped
      // Only a program with a timebase has overdue frames.
      let overdue = dropped.overdue > 0 ? [("overdue", dropped.overdue)] : []
      return
        ([
          ("processor", dropped.processor), ("unreadable", dropped.unreadable), ("hidden", dropped.hidden),
          ("failed", dropped.failed),
        ] + overdue).map { ("reason=\"\($0)\"", $1) }
    }
    counter("pipsink_freezes_total", "Gaps in the flow of frames that are seen as freezes.") { "\($0.freezeCount)" }
    counter("pipsink_freeze_seconds_total", "Time of all freezes.") { "\($0.freezeDuration / .seconds(1))" }
    gauge("pipsink_frames_per_second", "Frames received in the last second.", \.frameRate)
    histogram("pipsink_frame_interval_seconds", "Time between two frames' arrivals.", \.intervals)
    histogram("pipsink_frame_latency_seconds", "Time from a frame's arrival until it was presented.", \.latencies)
    // Not every display server says when a picture was on the screen.
    if streams.contains(where: { $0.screenLatencies.count > 0 }) {
      histogram(
        "pipsink_screen_latency_seconds", "Time from a frame's arrival until it was on the screen.", \.screenLatencies)
      counter("pipsink_missed_refreshes_total", "Refreshes of the screen by which frames were late.") {
        "\($0.missedRefreshes)"
      }
    }
    gauge("pipsink_last_handover_latency_seconds", "Time from the last switch's request to its first picture.") {
      $0.lastHandover?.firstFrameLatency.map { $0 / .seconds(1) }
    }
    gauge("pipsink_last_handover_frames_lost", "Frames that the last switch gave to no surface.") {
      $0.lastHandover.map { Double($0.framesLost) }
    }
    gauge("pipsink_last_handover_frames_repeated", "Frames that the last switch gave to both surfaces.") {
      $0.lastHandover.map { Double($0.framesRepeated) }
    }
    self.process("cpu_seconds_total", "counter", "Processor time used.", "\(process.cpuTime / .seconds(1))")
    self.process("resident_memory_bytes", "gauge", "Resident set size.", "\(process.residentBytes)")
    self.process(
      "peak_resident_memory_bytes", "gauge", "Largest resident set size so far.", "\(process.peakResidentBytes)")
    self.process("threads", "gauge", "Number of threads.", "\(process.threadCount)")
    self.process("open_fds", "gauge", "Number of open file descriptors.", "\(process.openFileCount)")
  }

  private mutating func count(
    _ name: String, _ help: String, _ values: (RenderStatistics) -> [(labels: String, count: UInt64)]
  ) {
    let name = "pipsink_frames_\(name)_total"
    begin(name, "counter", help)
    for statistics in streams {
      for (labels, count) in values(statistics) { sample(name, statistics, labels, "\(count)") }
    }
  }

  private mutating func counter(_ name: String, _ help: String, _ value: (RenderStatistics) -> String) {
    begin(name, "counter", help)
    for statistics in streams { sample(name, statistics, "", value(statistics)) }
  }

  private mutating func gauge(_ name: String, _ help: String, _ value: (RenderStatistics) -> Double?) {
    begin(name, "gauge", help)
    for statistics in streams {
      if let value = value(statistics) { sample(name, statistics, "", "\(value)") }
    }
  }

  private mutating func histogram(_ name: String, _ help: String, _ histogram: (RenderStatistics) -> IntervalHistogram)
  {
    begin(name, "histogram", help)
    for statistics in streams {
      let histogram = histogram(statistics)
      for limit in Self.bucketLimits {
        let count = histogram.count(upTo: limit)
        sample("\(name)_bucket", statistics, "le=\"\(limit / .seconds(1))\"", "\(count)")
      }
      sample("\(name)_bucket", statistics, "le=\"+Inf\"", "\(histogram.count)")
      sample("\(name)_sum", statistics, "", "\(histogram.total / .seconds(1))")
      sample("\(name)_count", statistics, "", "\(histogram.count)")
    }
  }

  private mutating func process(_ name: String, _ type: String, _ help: String, _ value: String) {
    begin("pipsink_process_\(name)", type, help)
    text += "pipsink_process_\(name) \(value)\n"
  }

  private mutating func begin(_ name: String, _ type: String, _ help: String) {
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
  }

  private mutating func sample(_ name: String, _ statistics: RenderStatistics, _ labels: String, _ value: String) {
    let stream = "stream=\"\(Self.escaped(statistics.streamID.rawValue))\""
    text += "\(name){\(labels.isEmpty ? stream : "\(stream),\(labels)")} \(value)\n"
  }

  private static func escaped(_ label: String) -> String {
    // This goes by scalars, since a quote with a combining mark is a different Character, and "\r\n" is one Character.
    label.unicodeScalars.reduce(into: "") { result, scalar in
      switch scalar {
      case "\\": result += "\\\\"
      case "\"": result += "\\\""
      case "\n": result += "\\n"
      default: result.unicodeScalars.append(scalar)
      }
    }
  }
}
