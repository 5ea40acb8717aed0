import Foundation
import Testing

@testable import PipSink

/// A Wayland compositor in a window of an X server without a screen, so that a test can move a real pointer in it.
final class WaylandServer {
  enum Compositor: String {
    /// This compositor has layer-shell. It refuses to run as root, so the test makes a user for it.
    case sway
    /// This compositor has no layer-shell.
    case weston
  }

  let outer: XServer
  private let parent: WaylandServer?
  private let compositor: Compositor
  private let folder: TemporaryFolder
  private let program: RunningProgram
  private let socket: String

  /// The user of compositors that refuse to run as root.
  static let user = "pipsink-test"

  static func isInstalled(_ compositor: Compositor) -> Bool {
    let tools = compositor == .sway ? ["sway", "swaymsg", "grim", "setpriv"] : ["weston"]
    return XServer.isInstalled && getuid() == 0
      && tools.allSatisfy { FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)") }
  }

  /// - Parameters:
  ///   - scale: the number of pixels for each unit, in sway.
  ///   - hasPointer: whether there is a pointer. Without one, as on a tablet, sway's output is shown nowhere.
  ///   - monitorCount: the number of sway's monitors. Each has 1024x768, and they are arranged from left to right.
  ///   - windowCount: the number of windows of another sway that fit into this one side by side. Covered windows would
  ///     show nothing.
  ///   - parent: the compositor whose windows are the monitors. It can close them. They are called WL-1, WL-2 and so
  ///     on, and there is no pointer.
  init(
    _ compositor: Compositor, scale: Double = 1, hasPointer: Bool = true, monitorCount: Int = 1,
    windowCount: Int = 1, in parent: WaylandServer? = nil
  ) async throws {
    self.compositor = compositor
    if let parent {
      outer = parent.outer
    } else {
      outer = try await XServer(managesWindows: false, size: "\(1024 * monitorCount)x768")
    }
    self.parent = parent
    folder = try TemporaryFolder()
    let path = folder.url.path
    var environment = [
      "DISPLAY": outer.display, "XDG_RUNTIME_DIR": path, "HOME": path,
      "WLR_BACKENDS": hasPointer ? "x11" : "headless", "WLR_RENDERER": "pixman", "WLR_LIBINPUT_NO_DEVICES": "1",
      "WLR_X11_OUTPUTS": "\(monitorCount)", "WLR_HEADLESS_OUTPUTS": "\(monitorCount)",
    ]
    if let parent {
      environment["WLR_BACKENDS"] = "wayland"
      environment["WAYLAND_DISPLAY"] = parent.socket
    }
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
    switch compositor {
    case .sway:
      try await Self.makeUser(owning: path)
      let config = folder.path("config")
      try Self.configuration(scale: scale, windowCount: windowCount)
        .write(toFile: config, atomically: true, encoding: .utf8)
      program = try RunningProgram(
        "/usr/bin/setpriv",
        ["--reuid=\(Self.user)", "--regid=\(Self.user)", "--clear-groups", "sway", "-c", config],
        environment: environment)
    case .weston:
      program = try RunningProgram(
        "/usr/bin/weston",
        ["--backend=x11-backend.so", "--width=1024", "--height=768", "--socket=wayland-1", "--idle-time=0"],
        environment: environment)
    }
    socket = folder.path("wayland-1")
    let (socket, folder) = (socket, folder)
    let isUp = await eventually {
      FileManager.default.fileExists(atPath: socket)
        && (compositor == .weston || folder.files.contains { $0.hasPrefix("sway-ipc") })
    }
    let errors = program.errors
    try #require(isUp, "\(errors)")
    guard hasPointer, parent == nil else { return }
    // The compositor's window exists when the compositor can show its clients.
    let isShown = try await eventually {
      try await self.outer.tool("xwininfo", "-root", "-tree").components(separatedBy: "1024x768+").count > monitorCount
    }
    try #require(isShown)
    guard monitorCount > 1 else { return }
    // Without a window manager all windows are in the same place. The colour of the first monitor shows which window
    // belongs to which monitor.
    let windows = try await windows()
    for order in [windows, windows.reversed()] {
      for (index, window) in order.enumerated() {
        try await outer.tool("xdotool", "windowmove", "\(window)", "\(index * 1024)", "0")
      }
      _ = try await eventually { try await outer.screenshot().pixel(512, 384)[2] > 20 }
      if try await outer.screenshot().pixel(512, 384)[2] < 35 { return }
    }
    Issue.record("sway's first monitor is not visible")
  }

  /// The configuration of sway. The second monitor's background is a little redder than the first one's.
  private static func configuration(scale: Double, windowCount: Int) -> String {
    let windows = (1...windowCount).map { number in
      """
      for_window [app_id=wlroots title="WL-\(number)"] floating enable, resize set 1024 768, \
      move absolute position \((number - 1) * 1024) 0
      """
    }
    return """
      output HEADLESS-1 resolution \(1024 * windowCount)x768 position 0 0
      output HEADLESS-2 resolution 1024x768 position 1024 0
      output * bg #204060 solid_color scale \(scale)
      output X11-1 position 0 0
      output X11-2 position 1024 0 bg #304060 solid_color
      xwayland disable
      default_border none
      focus_on_window_activation focus
      \(windows.joined(separator: "\n"))
      """
  }

  deinit {
    stop()
  }

  func stop() {
    program.stop()
    parent == nil ? outer.stop() : parent?.stop()
  }

  /// The process ID of the compositor.
  var processIdentifier: Int32 { program.processIdentifier }

  /// Makes the user, who gets a folder.
  static func makeUser(owning path: String) async throws {
    _ = try await RunningProgram("/usr/sbin/useradd", ["--system", "--no-create-home", user]).result(seconds: 30)
    let chown = try await RunningProgram("/usr/bin/chown", ["\(user):", path]).result(seconds: 30)
    try #require(chown.status == 0)
  }

  /// The environment of programs that show windows in this compositor.
  var environment: [String: String] {
    var environment = [
      "WAYLAND_DISPLAY": socket, "XDG_RUNTIME_DIR": folder.url.path, "GDK_BACKEND": "wayland",
      "XDG_STATE_HOME": folder.path("state"), "NO_AT_BRIDGE": "1",
    ]
    // sway sets this variable for the programs that it starts.
    if let control = folder.files.first(where: { $0.hasPrefix("sway-ipc") }) {
      environment["SWAYSOCK"] = folder.path(control)
    }
    return environment
  }

  /// The IDs of the compositor's windows on the outer server, one for each monitor.
  private func windows() async throws -> [String] {
    try await outer.tool("xwininfo", "-root", "-tree").split(separator: "\n")
      .filter { $0.contains("1024x768+") }.compactMap { $0.split(separator: " ").first.map(String.init) }.sorted()
  }

  /// Runs swaymsg and returns its output.
  @discardableResult
  func swaymsg(_ arguments: String...) async throws -> String {
    let program = try RunningProgram("/usr/bin/swaymsg", arguments, environment: environment)
    return try await program.result(seconds: 30).output
  }

  /// The name of the workspace that has the focus.
  func focusedWorkspace() async throws -> String? {
    struct Workspace: Decodable {
      let name: String
      let focused: Bool
    }
    let text = try await swaymsg("-t", "get_workspaces", "-r")
    return try JSONDecoder().decode([Workspace].self, from: Data(text.utf8)).first { $0.focused }?.name
  }

  /// A screenshot that grim takes.
  func screenshot(withCursor: Bool = false) async throws -> BGRAImage {
    try await Self.screenshot(withCursor: withCursor, environment: environment)
  }

  /// A screenshot of the compositor with an environment.
  static func screenshot(withCursor: Bool = false, environment: [String: String]) async throws -> BGRAImage {
    let pictures = try TemporaryFolder()
    let path = pictures.path("screen.ppm")
    let result = try await RunningProgram(
      "/usr/bin/grim", (withCursor ? ["-c"] : []) + ["-t", "ppm", path], environment: environment
    )
    .result(seconds: 30)
    let errors = result.errors
    try #require(result.status == 0, "\(errors)")
    return try await PictureFile.decoded(path)
  }
}
