import Foundation
import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport
@testable import pipsink_demo

/// Tests the demo's windows from outside in real Wayland compositors.
@Suite struct WaylandWindowTests {
  private static let streams =
    "videotestsrc pattern=smpte75 ! video/x-raw,width=640,height=360,framerate=30/1 ! appsink name=remote-1 "
    + "videotestsrc pattern=black ! video/x-raw,width=640,height=360,framerate=30/1 ! appsink name=remote-2"

  private func play(_ server: WaylandServer, _ arguments: [String] = []) throws -> RunningProgram {
    try Demo.start(
      ["play", Self.streams, "--surface", "window", "--mode", "pip", "--pip-stream", "remote-1"] + arguments,
      environment: server.environment)
  }

  /// Whether a place shows the first bar, which only the picture-in-picture window shows.
  private func isFirstBar(_ image: BGRAImage, _ x: Int, _ y: Int) -> Bool {
    image.pixel(x, y)[0..<3].allSatisfy { (184...198).contains($0) }
  }

  /// Describes where the first bar is, for the message of a test that expected it elsewhere.
  private func firstBar(_ image: BGRAImage) -> String {
    let places = stride(from: 2, to: image.size.height, by: 4).flatMap { y in
      stride(from: 2, to: image.size.width, by: 4).filter { isFirstBar(image, $0, y) }.map { (x: $0, y: y) }
    }
    guard let first = places.first, let last = places.last else { return "there is no first bar on the screen" }
    return "the first bar is at \(first.x),\(first.y) to \(last.x),\(last.y)"
  }

  @Test(.enabled(if: WaylandServer.isInstalled(.sway), "sway, grim and root are needed"))
  func onSwayItIsAnOverlayAboveAFullscreenWindowAndIsDragged() async throws {
    let server = try await WaylandServer(.sway)
    let demo = try play(server)
    // The screen is 1024x768, the window 320x180 and the margin 16.
    let corner = (x: 1024 - 320 - 16, y: 768 - 180 - 16)
    #expect(
      try await eventually { isFirstBar(try await server.screenshot(), corner.x + 20, corner.y + 90) })
    try await server.swaymsg("[app_id=\"pipsink-demo\"] fullscreen enable")
    #expect(try await eventually { try await server.swaymsg("-t", "get_tree").contains("\"fullscreen_mode\": 1") })
    // The picture-in-picture window is none of sway's ordinary windows.
    #expect(try await !server.swaymsg("-t", "get_tree").contains("Picture-in-Picture"))
    // sway tells of the app's new size before it shows it.
    let isAbove = try await eventually {
      let screen = try await server.screenshot()
      return isFirstBar(screen, corner.x + 20, corner.y + 90) && screen.pixel(corner.x - 10, corner.y + 90)[0] < 40
    }
    #expect(isAbove)

    try await server.outer.drag(from: (corner.x + 100, corner.y + 90), to: (250, 180))
    let hasSnapped = try await eventually { isFirstBar(try await server.screenshot(), 16 + 20, 16 + 90) }
    let image = try await server.screenshot()
    #expect(hasSnapped, "\(firstBar(image)); the demo \(demo.isRunning ? "runs" : "has ended"): \(demo.errors)")
    #expect(!isFirstBar(image, corner.x + 20, corner.y + 90))
    try await demo.end()

    // After a restart the window is in the same corner again.
    let second = try play(server)
    #expect(try await eventually { isFirstBar(try await server.screenshot(), 16 + 20, 16 + 90) })
    second.stop()
  }

  @Test(.enabled(if: WaylandServer.isInstalled(.sway), "sway, grim and root are needed"))
  func whereThereIsNoPointerItIsShownAllTheSame() async throws {
    let server = try await WaylandServer(.sway, hasPointer: false)
    let demo = try play(server)
    #expect(
      try await eventually {
        isFirstBar(try await server.screenshot(), 1024 - 320 - 16 + 20, 768 - 180 - 16 + 90) || !demo.isRunning
      })
    #expect(demo.isRunning, "\(demo.errors)")
    demo.stop()
  }

  @Test(.enabled(if: WaylandServer.isInstalled(.sway), "sway, grim and root are needed"))
  func onSwayDraggingACornerResizesItInItsShape() async throws {
    let server = try await WaylandServer(.sway)
    let demo = try play(server, ["--pip-corner", "top-left", "--pip-size", "320x180"])
    #expect(try await eventually { isFirstBar(try await server.screenshot(), 16 + 20, 16 + 90) })
    try await server.outer.drag(from: (16 + 317, 16 + 177), to: (16 + 477, 16 + 267))
    // The first of seven bars is now wider and higher.
    #expect(
      try await eventually {
        let image = try await server.screenshot()
        return isFirstBar(image, 16 + 60, 16 + 30) && isFirstBar(image, 16 + 20, 16 + 260)
          && !isFirstBar(image, 16 + 80, 16 + 30) && !isFirstBar(image, 16 + 20, 16 + 275)
      })
    demo.stop()
  }

  @Test(.enabled(if: WaylandServer.isInstalled(.sway), "sway, grim and root are needed"))
  func swaysDeathIsReportedAndEndsTheRunWithItsReport() async throws {
    let server = try await WaylandServer(.sway)
    let folder = try TemporaryFolder()
    let demo = try play(server, ["--report", folder.path("report.json")])
    #expect(await demo.wait(forText: "remote-1\": "))
    server.stop()
    let result = try await demo.result(seconds: 30)
    #expect(result.status == 69, "\(result.errors)")
    #expect(!result.wasKilled)
    #expect(result.errors.contains("the display server has gone"))
    #expect(FileManager.default.fileExists(atPath: folder.path("report.json")))
  }

  @Test(.enabled(if: WaylandServer.isInstalled(.weston), "weston and root are needed"))
  func withoutLayerShellItIsAnOrdinaryWindowWithOneWarning() async throws {
    let server = try await WaylandServer(.weston)
    let demo = try play(server, ["--report", "-", "--duration", "3", "--at", "1=normal", "--at", "2=pip:remote-2"])
    let result = try await demo.result(seconds: 60)
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.errors.components(separatedBy: "has no layer-shell").count == 2, "\(result.errors)")
    let report = try result.report()
    #expect(report.surface == "wayland")
    #expect(report.modeChanges.count == 2)
    // Each time a picture was shown in the window.
    #expect(report.modeChanges.allSatisfy { $0.firstFrameLatencyMs != nil })
  }

  @Test(.enabled(if: WaylandServer.isInstalled(.weston), "weston and root are needed"))
  func whereItCanBeCoveredSupportIsLimitedAndTheReasonIsSaid() async throws {
    let server = try await WaylandServer(.weston)
    let doctor = try await Demo.start(["doctor"], environment: server.environment).result(seconds: 60)
    #expect(doctor.status == 0, "\(doctor.errors)")
    let covered = "possible, but other windows can cover it: the compositor has no layer-shell"
    #expect(doctor.output.contains("limited  picture-in-picture: \(covered)"), "\(doctor.output)")
  }

  /// weston's renderer in memory blends a picture with what it covers if it is not told this.
  @Test(.enabled(if: WaylandServer.isInstalled(.weston), "weston and root are needed"))
  func theCompositorIsToldThatPicturesHaveNoTransparentPixels() async throws {
    let server = try await WaylandServer(.weston)
    // libwayland writes the program's requests to standard error.
    let requests = server.environment.merging(["WAYLAND_DEBUG": "1"]) { $1 }
    let demo = try Demo.start(
      [
        "play", "videotestsrc ! video/x-raw,width=640,height=360,framerate=30/1 ! appsink name=a", "--surface",
        "window", "--window-size", "322x182", "--duration", "1",
      ], environment: requests)
    let result = try await demo.result(seconds: 60)
    #expect(result.status == 0)
    var region: Substring?
    var opaque: [Substring: Substring] = [:]
    var pictures: [Substring: Int] = [:]
    for line in result.errors.split(separator: "\n") {
      // Newer versions of libwayland write # instead of @ before an object's number.
      guard let request = line.wholeMatch(of: #/.* -> ((\w+)[@#]\d+)\.(\w+)\((.*)\)/#)?.output else { continue }
      switch (request.2, request.3) {
      case ("wl_region", "add"): region = request.4
      case ("wl_surface", "set_opaque_region"): opaque[request.1] = request.4 == "nil" ? nil : region
      case ("wl_surface", "commit"): pictures[request.1, default: 0] += 1
      default: break
      }
    }
    // The surface that is committed most often has the pictures.
    let surface = try #require(pictures.max { $0.value < $1.value })
    #expect(surface.value > 10)
    #expect(opaque[surface.key] == "0, 0, 322, 182", "\(opaque)")
  }

  /// Starts the demo with a connection to the compositor, and without any variable that leads to a display server.
  private func startConnected(_ arguments: [String], to server: WaylandServer) throws -> RunningProgram {
    let script = """
      import os, socket, sys
      connection = socket.socket(socket.AF_UNIX)
      connection.connect(os.environ.pop("WAYLAND_DISPLAY"))
      connection.set_inheritable(True)
      os.environ["WAYLAND_SOCKET"] = str(connection.fileno())
      for name in ("DISPLAY", "XDG_RUNTIME_DIR", "GDK_BACKEND"):
          os.environ.pop(name, None)
      os.execv(sys.argv[1], sys.argv[1:])
      """
    return try RunningProgram(
      "/usr/bin/python3", ["-c", script, Demo.path] + arguments, environment: server.environment)
  }

  @Test(.enabled(if: WaylandServer.isInstalled(.sway), "sway, grim and root are needed"))
  func aProgramThatIsStartedWithItsConnectionShowsAllItsWindowsOnThat() async throws {
    let server = try await WaylandServer(.sway)
    let demo = try startConnected(
      [
        "play", Self.streams, "--surface", "window", "--mode", "pip", "--pip-stream", "remote-1", "--report", "-",
        "--duration", "3", "--at", "1=normal", "--at", "2=pip:remote-1",
      ], to: server)
    let corner = (x: 1024 - 320 - 16, y: 768 - 180 - 16)
    #expect(try await eventually { isFirstBar(try await server.screenshot(), corner.x + 20, corner.y + 90) })
    #expect(try await server.swaymsg("-t", "get_tree").contains("\"app_id\": \"pipsink-demo\""))
    let result = try await demo.result(seconds: 60)
    #expect(result.status == 0, "\(result.errors)")
    let report = try result.report()
    #expect(report.surface == "wayland")
    #expect(report.modeChanges.count == 2)
    #expect(report.modeChanges.allSatisfy { $0.firstFrameLatencyMs != nil })
  }

  @Test(.enabled(if: WaylandServer.isInstalled(.sway), "sway, grim and root are needed"))
  func theDoctorUsesTheConnectionThatItIsStartedWith() async throws {
    let server = try await WaylandServer(.sway)
    let doctor = try await startConnected(["doctor"], to: server).result(seconds: 60)
    #expect(doctor.status == 0, "\(doctor.errors)")
    let reason = "the compositor has layer-shell; it is a surface on the overlay layer"
    #expect(doctor.output.contains("ok       always on top: \(reason)\n"), "\(doctor.output)")
  }

  /// An app with windows of its own has no other window of PipSink's.
  @Test(
    .enabled(if: WaylandServer.isInstalled(.sway), "sway, grim and root are needed"),
    arguments: [PictureInPictureWindow.Kind.layerShell, .toplevel])
  func aWindowThatIsAloneInItsProgramIsOfTheKindThatIsWanted(_ kind: PictureInPictureWindow.Kind) async throws {
    let server = try await WaylandServer(.sway)
    var environment = server.environment
    if kind == .toplevel { environment["PIPSINK_PIP_WINDOW"] = kind.rawValue }
    await #expect(processExitsWith: .success) {
      [environment = environment as [String: String], isLayer = (kind == .layerShell) as Bool] in
      try await LoneWindow.open(in: environment, isLayer: isLayer)
    }
    server.stop()
  }

  @Test func aConnectionThatIsNotThereIsNoDisplayServer() async throws {
    for socket in ["99", "no number"] {
      let demo = try Demo.start(
        ["play", Self.streams, "--surface", "window"],
        environment: ["WAYLAND_SOCKET": socket, "DISPLAY": "", "WAYLAND_DISPLAY": "", "XDG_RUNTIME_DIR": ""])
      let result = try await demo.result(seconds: 60)
      #expect(result.status == 69, "\(result.errors)")
      #expect(result.errors.contains("neither an X11 nor a Wayland display can be reached"), "\(result.errors)")
    }
  }
}

/// A program whose only window is the picture-in-picture window. A failure in it is a failure of the test.
private enum LoneWindow {
  @MainActor
  static func open(in environment: [String: String], isLayer: Bool) async throws {
    for (name, value) in environment { setenv(name, value, 1) }
    let window = try PictureInPictureWindow(placementPath: nil)
    #expect(window.kind == (isLayer ? .layerShell : .toplevel))
    #expect((PictureInPictureWindow.support == .full) == isLayer)
    let layer = SampleBufferDisplayLayer(name: "a", videoGravity: .resize)
    layer.attach(to: window.renderer)
    try window.open(.plain())
    func screen() async throws -> BGRAImage {
      let folder = try TemporaryFolder()
      let grim = try RunningProgram("/usr/bin/grim", ["-t", "ppm", folder.path("a.ppm")], environment: environment)
      try #require(try await grim.result(seconds: 30).status == 0)
      return try await PictureFile.decoded(folder.path("a.ppm"))
    }
    // A layer is in its corner. Sway gives an ordinary window the whole screen.
    #expect(
      try await eventually {
        layer.enqueue(try PlainFrame.make([0, 0, 255]))
        let image = try await screen()
        return image.pixel(1024 - 16 - 160, 768 - 16 - 90)[2] > 200 && (image.pixel(100, 100)[2] > 200) != isLayer
      })
    window.close()
  }
}
