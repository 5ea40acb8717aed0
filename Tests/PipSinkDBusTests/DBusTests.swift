import CGIO
import Foundation
import Testing

@testable import PipSink
@testable import PipSinkDBus
@testable import TestSupport
@testable import pipsink_demo

/// Tests of a run that other processes control over the session bus.
@Suite(.enabled(if: SessionBus.isInstalled, "dbus-daemon, gdbus, playerctl or python3 is not installed"))
struct DBusTests {
  static func source(_ pattern: String = "smpte") -> String {
    "videotestsrc is-live=true pattern=\(pattern) ! video/x-raw,width=160,height=120,framerate=30/1 ! appsink name=video"
  }

  @Test func theInterfacesCanBeIntrospected() async throws {
    let bus = try await SessionBus()
    let demo = try await bus.startSession()
    func introspect(_ path: String) async throws -> String {
      try await bus.run("gdbus", ["introspect", "--session", "-d", "org.pipsink.Session1", "-o", path]).output
    }
    let session = try await introspect("/org/pipsink/Session1")
    for member in [
      "interface org.pipsink.Session1 {", "Init();", "Enable(in  s stream);", "Stop(out b stopped);", "Uninit();",
      "IsInPictureInPicture(out b result);", "SetSource(in  s stream);", "EnableWhenBackground();",
      "SetSecondStream(in  s stream);", "readonly s PictureInPictureSecondStream = '';",
      "CancelBackground();", "StartPlayingStream(in  s stream,", "StopPlayingStream(in  s stream);",
      "SetPictureInPictureAspectRatio(in  u width,", "Statistics(out a{sa{sv}} streams);", "StreamAdded(s stream);",
      "StreamRemoved(s stream);",
      "StatisticsChanged(a{sa{sv}} streams);", "readonly s State = 'idle';",
      "readonly s PictureInPictureState = 'Initialized';", "readonly s PictureInPictureSupport = 'full';",
      "readonly a{ss} Streams = {};",
      "readonly a{ss} StreamErrors = {};", "readonly a{ss} Cameras = {};", "SetCameraState(in  s stream,",
      "readonly s Version = '\(PipSink.version)';", "SetMuted(in  b muted);", "Toggle();",
      "SetScreenShare(in  s stream,", "SetName(in  s stream,", "readonly a{ss} Names = {};",
    ] { #expect(session.contains(member), "\(member) is not in: \(session)") }
    let player = try await introspect("/org/mpris/MediaPlayer2")
    for member in [
      "interface org.mpris.MediaPlayer2 {", "interface org.mpris.MediaPlayer2.Player {", "PlayPause();",
      "readonly b CanRaise = false;", "readonly b CanPause = false;", "readonly s PlaybackStatus = 'Stopped';",
    ] { #expect(player.contains(member), "\(member) is not in: \(player)") }
    // A session that plays no pipeline continues without a stream until it is told to end.
    #expect(demo.isRunning)
    let result = try await bus.quit(demo)
    #expect(result.status == 0, "\(result.errors)")
    #expect(try result.report().outcome == .quit)
  }

  @Test func thePythonExampleDrivesAWholeSession() async throws {
    let script = Demo.root.appendingPathComponent("examples/dbus-session.py")
    #expect(try String(contentsOf: script, encoding: .utf8).split(separator: "\n").count <= 30)
    let bus = try await SessionBus()
    let demo = try await bus.startSession()
    let example = try await bus.run("python3", [script.path])
    #expect(example.status == 0, "\(example.errors)")
    #expect(example.output.contains("in picture-in-picture: True"), "\(example.output)")
    let result = try await demo.result(seconds: 60)
    #expect(result.status == 0, "\(result.errors)")
    let report = try result.report()
    #expect(report.outcome == .quit)
    #expect(report.streams.keys.sorted() == ["ball", "bars"])
    #expect(report.streams["ball"]?.state == "ended")
    #expect(
      report.modeChanges.map { "\($0.stream) \($0.to)" } == ["ball pip", "ball inApp", "bars pip", "bars inApp"])
    #expect(report.modeChanges.allSatisfy { $0.framesLost == 0 && $0.framesRepeated == 0 })
  }

  /// Has connections of this process go to a bus.
  ///
  /// - Returns: what ends that.
  private func useBus(_ bus: SessionBus) -> () -> Void {
    let address = getenv("DBUS_SESSION_BUS_ADDRESS").map { String(cString: $0) }
    for (name, value) in bus.environment { setenv(name, value, 1) }
    return {
      if let address { setenv("DBUS_SESSION_BUS_ADDRESS", address, 1) } else { unsetenv("DBUS_SESSION_BUS_ADDRESS") }
    }
  }

  @Test func anInterruptionIsToldOnTheBusAndPlayOverridesIt() async throws {
    let bus = try await SessionBus()
    let restore = useBus(bus)
    defer { restore() }
    let session = try await PictureInPictureSession(display: NoDisplay())
    let service = try await SessionService(exporting: session)
    try await session.startStream("a", from: .text(Self.source()))
    #expect(try await eventually { try await bus.receivedCount(of: "a") > 0 })
    let monitor = try await monitor(bus)
    // GDBus drops signals until it knows which connection has the name, which may be after it has printed that.
    #expect(await monitor.wait(forText: "StatisticsChanged"))
    func isTold(_ state: String, _ interruption: String, _ status: String) async throws -> Bool {
      let isThere = try await eventually {
        try values(of: "State", in: monitor).last == state
          && values(of: "Interruption", in: monitor).last == interruption
          && values(of: "PlaybackStatus", in: monitor).last == status
      }
      #expect(try await bus.property("State") == "'\(state)'")
      #expect(try await bus.property("Interruption") == "'\(interruption)'")
      #expect(try await bus.playerctl("status") == status)
      #expect(isThere, "the bus was told: \(monitor.output)")
      return isThere
    }
    let audio = await session.engine.audioSession
    audio.beginInterruption(.pause)
    try #require(await isTold("paused", "pause", "Paused"))
    let standsStill = try await eventually {
      let before = try await bus.receivedCount(of: "a")
      try await Task.sleep(for: .milliseconds(300))
      return try await bus.receivedCount(of: "a") == before
    }
    #expect(standsStill)
    let count = try await bus.receivedCount(of: "a")
    try await bus.playerctl("play-pause")
    try #require(await isTold("playing", "duck", "Playing"))
    #expect(try await eventually { try await bus.receivedCount(of: "a") > count + 5 })
    // What the user pauses stays paused when the interruption has ended.
    try await bus.playerctl("pause")
    audio.endInterruption()
    try #require(await isTold("paused", "", "Paused"))
    try await bus.playerctl("play")
    try #require(await isTold("playing", "", "Playing"))
    await session.invalidate()
    await service.stop()
  }

  /// GLib logs a critical message when a thread cannot acquire a main context that another thread owns.
  @Test func aConnectionHandsItsContextOverToItsThread() async throws {
    let bus = try await SessionBus()
    let restore = useBus(bus)
    defer { restore() }
    let count = Locked(0)
    let handler = g_log_set_handler(
      "GLib", G_LOG_LEVEL_CRITICAL,
      { _, _, _, count in
        if let count { Unmanaged<Locked<Int>>.fromOpaque(count).takeUnretainedValue().withLock { $0 += 1 } }
      }, Unmanaged.passUnretained(count).toOpaque())
    defer { g_log_remove_handler("GLib", handler) }
    for _ in 0..<500 { try BusConnection(exporting: [], as: []) { _ in }.stop() }
    #expect(count.withLock { $0 } == 0)
  }

  @Test func playerctlSetsTheVolume() async throws {
    let bus = try await SessionBus()
    let demo = try await bus.startSession([Self.source(), "--volume", "0.25"])
    #expect(try await bus.playerctl("volume").hasPrefix("0.25"))
    try await bus.playerctl("volume", "0.5")
    #expect(try await bus.playerctl("volume").hasPrefix("0.5"))
    try await bus.playerctl("volume", "7")
    #expect(try await bus.playerctl("volume").hasPrefix("1.0"))
    demo.stop()
  }

  @Test func soundIsSwitchedByABoolean() async throws {
    let bus = try await SessionBus()
    let demo = try await bus.startSession()
    for isMuted in [true, false] {
      #expect(try await bus.call("SetMuted", arguments: ["\(isMuted)"]).status == 0)
      #expect(try await bus.property("Muted").contains("\(isMuted)"))
    }
    #expect(try await bus.call("SetGravity", arguments: ["a", "resize"]).errors.contains("UnknownStream"))
    #expect(try await bus.quit(demo).status == 0)
  }

  @Test func playerctlPausesStreamsOfThePipelineAndOfTheirOwn() async throws {
    let bus = try await SessionBus()
    let pipeline = Self.source().replacingOccurrences(of: "name=video", with: "name=a")
    let demo = try await bus.startSession([pipeline, "--stream", "b=\(Self.source("ball"))"])
    func counts() async throws -> [Int] {
      [try await bus.receivedCount(of: "a"), try await bus.receivedCount(of: "b")]
    }
    func flow() async throws -> Bool {
      let before = try await counts()
      return try await eventually { zip(before, try await counts()).allSatisfy { $1 > $0 } }
    }
    #expect(try await flow())
    #expect(try await bus.playerctl("status") == "Playing")
    try await bus.playerctl("pause")
    #expect(try await bus.playerctl("status") == "Paused")
    #expect(try await bus.property("State") == "'paused'")
    // No stream delivers a frame for the time of nine frames.
    let standsStill = try await eventually {
      let before = try await counts()
      try await Task.sleep(for: .milliseconds(300))
      return try await counts() == before
    }
    #expect(standsStill)
    try await bus.playerctl("play-pause")
    #expect(try await bus.playerctl("status") == "Playing")
    #expect(try await flow())
    try await bus.playerctl("stop")
    #expect(try await bus.playerctl("status") == "Stopped")
    // A stream that starts while the session is stopped does not play either.
    #expect(try await bus.call("StartPlayingStream", "c", Self.source()).status == 0)
    try await bus.playerctl("play")
    #expect(try await flow())
    #expect(try await eventually { try await bus.receivedCount(of: "c") > 0 })
    #expect(try await bus.quit(demo).status == 0)
  }

  @Test func playerctlSeeksInAFilmAndNotInALiveStream() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("film.mkv")
    try await Tool.makeVideo(path, frames: 1800, size: "width=64,height=36")
    let bus = try await SessionBus()
    let demo = try await bus.startSession()
    let player = "org.mpris.MediaPlayer2.Player"
    #expect(try await bus.call("StartPlayingStream", "film", "file://\(path)").status == 0)
    #expect(try await eventually { try await bus.property("CanSeek", of: player) == "true" })
    let length = try #require(Double(try await bus.playerctl("metadata", "mpris:length")))
    #expect(abs(length / 1e6 - 60) < 0.2, "\(length) microseconds")
    func position() async throws -> Double { Double(try await bus.playerctl("position")) ?? -1 }
    try await bus.playerctl("position", "30")
    #expect(try await eventually { try await (29..<50).contains(position()) })
    try await bus.playerctl("position", "10-")
    #expect(try await eventually { try await (19..<29).contains(position()) })
    #expect(try await bus.call("StartPlayingStream", "live", Self.source()).status == 0)
    #expect(try await eventually { try await bus.property("Streams").contains("'live': 'playing'") })
    #expect(try await bus.call("Enable", "film").status == 0)
    #expect(try await bus.call("SetSource", "live").status == 0)
    #expect(try await bus.property("CanSeek", of: player) == "false")
    #expect(try await bus.call("SetSource", "film").status == 0)
    #expect(try await bus.property("CanSeek", of: player) == "true")
    // After a seek beyond the film's end the next stream is shown.
    try await bus.playerctl("position", "100+")
    #expect(try await eventually { try await bus.property("PictureInPictureStream") == "'live'" })
    #expect(try await bus.property("Streams").contains("'film': 'playing'"), "it goes on where it is")
    #expect(try await bus.quit(demo).status == 0)
  }

  @Test func customRenderingAndProcessorsAreSwitchedByOtherProcesses() async throws {
    let bus = try await SessionBus()
    let demo = try await bus.startSession()
    #expect(try await bus.call("EnableCustomVideoRender", arguments: ["true", "rgb"]).output == "(uint32 0,)\n")
    #expect(try await bus.property("CustomVideoRenderEnabled") == "true")
    #expect(try await bus.call("StartPlayingStream", "a", Self.source()).status == 0)
    #expect(try await eventually { try await bus.call("Statistics").output.contains("'CustomRendered'") })
    #expect(try await bus.call("SetProcessors", "a", "grayscale,decimate:2").status == 0)
    let refused = try await bus.call("SetProcessors", "a", "sepia").errors
    #expect(refused.contains("sepia") && refused.contains("org.pipsink.Error.InvalidArgument"), "\(refused)")
    // While a stream runs, this call has to wait. Apps of other engines know the error code.
    #expect(try await bus.call("EnableCustomVideoRender", arguments: ["false", "any"]).output == "(uint32 1011003,)\n")
    #expect(try await bus.property("CustomVideoRenderEnabled") == "true")
    #expect(try await bus.call("StopPlayingStream", "a").status == 0)
    #expect(try await eventually { try await bus.property("CustomVideoRenderEnabled") == "false" })
    #expect(try await bus.call("EnableCustomVideoRender", arguments: ["true", "cmyk"]).errors.contains("cmyk"))
    #expect(try await bus.quit(demo).status == 0)
  }

  @Test func mediaKeysGoFromStreamToStreamInPictureInPicture() async throws {
    let bus = try await SessionBus()
    let demo = try await bus.startSession()
    let ids = ["anna", "Björn \"👋\"/2"]
    for id in ids { #expect(try await bus.call("StartPlayingStream", id, Self.source()).status == 0) }
    #expect(
      try await eventually {
        try await bus.property("Streams").components(separatedBy: ": 'playing'").count == 3
      })
    let player = "org.mpris.MediaPlayer2.Player"
    #expect(try await bus.property("CanGoNext", of: player) == "false")
    #expect(try await bus.call("Enable", ids[0]).status == 0)
    #expect(try await bus.call("IsInPictureInPicture").output == "(true,)\n")
    #expect(try await bus.property("CanGoNext", of: player) == "true")
    #expect(try await bus.playerctl("metadata", "xesam:title") == ids[0])
    try await bus.playerctl("next")
    #expect(try await bus.playerctl("metadata", "xesam:title") == ids[1])
    try await bus.playerctl("previous")
    #expect(try await bus.property("PictureInPictureStream") == "'anna'")
    try await bus.playerctl("stop")
    #expect(try await bus.call("IsInPictureInPicture").output == "(false,)\n")
    #expect(try await bus.quit(demo).status == 0)
  }

  @Test(.enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"))
  func raiseShowsAWindowThatIsMinimised() async throws {
    let bus = try await SessionBus()
    let server = try await XServer()
    let demo = try await bus.startSession([Self.source()], on: server)
    let window = try await server.window("PipSink")
    #expect(try await bus.property("CanRaise", of: "org.mpris.MediaPlayer2") == "true")
    try await server.tool("xdotool", "windowminimize", window.id)
    func isMinimised() async throws -> Bool { try await server.properties(window, "WM_STATE").contains("Iconic") }
    #expect(try await eventually { try await isMinimised() })
    let raise = try await bus.call(
      "org.mpris.MediaPlayer2.Raise", arguments: [], path: "/org/mpris/MediaPlayer2")
    #expect(raise.status == 0, "\(raise.errors)")
    #expect(try await eventually { try await !isMinimised() })
    #expect(try await bus.quit(demo).status == 0)
  }

  @Test func pictureInPictureStartsInTheBackgroundWhenThatIsAllowed() async throws {
    let bus = try await SessionBus()
    let demo = try await bus.startSession(["--at", "0=background"])
    #expect(try await bus.call("StartPlayingStream", "a", Self.source()).status == 0)
    #expect(try await bus.call("EnableWhenBackground").status == 0)
    #expect(try await eventually { try await bus.property("PictureInPictureState") == "'AppMinimized'" })
    #expect(try await bus.call("CancelBackground").status == 0)
    #expect(try await bus.call("Stop").output.contains("true"))
    #expect(try await bus.property("PictureInPictureState") == "'Initialized'")
    #expect(try await bus.call("Stop").output.contains("false"))
    #expect(try await bus.call("Uninit").status == 0)
    #expect(try await bus.property("PictureInPictureState") == "'Uninitialized'")
    let refused = try await bus.call("Enable", "a")
    #expect(refused.status != 0 && refused.errors.contains("org.pipsink.Error.IllegalTransition"), "\(refused.errors)")
    #expect(try await bus.call("EnableWhenBackground").status != 0)
    #expect(try await bus.call("Init").status == 0)
    #expect(try await bus.call("Enable", "a").status == 0)
    #expect(try await eventually { try await bus.property("PictureInPictureStream") == "'a'" })
    #expect(try await bus.quit(demo).status == 0)
  }

  /// The values that a monitor has seen a property of org.pipsink.Session1 or of the player take, in their order.
  private func values(of property: String, in monitor: RunningProgram) throws -> [String] {
    monitor.output.matches(of: try Regex("PropertiesChanged .*'\(property)': <'([^']*)'>")).compactMap { match in
      match.output[1].substring.map(String.init)
    }
  }

  private func monitor(_ bus: SessionBus) async throws -> RunningProgram {
    let monitor = try RunningProgram(
      "/usr/bin/gdbus", ["monitor", "--session", "-d", "org.pipsink.Session1"], environment: bus.environment)
    #expect(await monitor.wait(forText: "owned by"))
    return monitor
  }

  @Test func everyStateOfPictureInPictureIsToldEvenWhereItIsLeftAtOnce() async throws {
    let bus = try await SessionBus()
    let demo = try await bus.startSession(["--at", "0=background"])
    #expect(try await bus.call("StartPlayingStream", "a", Self.source()).status == 0)
    #expect(try await eventually { try await bus.receivedCount(of: "a") > 0 })
    let monitor = try await monitor(bus)
    var expected = ["BackgroundPIP", "PIPActive", "AppMinimized"]
    #expect(try await bus.call("EnableWhenBackground").status == 0)
    let isTold = { try await eventually { try values(of: "PictureInPictureState", in: monitor) == expected } }
    try #require(await isTold(), "\(monitor.output)")
    for (method, states) in [
      ("CancelBackground", []), ("Stop", ["Initialized"]), ("Uninit", ["Uninitialized"]),
      ("Init", ["Initializing", "Initialized"]),
    ] {
      #expect(try await bus.call(method).status == 0)
      expected += states
      try #require(await isTold(), "\(method): \(monitor.output)")
    }
    #expect(try await bus.quit(demo).status == 0)
  }

  /// The session stands still, so that nothing else is told.
  @Test func signalsAreSentForWhatChangesAndForNothingElse() async throws {
    let bus = try await SessionBus()
    let restore = useBus(bus)
    defer { restore() }
    let session = try await PictureInPictureSession(display: NoDisplay())
    let service = try await SessionService(exporting: session)
    for id: StreamID in ["a", "b"] {
      try await session.addInput(id, stallTimeout: nil).push(try PlainFrame.make([255, 255, 255]).pixelBuffer)
    }
    let monitor = try await monitor(bus)
    #expect(await monitor.wait(forText: "StatisticsChanged"))
    func count(_ signal: String) -> Int { monitor.output.components(separatedBy: signal).count - 1 }
    await MainActor.run {
      service.sayStatistics()
      session.isMuted = true
    }
    // What was told before this has reached the monitor.
    #expect(await monitor.wait(forText: "{'Muted': <true>}"))
    let told = count("Session1.StatisticsChanged (")
    try await MainActor.run {
      for _ in 0..<3 { service.sayStatistics() }
      #expect(session.controller.currentStreamID == "a")
      session.emit(.seeked("b", to: MediaTime(seconds: 7)))
      session.emit(.seeked("a", to: MediaTime(seconds: 5)))
      try session.removeStream("b")
      session.isMuted = false
    }
    #expect(await monitor.wait(forText: "{'Muted': <false>}"))
    #expect(count("Player.Seeked (") == 1)
    #expect(count("Player.Seeked (int64 5000000,)") == 1, "\(monitor.output)")
    #expect(count("Session1.StreamRemoved (") == 1)
    #expect(count("Session1.StreamRemoved ('b',)") == 1, "\(monitor.output)")
    #expect(count("Session1.StatisticsChanged (") == told, "\(monitor.output)")
    await session.invalidate()
    await service.stop()
  }

  @Test func aStartThatIsRefusedDoesNotChooseItsStream() async throws {
    let bus = try await SessionBus()
    let demo = try await bus.startSession()
    for id in ["a", "b"] { #expect(try await bus.call("StartPlayingStream", id, Self.source()).status == 0) }
    for id in ["a", "b"] { #expect(try await eventually { try await bus.receivedCount(of: id) > 0 }) }
    #expect(try await bus.call("Uninit").status == 0)
    #expect(try await bus.playerctl("metadata", "xesam:title") == "a")
    let monitor = try await monitor(bus)
    let refused = try await bus.call("Enable", "b")
    #expect(refused.errors.contains("org.pipsink.Error.IllegalTransition"), "\(refused.errors)")
    let title = try await bus.playerctl("metadata", "xesam:title")
    try #require(title == "a")
    // What the refused call would have told comes before this.
    #expect(try await bus.call("SetMuted", arguments: ["true"]).status == 0)
    #expect(await monitor.wait(forText: "{'Muted': <true>}"))
    #expect(!monitor.output.contains("'Metadata'"), "\(monitor.output)")
    #expect(try await bus.call("Init").status == 0)
    #expect(try await bus.call("Toggle").status == 0)
    #expect(try await eventually { try await bus.property("PictureInPictureStream") == "'a'" })
    #expect(try await bus.quit(demo).status == 0)
  }

  @Test func whatMakesNoSenseIsRefusedAndTheSessionGoesOn() async throws {
    let bus = try await SessionBus()
    let demo = try await bus.startSession()
    #expect(try await bus.call("StartPlayingStream", "a", Self.source()).status == 0)
    let cases: [(arguments: [String], error: String, mention: String)] = [
      (["StartPlayingStream", "", "videotestsrc ! appsink name=v"], "InvalidArgument", "stream"),
      (["StartPlayingStream", "tab\there", "videotestsrc ! appsink name=v"], "InvalidArgument", "control"),
      (["StartPlayingStream", String(repeating: "é", count: 128), "x"], "InvalidArgument", "255"),
      (["StartPlayingStream", "b", ""], "InvalidArgument", "source"),
      (["StartPlayingStream", "b", String(repeating: "x", count: 65_537)], "InvalidArgument", "65536"),
      (["StartPlayingStream", "b", "nosuch ! appsink name=v"], "MissingElements", "nosuch"),
      (["StartPlayingStream", "b", "videotestsrc ! ("], "InvalidPipeline", "syntax"),
      (["StartPlayingStream", "b", "videotestsrc ! fakesink"], "InvalidPipeline", "appsink"),
      (["StartPlayingStream", "a", Self.source()], "DuplicateStream", "\"a\""),
      (["StopPlayingStream", "nobody"], "UnknownStream", "nobody"),
      (["SetSource", "nobody"], "UnknownStream", "nobody"),
      (["Enable", "nobody"], "UnknownStream", "nobody"),
    ]
    for (arguments, error, mention) in cases {
      let result = try await bus.call(arguments[0], arguments: Array(arguments.dropFirst()))
      #expect(result.status != 0 && result.errors.contains("org.pipsink.Error.\(error)"), "\(result.errors)")
      #expect(result.errors.contains(mention), "\(mention) is not in: \(result.errors)")
    }
    // A place that cannot be reached is no mistake in the call. The stream tries again, and reports the reason.
    #expect(try await bus.call("StartPlayingStream", "c", "http://127.0.0.1:1/c.mkv").status == 0)
    #expect(try await eventually { try await bus.property("Streams").contains("'c': 'reconnecting'") })
    #expect(try await bus.property("StreamErrors").contains("'c': '"))
    #expect(try await bus.call("StopPlayingStream", "c").status == 0)
    #expect(try await bus.property("StreamErrors") == "@a{ss} {}")
    #expect(try await bus.call("Enable").errors.contains("org.freedesktop.DBus.Error"))
    #expect(try await bus.property("Streams").contains("'a': '"))
    #expect(try await bus.quit(demo).status == 0)
  }

  @Test func aStreamThatCannotComeSaysWhyOnTheBus() async throws {
    let bus = try await SessionBus()
    let demo = try await bus.startSession()
    let monitor = try await monitor(bus)
    #expect(try await bus.call("StartPlayingStream", "lost", "file:///nowhere/lost.mkv").status == 0)
    #expect(await monitor.wait(forText: "'StreamErrors'"))
    #expect(await monitor.wait { $0.output.contains("StreamStateChanged ('lost', 'failed', '") })
    let told = monitor.output.split(separator: "\n").first { $0.contains("StreamStateChanged ('lost', 'failed', '") }
    #expect(told?.contains("/nowhere/lost.mkv") == true, "\(monitor.output)")
    #expect(try await bus.property("Streams") == "{'lost': 'failed'}")
    #expect(try await bus.property("StreamErrors").contains("/nowhere/lost.mkv"))
    // The session continues, and its exit code reports at the end that a stream has failed.
    #expect(try await bus.quit(demo).status == 74)
  }

  @Test func aFloodOfCallsIsBoundedAndNoFrameIsLost() async throws {
    let bus = try await SessionBus()
    let branches = ["a", "b"].map { id in
      "videotestsrc is-live=true num-buffers=120 ! video/x-raw,format=I420,width=320,height=240,framerate=30/1 "
        + "! appsink name=\(id)"
    }
    let demo = try await bus.startSession([branches.joined(separator: " ")])
    #expect(try await eventually { try await bus.receivedCount(of: "a") > 0 })
    let flood = try await bus.run(
      "python3", [Demo.root.appendingPathComponent("Tests/PipSinkDBusTests/dbus-flood.py").path, "10000"])
    #expect(flood.status == 0, "\(flood.errors)")
    // Every call was answered. Some were carried out, others were refused for their arguments or because too many calls
    // waited.
    let answers = Dictionary(
      uniqueKeysWithValues: flood.output.split(separator: "\n").compactMap { line -> (String, Int)? in
        let words = line.split(separator: " ")
        return words.count == 2 ? Int(words[1]).map { (String(words[0]), $0) } : nil
      })
    #expect(answers.values.reduce(0, +) == 10_000, "\(flood.output)")
    for answer in ["done", "org.pipsink.Error.UnknownStream", "org.freedesktop.DBus.Error.LimitsExceeded"] {
      #expect(answers[answer, default: 0] > 0, "\(flood.output)")
    }
    let result = try await demo.result(seconds: 60)
    #expect(result.status == 0 && !result.wasKilled, "\(result.errors)")
    let report = try result.report()
    #expect(report.outcome == .finished)
    for stream in report.streams.values {
      #expect(stream.arrived == 120)
      #expect(stream.inApp + stream.pip == stream.received)
    }
    #expect(!report.modeChanges.isEmpty)
    #expect(report.modeChanges.allSatisfy { $0.framesLost == 0 && $0.framesRepeated == 0 })
  }

  /// The environment variable `PIPSINK_TRIES` sets another number.
  private static let tries = ProcessInfo.processInfo.environment["PIPSINK_TRIES"].flatMap(Int.init) ?? 20

  private func counts(of program: RunningProgram) -> (threads: Int, files: Int) {
    let folder = "/proc/\(program.processIdentifier)"
    let count = { (name: String) in
      (try? FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(name)"))?.count ?? 0
    }
    return (count("task"), count("fd"))
  }

  @Test func nothingIsKeptOfStreamsThatWereStoppedButTheirNumbers() async throws {
    let bus = try await SessionBus()
    let demo = try await bus.startSession()
    let script = Demo.root.appendingPathComponent("Tests/PipSinkDBusTests/dbus-streams.py").path
    func play(_ first: Int, _ count: Int) async throws {
      let result = try await bus.run("python3", [script, "\(first)", "\(count)"], seconds: 60 + Double(count))
      #expect(result.status == 0, "\(result.errors)")
      #expect(try await bus.property("Streams") == "@a{ss} {}")
    }
    // Libraries keep some threads and files from their first use on.
    try await play(0, 5)
    let before = counts(of: demo)
    try await play(5, Self.tries)
    let isFlat = await demo.wait { demo in
      let now = counts(of: demo)
      return now.threads <= before.threads && now.files <= before.files
    }
    #expect(isFlat, "\(before) became \(counts(of: demo))")
    let result = try await bus.quit(demo)
    #expect(result.status == 0, "\(result.errors)")
    let report = try result.report()
    let told = report.streams.count + (report.forgottenStreams?.count ?? 0)
    #expect(told == Self.tries + 5)
    #expect(report.streams.count <= StoppedStreams.limit)
    #expect(report.streams.values.allSatisfy { $0.state == "ended" && $0.received > 0 })
    #expect(report.abandonedPipelines == 0)
  }

  @Test func aStreamWhoseSourceBlocksHoldsNobodyUp() async throws {
    let bus = try await SessionBus()
    let folder = try TemporaryFolder()
    mkfifo(folder.path("fifo"), 0o600)
    let blocked = "filesrc location=\(folder.path("fifo")) ! decodebin ! videoconvert ! appsink name=video"
    let demo = try await bus.startSession(["--stop-timeout", "1"])
    #expect(try await bus.call("StartPlayingStream", "a", Self.source()).status == 0)
    for number in 0..<3 {
      #expect(try await bus.call("StartPlayingStream", "blocked \(number)", blocked).status == 0)
    }
    #expect(try await eventually { try await bus.receivedCount(of: "a") > 5 })
    try await bus.playerctl("pause")
    try await bus.playerctl("play")
    // The calls that stop these streams are answered at once, and the IDs are free again.
    for number in 0..<3 {
      #expect(try await bus.call("StopPlayingStream", "blocked \(number)").status == 0)
    }
    #expect(try await bus.property("Streams") == "{'a': 'playing'}")
    #expect(try await bus.call("StartPlayingStream", "blocked 0", blocked).status == 0)
    let count = try await bus.receivedCount(of: "a")
    #expect(try await eventually { try await bus.receivedCount(of: "a") > count + 10 })
    demo.interrupt()
    let result = try await demo.result(seconds: 30)
    #expect(result.status == 0 && !result.wasKilled, "\(result.errors)")
    let report = try result.report()
    #expect(report.outcome == .interrupted)
    #expect(report.abandonedPipelines > 0)
    #expect(report.streams["a"]?.late == 0)
  }

  @Test func aStreamIsNamedAndTheNameWithdrawnOnTheBus() async throws {
    let bus = try await SessionBus()
    let demo = try await bus.startSession()
    func isShown(_ id: String) async throws -> Bool {
      try await eventually { try await bus.property("PictureInPictureStream") == "'\(id)'" }
    }
    for id in ["a", "b"] {
      #expect(try await bus.call("StartPlayingStream", id, Self.source()).status == 0)
      #expect(try await eventually { try await bus.receivedCount(of: id) > 0 })
    }
    #expect(try await bus.call("Enable", "b").status == 0)
    #expect(try await isShown("b"))
    #expect(try await eventually { try await bus.count("PictureInPicture", of: "b") > 0 })
    // The name counts more than a screen, until it is withdrawn.
    #expect(try await bus.call("SetScreenShare", "a", "true").status == 0)
    #expect(try await bus.property("PictureInPictureStream") == "'b'")
    #expect(try await bus.call("SetSource", "").status == 0)
    #expect(try await isShown("a"))
    #expect(try await eventually { try await bus.count("PictureInPicture", of: "a") > 0 })
    let result = try await bus.quit(demo)
    #expect(result.status == 0, "\(result.errors)")
  }

  @Test func aSecondSessionHasNamesOfItsOwn() async throws {
    let bus = try await SessionBus()
    let first = try await bus.startSession()
    let second = try await bus.startSession()
    let suffix = ".instance\(second.processIdentifier)"
    #expect(second.errors.contains("org.pipsink.Session1\(suffix)"), "\(second.errors)")
    #expect(try await bus.playerctl("-l").contains("pipsink\(suffix)"))
    let name = "org.pipsink.Session1\(suffix)"
    #expect(try await bus.call("StartPlayingStream", arguments: ["a", Self.source()], to: name).status == 0)
    #expect(try await bus.property("Streams") == "@a{ss} {}")
    #expect(try await bus.quit(second, named: name).status == 0)
    #expect(try await bus.quit(first).status == 0)
  }

  /// The numbers of a program's sockets that listen, of all kinds.
  private func listeningSockets(of program: RunningProgram) throws -> [String] {
    let folder = "/proc/\(program.processIdentifier)"
    let links = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/fd").compactMap {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/fd/\($0)")
    }
    // In /proc/net the state of TCP is 0A (listening), and the flags of local sockets have __SO_ACCEPTCON. UDP has no
    // listening state: a socket of it that is there at all receives.
    let kinds = [("tcp", 3, "0A", 9), ("tcp6", 3, "0A", 9), ("udp", 3, "", 9), ("udp6", 3, "", 9)]
    let isListening = { (words: [Substring], place: Int, state: String) in
      words.count > place && (state.isEmpty || words[place] == state)
    }
    return try (kinds + [("unix", 3, "00010000", 6)]).flatMap { name, place, state, number in
      try String(contentsOfFile: "\(folder)/net/\(name)", encoding: .utf8).split(separator: "\n").dropFirst()
        .map { $0.split(separator: " ") }
        .filter { isListening($0, place, state) && links.contains("socket:[\($0[number])]") }.map { "\(name) \($0)" }
    }
  }

  @Test(arguments: [[], ["--dbus"]]) func aRunListensNowhereAndIsOnTheBusOnlyWhereThatIsWanted(options: [String])
    async throws
  {
    let bus = try await SessionBus()
    let demo = try Demo.start(
      ["play", "videotestsrc is-live=true ! appsink name=a", "--surface", "offscreen"] + options,
      environment: bus.environment)
    #expect(await demo.wait(forText: options == [] ? "stream \"a\": " : "On the session bus"))
    #expect(try listeningSockets(of: demo) == [])
    let names = try await bus.call(
      "org.freedesktop.DBus.ListNames", arguments: [], path: "/org/freedesktop/DBus", to: "org.freedesktop.DBus"
    ).output.matches(of: /[\w.]*\.pipsink[\w.]*/).map { String($0.0) }
    #expect(Set(names) == (options == [] ? [] : ["org.mpris.MediaPlayer2.pipsink", "org.pipsink.Session1"]))
    kill(demo.processIdentifier, SIGINT)
    #expect(try await demo.result().status == 0)
  }

  @Test func withoutASessionBusItSaysSo() async throws {
    let result = try await Demo.play(
      ["--dbus", "--surface", "none"], environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere/bus"])
    #expect(result.status == 69 && !result.wasKilled)
    #expect(result.errors.contains("the session bus cannot be reached"), "\(result.errors)")
    #expect(result.errors.contains("DBUS_SESSION_BUS_ADDRESS"))
  }

  @Test func aBusThatDiesTakesOnlyTheControlWithIt() async throws {
    let bus = try await SessionBus()
    let demo = try await bus.startSession(["videotestsrc is-live=true num-buffers=90 ! appsink name=a"])
    #expect(try await eventually { try await bus.receivedCount(of: "a") > 0 })
    bus.stop()
    #expect(await demo.wait(forText: "the session bus is gone"))
    let result = try await demo.result(seconds: 60)
    #expect(result.status == 0 && !result.wasKilled, "\(result.errors)")
    #expect(try result.report().streams["a"]?.arrived == 90)
  }
}
