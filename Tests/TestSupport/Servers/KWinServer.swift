import Foundation
import Testing

@testable import PipSink

/// KDE's compositor in a window of an X server without a screen. It offers Wayland with layer-shell.
final class KWinServer {
  let outer: XServer
  private let folder: TemporaryFolder
  private let bus: SessionBus
  private let program: RunningProgram
  private static let socket = "wayland-kde"

  static var isInstalled: Bool {
    XServer.isInstalled
      && ["kwin_wayland", "dbus-daemon", "gdbus"].allSatisfy {
        FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)")
      }
  }

  /// - Parameters:
  ///   - scale: the number of pixels for each unit. The compositor's window is larger than the outer screen by this
  ///     factor.
  ///   - monitorCount: the number of monitors of 1280x800, which are arranged from left to right.
  init(scale: Double = 1, monitorCount: Int = 1) async throws {
    outer = try await XServer(managesWindows: false, size: "\(1280 * monitorCount)x800")
    folder = try TemporaryFolder()
    let path = folder.url.path
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
    bus = try await SessionBus()
    // The packaged program has a capability to change its priority, which containers refuse. A copy does not have it.
    let copy = folder.path("kwin_wayland")
    try FileManager.default.copyItem(atPath: "/usr/bin/kwin_wayland", toPath: copy)
    if scale != 1 {
      try Self.outputs(scale: scale).write(
        toFile: folder.path("kwinoutputconfig.json"), atomically: true, encoding: .utf8)
    }
    try "[Desktops]\nNumber=2\nRows=1\n".write(toFile: folder.path("kwinrc"), atomically: true, encoding: .utf8)
    program = try RunningProgram(
      copy,
      [
        "--x11-display", outer.display, "--width", "1280", "--height", "800", "--scale", "\(scale)", "--socket",
        Self.socket, "--no-lockscreen", "--output-count", "\(monitorCount)",
      ],
      environment: [
        "DISPLAY": outer.display, "XDG_RUNTIME_DIR": path, "HOME": path, "XDG_CONFIG_HOME": path,
        "LIBGL_ALWAYS_SOFTWARE": "1",
        // Every program may press keys and touch the screen (org_kde_kwin_fake_input).
        "KWIN_WAYLAND_NO_PERMISSION_CHECKS": "1",
      ].merging(bus.environment) { $1 })
    let folder = folder
    let isUp = await eventually { folder.files.contains(Self.socket) }
    let errors = program.errors
    try #require(isUp, "\(errors)")
    let size = "\(Int(1280 * scale))x\(Int(800 * scale))"
    var windows: [String] = []
    let isShown = try await eventually {
      windows = try await self.outer.tool("xwininfo", "-root", "-tree").split(separator: "\n")
        .filter { $0.contains(size) }.compactMap { $0.split(separator: " ").first.map(String.init) }.sorted()
      return windows.count >= monitorCount
    }
    try #require(isShown)
    // Without a window manager all windows are in the same place. KWin makes them in the order of its monitors.
    for (index, window) in windows.prefix(monitorCount).enumerated() where index > 0 {
      try await outer.tool("xdotool", "windowmove", window, "\(index * 1280)", "0")
    }
  }

  deinit {
    stop()
  }

  /// The file from which KWin 6 reads the scale. Older versions read it from the command line alone.
  private static func outputs(scale: Double) -> String {
    """
    [
      {"name": "outputs", "data": [{
        "connectorName": "X11-0", "scale": \(scale),
        "mode": {"width": \(Int(1280 * scale)), "height": \(Int(800 * scale)), "refreshRate": 60000}}]},
      {"name": "setups", "data": [{
        "lidClosed": false,
        "outputs": [{"enabled": true, "outputIndex": 0, "position": {"x": 0, "y": 0}, "priority": 0}]}]}
    ]
    """
  }

  func stop() {
    program.stop()
    bus.stop()
    outer.stop()
  }

  /// The environment of programs that show windows in this compositor.
  var environment: [String: String] {
    [
      "WAYLAND_DISPLAY": Self.socket, "XDG_RUNTIME_DIR": folder.url.path, "XDG_STATE_HOME": folder.path("state"),
      "GDK_BACKEND": "wayland", "NO_AT_BRIDGE": "1",
    ]
  }

  func showWorkspace(_ number: Int) async throws {
    let arguments = [
      "call", "--session", "--dest", "org.kde.KWin", "--object-path", "/KWin", "--method",
      "org.kde.KWin.setCurrentDesktop", "\(number)",
    ]
    let result = try await RunningProgram("/usr/bin/gdbus", arguments, environment: bus.environment).result(seconds: 30)
    #expect(result.status == 0, "\(result.errors)")
  }
}
