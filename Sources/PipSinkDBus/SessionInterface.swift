import PipSink

/// `org.pipsink.Session1`: the control interface of a session for other programs.
final class SessionInterface: BusInterface {
  nonisolated let name = "org.pipsink.Session1"
  nonisolated let path = "/org/pipsink/Session1"
  nonisolated let members = """
    <method name="Init"/>
    <method name="Uninit"/>
    <method name="Enable"><arg name="stream" type="s" direction="in"/></method>
    <method name="Stop"><arg name="stopped" type="b" direction="out"/></method>
    <method name="Toggle"/>
    <method name="IsInPictureInPicture"><arg name="result" type="b" direction="out"/></method>
    <method name="SetSource"><arg name="stream" type="s" direction="in"/></method>
    <method name="SetSecondStream"><arg name="stream" type="s" direction="in"/></method>
    <method name="EnableWhenBackground"/>
    <method name="CancelBackground"/>
    <method name="StartPlayingStream">
      <arg name="stream" type="s" direction="in"/>
      <arg name="source" type="s" direction="in"/>
    </method>
    <method name="StopPlayingStream"><arg name="stream" type="s" direction="in"/></method>
    <method name="SetMuted"><arg name="muted" type="b" direction="in"/></method>
    <method name="SetCameraState">
      <arg name="stream" type="s" direction="in"/>
      <arg name="state" type="s" direction="in"/>
    </method>
    <method name="SetMicrophoneState">
      <arg name="stream" type="s" direction="in"/>
      <arg name="state" type="s" direction="in"/>
    </method>
    <method name="SetGravity">
      <arg name="stream" type="s" direction="in"/>
      <arg name="gravity" type="s" direction="in"/>
    </method>
    <method name="SetPictureInPictureGravity"><arg name="gravity" type="s" direction="in"/></method>
    <method name="SetPictureInPictureAspectRatio">
      <arg name="width" type="u" direction="in"/>
      <arg name="height" type="u" direction="in"/>
    </method>
    <method name="SetProcessors">
      <arg name="stream" type="s" direction="in"/>
      <arg name="processors" type="s" direction="in"/>
    </method>
    <method name="EnableCustomVideoRender">
      <arg name="enabled" type="b" direction="in"/>
      <arg name="series" type="s" direction="in"/>
      <arg name="code" type="u" direction="out"/>
    </method>
    <method name="SetPictureInPictureRetries"><arg name="retries" type="u" direction="in"/></method>
    <method name="Statistics"><arg name="streams" type="a{sa{sv}}" direction="out"/></method>
    <property name="Version" type="s" access="read"/>
    <property name="State" type="s" access="read"/>
    <property name="Muted" type="b" access="read"/>
    <property name="CustomVideoRenderEnabled" type="b" access="read"/>
    <property name="PictureInPictureRetries" type="u" access="read"/>
    <property name="PictureInPictureState" type="s" access="read"/>
    <property name="PictureInPictureStream" type="s" access="read"/>
    <property name="PictureInPictureSecondStream" type="s" access="read"/>
    <property name="PictureInPictureSupport" type="s" access="read"/>
    <property name="Streams" type="a{ss}" access="read"/>
    <property name="PictureInPictureAspectRatio" type="d" access="read"/>
    <property name="StreamErrors" type="a{ss}" access="read"/>
    <property name="Cameras" type="a{ss}" access="read"/>
    <property name="Microphones" type="a{ss}" access="read"/>
    <signal name="StreamAdded"><arg name="stream" type="s"/></signal>
    <signal name="StreamStateChanged">
      <arg name="stream" type="s"/>
      <arg name="state" type="s"/>
      <arg name="error" type="s"/>
    </signal>
    <signal name="StreamRemoved"><arg name="stream" type="s"/></signal>
    <signal name="StatisticsChanged"><arg name="streams" type="a{sa{sv}}"/></signal>
    """

  /// The longest stream ID that is accepted, in bytes.
  private static let longestStreamID = 255
  /// The longest URI or description that is accepted, in bytes.
  private static let longestSource = 65_536

  /// Counts the frames of custom rendering. Other processes cannot get frames through the bus, but they can see how
  /// many there are.
  private let customFrames = FrameTally()

  func properties(of session: PictureInPictureSession) -> [String: BusValue] {
    let streams = session.streams
    let states = streams.map { ($0.id, BusValue.string($0.state.name)) }
    let errors = streams.compactMap { info in info.failure.map { (info.id, BusValue.string($0.description)) } }
    return [
      "Version": .string(PipSink.version), "Muted": .bool(session.isMuted),
      "CustomVideoRenderEnabled": .bool(session.engine.isCustomVideoRenderEnabled),
      "PictureInPictureRetries": .count(session.controller.configuration.retryPolicy?.limit ?? 0),
      // It is 0 until a frame has arrived.
      "PictureInPictureAspectRatio": .double(session.controller.aspectRatio ?? 0),
      "Cameras": .streams(of: "s", streams.map { ($0.id, .string($0.camera.rawValue)) }),
      "Microphones": .streams(of: "s", streams.map { ($0.id, .string($0.microphone.rawValue)) }),
      "State": .string(streams.isEmpty ? "idle" : session.isPaused ? "paused" : "playing"),
      "PictureInPictureState": .string(session.controller.state.rawValue),
      "PictureInPictureSupport": .string("\(session.controller.support)"),
      "PictureInPictureStream": .stream(session.pictureInPictureStreamID),
      "PictureInPictureSecondStream": .stream(session.secondPictureInPictureStreamID),
      "Streams": .streams(of: "s", states),
      "StreamErrors": .streams(of: "s", errors),
    ]
  }

  func perform(
    _ method: String, _ arguments: [String], on session: PictureInPictureSession
  ) throws(PipSinkError) -> [BusValue] {
    let controller = session.controller
    switch method {
    case "Init": try session.initializePictureInPicture()
    case "Uninit": session.uninitializePictureInPicture()
    case "Enable": try session.startPictureInPicture(Self.streamID(arguments))
    case "Stop": return [.bool(session.stopPictureInPicture())]
    case "Toggle": try session.perform(.togglePictureInPicture)
    case "SetMuted": session.isMuted = arguments.first == "true"
    case "SetCameraState":
      try session.setCameraState(Self.choice(arguments, name: "state"), of: Self.streamID(arguments))
    case "SetMicrophoneState":
      try session.setMicrophoneState(Self.choice(arguments, name: "state"), of: Self.streamID(arguments))
    case "SetGravity":
      try session.setVideoGravity(Self.choice(arguments, name: "gravity"), of: Self.streamID(arguments))
    case "SetPictureInPictureGravity":
      controller.configuration.videoGravity = try Self.choice(arguments, name: "gravity")
    case "SetPictureInPictureAspectRatio":
      controller.configuration.preferredContentSize = try Self.shape(arguments)
    case "IsInPictureInPicture": return [.bool(session.pictureInPictureStreamID != nil)]
    case "SetSource": try session.setPictureInPictureSource(Self.streamID(arguments))
    case "SetSecondStream":
      // An empty name removes the second stream.
      try session.setSecondPictureInPictureStream(arguments.first == "" ? nil : Self.streamID(arguments))
    case "EnableWhenBackground":
      if controller.state == .error || controller.state == .uninitialized {
        throw .pictureInPicture(.illegalTransition(state: controller.state, trigger: .enableWhenBackground))
      }
      session.startsAutomatically = true
    case "CancelBackground": session.startsAutomatically = false
    case "StartPlayingStream":
      switch try Self.source(arguments) {
      case .uri(let id, let uri):
        var configuration = PipelineConfiguration()
        configuration.playsAudio = true
        try session.startStream(id, uri: uri, configuration: configuration)
      case .description(let id, let text): try session.startStream(id, from: .text(text))
      }
    case "StopPlayingStream": try session.removeStream(Self.streamID(arguments))
    case "SetProcessors":
      let processors = try FrameProcessorRegistry.shared.makeProcessors(arguments.last ?? "")
      try session.setProcessors(processors, of: Self.streamID(arguments))
    case "EnableCustomVideoRender":
      return [.count(try enableCustomVideoRender(arguments, of: session).code ?? 0)]
    case "SetPictureInPictureRetries":
      controller.configuration.retryPolicy = RetryPolicy(limit: arguments.last.flatMap { Int($0) } ?? 0)
    case "Statistics": return [statistics(of: session)]
    // GDBus refuses all other methods.
    default: break
    }
    return []
  }

  /// The statistics of all streams.
  func statistics(of session: PictureInPictureSession) -> BusValue {
    let streams = session.streams.compactMap { info in
      session.router.statistics(of: info.id).map { statistics in
        var values = statistics.busValues
        if let count = customFrames[info.id] { values["CustomRendered"] = .unsigned(count.frames) }
        return (info.id, BusValue.variants(values))
      }
    }
    return .streams(of: "a{sv}", streams)
  }

  private func enableCustomVideoRender(
    _ arguments: [String], of session: PictureInPictureSession
  ) throws(PipSinkError) -> CustomVideoRenderChange {
    let (isEnabled, name) = (arguments.first == "true", arguments.last ?? "")
    guard let series = FrameFormatSeries(name: name) else {
      throw .system(.invalidArgument("series", reason: "\"\(name)\" is neither any, rgb or yuv nor a pixel format"))
    }
    return session.engine.setCustomVideoRender(isEnabled ? .pixelBuffers(customFrames) : nil, formatSeries: series)
  }

  // MARK: - Arguments

  /// What a stream is played from.
  enum Source: Equatable {
    case uri(StreamID, String)
    case description(StreamID, String)
  }

  /// Reads a stream's ID and source.
  static func source(_ arguments: [String]) throws(PipSinkError) -> Source {
    let source = try checked(arguments.last, name: "source", limit: longestSource)
    let id = try streamID(arguments)
    return isURI(source) ? .uri(id, source) : .description(id, source)
  }

  /// Reads the first argument as a stream's ID.
  private static func streamID(_ arguments: [String]) throws(PipSinkError) -> StreamID {
    let id = try checked(arguments.first, name: "stream", limit: longestStreamID)
    // IDs are printed on terminals.
    if id.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
      throw .system(.invalidArgument("stream", reason: "it contains control characters"))
    }
    return StreamID(id)
  }

  /// Reads a width and a height; nil for two zeros, which stand for the stream's shape.
  private static func shape(_ arguments: [String]) throws(PipSinkError) -> PictureSize? {
    let sides = arguments.map { Int($0) ?? 0 }
    if sides == [0, 0] { return nil }
    let size = PictureSize(width: sides.first ?? 0, height: sides.last ?? 0)
    guard size.isValid else {
      throw .system(
        .invalidArgument(
          "width, height",
          reason: "\(size) is not a shape: give two numbers from 1 to \(PictureSize.maximumDimension), or 0 and 0"))
    }
    return size
  }

  /// Reads the last argument as one of a type's words.
  private static func choice<Choice: CaseIterable & RawRepresentable<String>>(
    _ arguments: [String], name: String
  ) throws(PipSinkError) -> Choice {
    let text = arguments.last ?? ""
    guard let choice = Choice(rawValue: text) else {
      let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
      throw .system(.invalidArgument(name, reason: "\"\(text)\" is not one of \(words)"))
    }
    return choice
  }

  /// Checks that an argument is neither empty nor too long.
  private static func checked(_ text: String?, name: String, limit: Int) throws(PipSinkError) -> String {
    guard let text, !text.isEmpty else { throw .system(.invalidArgument(name, reason: "it is empty")) }
    guard text.utf8.count <= limit else {
      throw .system(.invalidArgument(name, reason: "it has \(text.utf8.count) bytes, but only \(limit) are allowed"))
    }
    return text
  }

  /// Whether a text begins with a scheme and "://". A description that contains a URI begins with the name of an
  /// element instead.
  static func isURI(_ text: String) -> Bool {
    text.prefixMatch(of: /[A-Za-z0-9+.\-]+:\/\//.matchingSemantics(.unicodeScalar)) != nil
  }
}

extension StreamStatistics {
  /// The statistics as bus values. Numbers of frames are integers, and times are in milliseconds.
  var busValues: [String: BusValue] {
    var values: [String: BusValue] = [
      "Received": .unsigned(received), "InApp": .unsigned(inApp), "PictureInPicture": .unsigned(pictureInPicture),
      "Replaced": .unsigned(replaced),
    ]
    if let format { values["Format"] = .string("\(format)") }
    for (key, percentile) in [("IntervalMedian", 50.0), ("IntervalP99", 99.0)] {
      if let interval = intervals.value(atPercentile: percentile) {
        values[key] = .double(interval / .milliseconds(1))
      }
    }
    return values
  }
}
