import PipSink

extension BusInterface {
  /// `org.pipsink.Session1`: the control interface of a session for other programs.
  ///
  /// - Parameter customFrames: counts the frames of custom rendering. Other processes cannot get frames through the
  ///   bus, but they can see how many there are.
  static func session(_ customFrames: FrameTally = FrameTally()) -> BusInterface {
    BusInterface(
      name: "org.pipsink.Session1", path: "/org/pipsink/Session1",
      methods: [
        BusMethod("Init") { try $0.initializePictureInPicture() },
        BusMethod("Uninit") { $0.uninitializePictureInPicture() },
        BusMethod("Enable", .stream("stream")) { try $0.startPictureInPicture($1) },
        BusMethod("Stop", returning: ("stopped", "b")) { .bool($0.stopPictureInPicture()) },
        BusMethod("Toggle") { try $0.perform(.togglePictureInPicture) },
        BusMethod("FocusPictureInPicture") { try $0.perform(.focusPictureInPicture) },
        BusMethod("IsInPictureInPicture", returning: ("result", "b")) {
          .bool($0.pictureInPictureStreamID != nil)
        },
        BusMethod("SetSource", .streamOrNone("stream")) { try $0.setPictureInPictureSource($1) },
        BusMethod("SetSecondStream", .streamOrNone("stream")) { try $0.setSecondPictureInPictureStream($1) },
        BusMethod("SetPictureInPictureLayout", .choice("layout", of: PictureInPictureLayout.self)) {
          $0.controller.configuration.layout = $1
        },
        BusMethod("SetPictureInPictureOpacity", .double("opacity", in: 0.1...1)) {
          $0.controller.configuration.opacity = $1
        },
        BusMethod("SetPictureInPictureClickThrough", .bool("clickThrough")) {
          $0.controller.configuration.isClickThrough = $1
        },
        BusMethod("SetPictureInPictureStepsAside", .bool("stepsAside")) {
          $0.controller.configuration.stepsAside = $1
        },
        BusMethod("SetPictureInPictureControls", .controls("controls")) { $0.offer($1) },
        BusMethod("UsePictureInPictureControl", .text("control")) { session, name in
          let action = PictureInPictureAction(name: name)
          guard session.controller.offers(action) else {
            throw PipSinkError.system(
              .invalidArgument("control", reason: "the picture-in-picture window does not offer \"\(name)\" now"))
          }
          session.controller.perform(action)
        },
        BusMethod("EnableWhenBackground") { session in
          let state = session.controller.state
          if state == .error || state == .uninitialized {
            throw PipSinkError.pictureInPicture(.refusal(of: .enableWhenBackground, in: state))
          }
          session.startsAutomatically = true
        },
        BusMethod("CancelBackground") { $0.startsAutomatically = false },
        BusMethod("StartPlayingStream", .stream("stream"), .source("source")) { session, id, source in
          switch source {
          case .uri(let uri):
            var configuration = PipelineConfiguration()
            configuration.playsAudio = true
            try session.startStream(id, uri: uri, configuration: configuration)
          case .description(let text): try session.startStream(id, from: .text(text))
          }
        },
        BusMethod("StopPlayingStream", .stream("stream")) { try $0.removeStream($1) },
        BusMethod("SetMuted", .bool("muted")) { $0.isMuted = $1 },
        BusMethod("SetName", .stream("stream"), .text("name")) { try $0.setName($2.isEmpty ? nil : $2, of: $1) },
        BusMethod("SetImage", .stream("stream"), .text("path")) { try $0.setImage(contentsOf: $2, for: $1) },
        BusMethod("SetCaption", .stream("stream"), .text("text")) { try $0.setCaption($2, for: $1) },
        BusMethod("SetCameraState", .stream("stream"), .choice("state", of: DeviceState.self)) {
          try $0.setCameraState($2, of: $1)
        },
        BusMethod("SetMicrophoneState", .stream("stream"), .choice("state", of: DeviceState.self)) {
          try $0.setMicrophoneState($2, of: $1)
        },
        BusMethod("SetConnectionQuality", .stream("stream"), .choice("quality", of: ConnectionQuality.self)) {
          try $0.setConnectionQuality($2, of: $1)
        },
        BusMethod("SetMirrored", .stream("stream"), .bool("mirrored")) { try $0.setMirrored($2, of: $1) },
        BusMethod("SetScreenShare", .stream("stream"), .bool("screenShare")) { try $0.setScreenShare($2, of: $1) },
        BusMethod("SetPictureInPictureAllowed", .stream("stream"), .bool("allowed")) {
          try $0.setPictureInPictureAllowed($2, of: $1)
        },
        BusMethod("SetGravity", .stream("stream"), .choice("gravity", of: VideoGravity.self)) {
          try $0.setVideoGravity($2, of: $1)
        },
        BusMethod("SetPictureInPictureGravity", .choice("gravity", of: VideoGravity.self)) {
          $0.controller.configuration.videoGravity = $1
        },
        BusMethod("SetPictureInPictureAspectRatio", .count("width"), .count("height")) {
          $0.controller.configuration.preferredContentSize = try shape($1, $2)
        },
        BusMethod("SetProcessors", .stream("stream"), .processors("processors")) { try $0.setProcessors($2, of: $1) },
        BusMethod(
          "EnableCustomVideoRender", .bool("enabled"), .series("series"), returning: ("code", "u")
        ) { session, isEnabled, series in
          let render = isEnabled ? VideoFrameReceiver.pixelBuffers(customFrames) : nil
          return .count(session.engine.setCustomVideoRender(render, formatSeries: series).code ?? 0)
        },
        BusMethod("SetPictureInPictureRetries", .count("retries")) {
          $0.controller.configuration.retryPolicy = RetryPolicy(limit: $1)
        },
        BusMethod("Statistics", returning: ("streams", "a{sa{sv}}")) {
          $0.statistics(with: customFrames)
        },
      ],
      properties: [
        BusProperty("Version", "s") { _ in .string(PipSink.version) },
        BusProperty("State", "s") { session in
          .string(session.streams.isEmpty ? "idle" : session.isPlaybackPaused ? "paused" : "playing")
        },
        BusProperty("Interruption", "s") { session in
          .string(session.engine.audioSession.interruption.map { $0 == .pause ? "pause" : "duck" } ?? "")
        },
        BusProperty("Muted", "b") { .bool($0.isMuted) },
        BusProperty("CustomVideoRenderEnabled", "b") { .bool($0.engine.isCustomVideoRenderEnabled) },
        BusProperty("PictureInPictureRetries", "u") { .count($0.controller.configuration.retryPolicy?.limit ?? 0) },
        BusProperty("PictureInPictureState", "s") { .string($0.controller.state.rawValue) },
        BusProperty("PictureInPictureStream", "s") { .stream($0.pictureInPictureStreamID) },
        BusProperty("PictureInPictureSecondStream", "s") { .stream($0.secondPictureInPictureStreamID) },
        BusProperty("PictureInPictureLayout", "s") { .string($0.controller.configuration.layout.rawValue) },
        BusProperty("PictureInPictureControls", "s") { .string($0.controller.configuration.controls.text) },
        BusProperty("PictureInPictureOpacity", "d") { .double($0.controller.configuration.opacity) },
        BusProperty("PictureInPictureClickThrough", "b") { .bool($0.controller.configuration.isClickThrough) },
        BusProperty("PictureInPictureStepsAside", "b") { .bool($0.controller.configuration.stepsAside) },
        BusProperty("PictureInPictureSupport", "s") { .string("\($0.controller.support)") },
        // It is 0 until a frame has arrived.
        BusProperty("PictureInPictureAspectRatio", "d") { .double($0.controller.aspectRatio ?? 0) },
        BusProperty("Streams", "a{ss}") { .texts(of: $0.streams) { $0.state.name } },
        BusProperty("StreamErrors", "a{ss}") { .texts(of: $0.streams) { $0.failure?.description } },
        BusProperty("Names", "a{ss}") { session in .texts(of: session.streams) { session.participant(of: $0.id).name }
        },
        BusProperty("Cameras", "a{ss}") { .texts(of: $0.streams) { $0.camera.rawValue } },
        BusProperty("Microphones", "a{ss}") { .texts(of: $0.streams) { $0.microphone.rawValue } },
        BusProperty("Demands", "a{ss}") { .texts(of: $0.streams) { "\($0.demand)" } },
      ],
      signals: [.streamAdded, .streamStateChanged, .streamRemoved, .statisticsChanged, .controlUsed])
  }

  /// A shape of the picture-in-picture window; nil for two zeros, which stand for the stream's shape.
  private static func shape(_ width: Int, _ height: Int) throws(PipSinkError) -> PictureSize? {
    if width == 0, height == 0 { return nil }
    let size = PictureSize(width: width, height: height)
    guard size.isValid else {
      throw .system(
        .invalidArgument(
          "width, height",
          reason: "\(size) is not a shape: give two numbers from 1 to \(PictureSize.maximumDimension), or 0 and 0"))
    }
    return size
  }
}

extension BusSignal {
  static let streamAdded = BusSignal(name: "StreamAdded", arguments: [("stream", "s")])
  static let streamStateChanged = BusSignal(
    name: "StreamStateChanged", arguments: [("stream", "s"), ("state", "s"), ("error", "s")])
  static let streamRemoved = BusSignal(name: "StreamRemoved", arguments: [("stream", "s")])
  static let controlUsed = BusSignal(
    name: "PictureInPictureControlUsed", arguments: [("control", "s"), ("stream", "s")])
  static let statisticsChanged = BusSignal(name: "StatisticsChanged", arguments: [("streams", "a{sa{sv}}")])
}

extension BusValue {
  /// A text for each stream that has one.
  fileprivate static func texts(of streams: [StreamInfo], _ text: (StreamInfo) -> String?) -> BusValue {
    .streams(of: "s", streams.compactMap { info in text(info).map { (info.id, .string($0)) } })
  }
}

extension PictureInPictureSession {
  /// The statistics of all streams.
  ///
  /// - Parameter customFrames: the frames that custom rendering has got.
  func statistics(with customFrames: FrameTally) -> BusValue {
    let streams = streams.compactMap { info in
      router.renderStatistics(of: info.id, info: info).map { statistics in
        var values = statistics.busValues
        if let count = customFrames[info.id] { values["CustomRendered"] = .unsigned(count.frames) }
        return (info.id, BusValue.variants(values))
      }
    }
    return .streams(of: "a{sv}", streams)
  }
}

extension RenderStatistics {
  /// The statistics as bus values. Numbers of frames are integers, and times are in milliseconds.
  var busValues: [String: BusValue] {
    var values: [String: BusValue] = [
      "Received": .unsigned(received), "InApp": .unsigned(inApp), "PictureInPicture": .unsigned(pictureInPicture),
      "Replaced": .unsigned(replaced), "DrawnByOpenGL": .unsigned(drawnByOpenGL),
      "DrawnByDisplayServer": .unsigned(drawnByDisplayServer), "Freezes": .unsigned(freezeCount),
      "FreezeTime": .double(freezeDuration / .milliseconds(1)),
    ]
    if let format { values["Format"] = .string("\(format)") }
    for (name, histogram) in [("Interval", intervals), ("ScreenLatency", screenLatencies)] {
      for (suffix, percentile) in [("Median", 50.0), ("P99", 99.0)] {
        values[name + suffix] = histogram.value(atPercentile: percentile).map { .double($0 / .milliseconds(1)) }
      }
    }
    if screenLatencies.count > 0 { values["MissedRefreshes"] = .unsigned(missedRefreshes) }
    return values
  }
}
