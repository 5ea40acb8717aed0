import Foundation
import Testing

@testable import PipSink
@testable import TestSupport

private let kioskIsInstalled =
  XServer.isInstalled
  && ["cage", "Xwayland"].allSatisfy { FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)") }

/// Tests the windows in cage, a kiosk, which makes every window that it manages as large as the screen.
@Suite(.enabled(if: kioskIsInstalled, "cage, Xwayland or the X tools are not installed"), .timeLimit(.minutes(5)))
struct KioskTests {
  @Test func pictureInPictureDoesNotCoverTheApp() async throws {
    let (outer, folder) = (try await XServer(managesWindows: false, size: "1024x768"), try TemporaryFolder())
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.url.path)
    try await WaylandServer.makeUser(owning: folder.url.path)
    let kiosk = try RunningProgram(
      "/usr/bin/setpriv",
      [
        "--reuid=\(WaylandServer.user)", "--regid=\(WaylandServer.user)", "--clear-groups",
        // Other users may connect to its X server, too. The last program ends when the server does.
        "cage", "--", "/bin/sh", "-c", "xhost + >&2; echo $WAYLAND_DISPLAY $DISPLAY; exec xprop -root -spy >&2",
      ],
      environment: [
        "DISPLAY": outer.display, "XDG_RUNTIME_DIR": folder.url.path, "HOME": folder.url.path, "WLR_BACKENDS": "x11",
        "WLR_RENDERER": "pixman", "WLR_LIBINPUT_NO_DEVICES": "1",
      ])
    let names = try #require(await kiosk.firstLine(), "\(kiosk.errors)").split(separator: " ").map(String.init)
    try #require(names.count == 2, "cage has no Xwayland")
    let environment = [
      "WAYLAND_DISPLAY": names[0], "DISPLAY": names[1], "XDG_RUNTIME_DIR": folder.url.path,
      "XDG_STATE_HOME": folder.path("state"),
    ]
    let live = "! video/x-raw,width=320,height=180,framerate=30/1 ! appsink name="
    let demo = try Demo.start(
      [
        "play", "videotestsrc is-live=true pattern=red \(live)a videotestsrc is-live=true pattern=blue \(live)b",
        "--surface", "window", "--mode", "pip", "--pip-stream", "a",
      ], environment: environment)
    // Where the window is on the screen depends on cage's version.
    let isShown = try await eventually {
      let windows = try RunningProgram("/usr/bin/xwininfo", ["-root", "-tree"], environment: environment)
      return try await windows.result(seconds: 30).output.split(separator: "\n").contains {
        $0.contains("\"Picture-in-Picture\"") && $0.contains(" 320x180+")
      }
    }
    #expect(isShown, "\(demo.errors)")
    var image = try await outer.screenshot()
    func share(_ color: [UInt8]) -> Double {
      let points = (0..<96).flatMap { y in (0..<128).map { x in image.pixel(x * 8 + 4, y * 8 + 4) } }
      return Double(points.count { zip($0, color).allSatisfy { abs(Int($0) - Int($1)) < 12 } }) / Double(points.count)
    }
    // The picture in picture-in-picture has 320x180 of 1024x768, and the other one half of the app's width.
    let isRight = try await eventually {
      image = try await outer.screenshot()
      return abs(share([0, 0, 255]) - 0.073) < 0.01 && share([255, 0, 0]) > 0.1
    }
    #expect(isRight, "red: \(share([0, 0, 255])), blue: \(share([255, 0, 0]))")
    demo.stop()
    kiosk.stop()
  }
}
