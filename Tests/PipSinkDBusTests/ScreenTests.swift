import Foundation
import Glibc
import Testing

@testable import PipSink
@testable import PipSinkDBus
@testable import TestSupport

/// Tests that the screen stays on while something that plays can be seen, and that picture-in-picture is hidden while
/// the user's session is locked. A program stands in for the desktop's services.
@Suite(
  .enabled(if: SessionBus.isInstalled, "dbus-daemon, gdbus, playerctl or python3 is not installed"),
  .enabled(if: XServer.isInstalled, "the X servers and the tools for windows are not all installed"))
struct ScreenTests {
  /// A desktop with a bus, on which some services are.
  private struct Desktop {
    let bus: SessionBus
    let server: XServer
    let services: RunningProgram

    init(_ services: String...) async throws {
      (bus, server) = (try await SessionBus(), try await XServer())
      let script = Demo.root.appendingPathComponent("Tests/PipSinkDBusTests/desktop-services.py").path
      self.services = try RunningProgram(
        "/usr/bin/python3", [script] + services, environment: bus.environment)
      try #require(await self.services.wait(forText: "ready"))
    }

    /// The environment of programs on this desktop, whose system bus is the same bus.
    var environment: [String: String] {
      let own = ["DBUS_SYSTEM_BUS_ADDRESS": bus.environment["DBUS_SESSION_BUS_ADDRESS"] ?? "", "XDG_SESSION_ID": "1"]
      return server.environment.merging(bus.environment) { $1 }.merging(own) { $1 }
    }

    func play(_ arguments: String...) async throws -> RunningProgram {
      let demo = try Demo.start(
        ["play", ScreenTests.source, "--dbus", "--surface", "window"] + arguments, environment: environment)
      #expect(await demo.wait(forText: "On the session bus"))
      return demo
    }

    /// Waits until the services have been asked for this since they began, and for nothing else.
    func expect(_ asked: [String], _ location: SourceLocation = #_sourceLocation) async {
      let isAsked = await eventually { self.asked == asked }
      #expect(isAsked, "asked for \(self.asked)", sourceLocation: location)
    }

    /// What the screen saver and the portal have been asked for.
    var asked: [String] {
      services.output.split(separator: "\n").map(String.init)
        .filter { $0.contains("Inhibit") || $0.contains("Close") }
    }

    /// Pauses or plays, or calls a method of the session.
    func command(_ words: [String]) async throws {
      if words.count == 1 {
        try await bus.playerctl(words[0].lowercased())
      } else {
        #expect(try await bus.call(words[0], arguments: Array(words.dropFirst())).status == 0)
      }
    }

    func setLocked(_ isLocked: Bool) async throws {
      let result = try await bus.call(
        "org.freedesktop.login1.Session.SetLockedHint", arguments: ["\(isLocked)"],
        path: "/org/freedesktop/login1/session/_31", to: "org.freedesktop.login1")
      #expect(result.status == 0, "\(result.errors)")
    }
  }

  private static let source =
    "videotestsrc is-live=true pattern=green ! video/x-raw,width=160,height=120,framerate=30/1 ! appsink name=a"
  private static let inhibit = "Inhibit | PipSink | video is playing"

  @Test func theScreenStaysOnWhileSomethingPlaysAndOnlyThen() async throws {
    let desktop = try await Desktop("screensaver", "portal", "logind")
    let demo = try await desktop.play()
    var asked = [Self.inhibit]
    await desktop.expect(asked)
    var cookie = 1
    for (interruption, end) in [
      (["Pause"], ["Play"]), (["SetCameraState", "a", "off"], ["SetCameraState", "a", "on"]),
    ] {
      try await desktop.command(interruption)
      asked.append("UnInhibit | \(cookie)")
      await desktop.expect(asked)
      try await desktop.command(end)
      asked.append(Self.inhibit)
      cookie += 1
      await desktop.expect(asked)
    }
    // While the session is locked, the screen may go off although the app's window is there.
    try await desktop.setLocked(true)
    asked.append("UnInhibit | \(cookie)")
    await desktop.expect(asked)
    try await desktop.setLocked(false)
    asked.append(Self.inhibit)
    await desktop.expect(asked)
    // Picture-in-picture counts, too, so that nothing changes.
    _ = try await desktop.bus.call("Enable", "a")
    _ = try await desktop.server.window("Picture-in-Picture: a")
    #expect(desktop.asked == asked)
    let result = try await desktop.bus.quit(demo)
    #expect(result.status == 0, "\(result.errors)")
    #expect(await desktop.services.wait(forText: "vanished"))
  }

  @Test func aHiddenWindowLetsTheScreenGoOff() async throws {
    let desktop = try await Desktop("screensaver")
    let demo = try await desktop.play()
    await desktop.expect([Self.inhibit])
    let window = try await desktop.server.window("PipSink")
    try await desktop.server.tool("xdotool", "windowminimize", window.id)
    await desktop.expect([Self.inhibit, "UnInhibit | 1"])
    demo.stop()
  }

  @Test func whereThereIsNoScreenSaverThePortalIsAsked() async throws {
    let desktop = try await Desktop("portal")
    let demo = try await desktop.play()
    await desktop.expect(["Inhibit |  | 8"])
    try await desktop.bus.playerctl("pause")
    await desktop.expect(["Inhibit |  | 8", "Close"])
    demo.stop()
  }

  @Test func theUserCanLetTheScreenGoOff() async throws {
    let desktop = try await Desktop("screensaver", "logind")
    let demo = try await desktop.play("--allow-idle")
    #expect(try await eventually { try await desktop.bus.receivedCount(of: "a") > 30 })
    #expect(desktop.asked.isEmpty)
    demo.stop()
  }

  @Test func pictureInPictureIsHiddenWhileTheSessionIsLocked() async throws {
    let desktop = try await Desktop("logind")
    // A session that is locked already when the run begins.
    try await desktop.setLocked(true)
    let demo = try await desktop.play("--mode", "pip", "--pip-stream", "a")
    #expect(try await eventually { try await desktop.bus.property("PictureInPictureStream") == "'a'" })
    #expect(try await eventually { try await desktop.bus.property("PictureInPictureState") == "'PIPActive'" })
    func isVisible() async throws -> Bool {
      try await desktop.server.windows().contains { $0.title == "Picture-in-Picture" }
    }
    #expect(try await !isVisible())
    for _ in 0..<2 {
      try await desktop.setLocked(false)
      let window = try await desktop.server.window("Picture-in-Picture: a")
      #expect(
        try await eventually {
          let screen = try await desktop.server.screenshot()
          return screen.isGreen(window.x + window.width / 2, window.y + window.height / 2)
        })
      try await desktop.setLocked(true)
      #expect(try await eventually { try await !isVisible() })
      #expect(try await desktop.bus.property("PictureInPictureStream") == "'a'")
    }
    // Without the window, picture-in-picture ends as usual.
    _ = try await desktop.bus.call("Stop")
    #expect(try await eventually { try await desktop.bus.property("PictureInPictureStream") == "''" })
    try await desktop.setLocked(false)
    let result = try await desktop.bus.quit(demo)
    #expect(result.status == 0, "\(result.errors)")
  }

  /// The pause is so long that the stream is not started again in the time of the test.
  @Test @MainActor func aStreamThatWaitsIsStartedAtOnceWhenTheMachineHasSlept() async throws {
    let bus = try await SessionBus()
    let script = Demo.root.appendingPathComponent("Tests/PipSinkDBusTests/desktop-services.py").path
    let services = try RunningProgram("/usr/bin/python3", [script, "logind"], environment: bus.environment)
    #expect(await services.wait(forText: "ready"))
    let old = getenv("DBUS_SYSTEM_BUS_ADDRESS").map { String(cString: $0) }
    setenv("DBUS_SYSTEM_BUS_ADDRESS", try #require(bus.environment["DBUS_SESSION_BUS_ADDRESS"]), 1)
    defer {
      if let old { setenv("DBUS_SYSTEM_BUS_ADDRESS", old, 1) } else { unsetenv("DBUS_SYSTEM_BUS_ADDRESS") }
    }
    let session = try PictureInPictureSession(display: NoDisplay())
    let monitor = LoginMonitor(for: session)
    var pipeline = PipelineConfiguration()
    pipeline.retryPolicy = RetryPolicy(limit: 10, firstPause: .seconds(3600), longestPause: .seconds(3600))
    session.engine.configuration = pipeline
    try session.startStream("a", from: .text("tcpclientsrc port=1 ! decodebin ! appsink name=a"))
    func isWaiting() -> Bool {
      if case .reconnecting? = session.engine.info(of: "a")?.state { true } else { false }
    }
    #expect(await eventually { isWaiting() })
    // The monitor subscribes before it asks for its session.
    #expect(await services.wait(forText: "GetSession"))
    let starts = Locked(0)
    session.observeEvents { event in
      if case .engine(.streamStateChanged("a", .requesting)) = event { starts.withLock { $0 += 1 } }
    }
    let result = try await bus.call(
      "org.freedesktop.login1.Manager.Suspend", arguments: ["true"], path: "/org/freedesktop/login1",
      to: "org.freedesktop.login1")
    #expect(result.status == 0, "\(result.errors)")
    #expect(await eventually { starts.withLock { $0 } == 1 && isWaiting() })
    monitor.stop()
    await session.stop()
  }

  @Test(.enabled(if: Plugin.isUsable, "a plugin with a sanitizer cannot be loaded"))
  func anElementKeepsTheScreenOnWhereItsPropertySaysSo() async throws {
    let folder = try TemporaryFolder()
    let desktop = try await Desktop("screensaver", "logind")
    let source = "videotestsrc is-live=true pattern=green ! video/x-raw,width=160,height=120,framerate=30/1"
    let launch = try Plugin.launch(
      "\(source) ! pipsink stream-id=a mode=pip inhibit-idle=true", folder, environment: desktop.environment)
    let window = try await desktop.server.window("Picture-in-Picture: a")
    #expect(window.width > 0)
    await desktop.expect(["Inhibit | gst-launch-1.0 | video is playing"])
    try await desktop.setLocked(true)
    await desktop.expect(["Inhibit | gst-launch-1.0 | video is playing", "UnInhibit | 1"])
    #expect(try await eventually { try await desktop.server.windows().isEmpty })
    launch.stop()
  }

  @Test(.enabled(if: WaylandServer.isInstalled(.sway), "sway, grim and root are needed"))
  func onSwayTheWindowItselfKeepsTheScreenOn() async throws {
    let (server, bus) = (try await WaylandServer(.sway), try await SessionBus())
    let demo = try Demo.start(
      ["play", Self.source, "--dbus", "--surface", "window"],
      environment: bus.environment.merging(server.environment) { $1 })
    #expect(await demo.wait(forText: "On the session bus"))
    func isKeptOn() async throws -> Bool {
      try await server.swaymsg("-t", "get_tree", "-r").contains(/"idle_inhibitors": \{[^}]*"application": "enabled"/)
    }
    #expect(try await eventually { try await isKeptOn() })
    try await bus.playerctl("pause")
    #expect(try await eventually { try await !isKeptOn() })
    try await bus.playerctl("play")
    #expect(try await eventually { try await isKeptOn() })
    demo.stop()
  }
}

extension BGRAImage {
  /// Whether a pixel has the colour of the test stream.
  fileprivate func isGreen(_ x: Int, _ y: Int) -> Bool {
    let pixel = pixel(x, y)
    return pixel[1] > 120 && pixel[0] < 100 && pixel[2] < 100
  }
}
