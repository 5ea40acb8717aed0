import Foundation
import Testing

/// A window manager for X11.
enum WindowManager: String, CaseIterable, CustomTestStringConvertible {
  case openbox
  case i3
  case xfwm4
  case fluxbox
  case icewm
  case awesome
  case bspwm
  case dwm

  var testDescription: String { rawValue }

  var isInstalled: Bool {
    XServer.isInstalled && FileManager.default.isExecutableFile(atPath: "/usr/bin/\(rawValue)")
  }

  /// Starts the window manager, with its usual settings and at least two workspaces, and waits until it manages windows.
  ///
  /// - Parameters:
  ///   - server: the server, which has no other window manager.
  ///   - folder: the folder of the window manager's settings.
  /// - Returns: the programs that have to be kept.
  func start(on server: XServer, in folder: TemporaryFolder) async throws -> [AnyObject] {
    var environment = ["DISPLAY": server.display, "HOME": folder.url.path, "XDG_CONFIG_HOME": folder.url.path]
    var (name, arguments, kept): (String, [String], [AnyObject]) = (rawValue, [], [])
    switch self {
    case .openbox: arguments = ["--sm-disable"]
    case .i3:
      // Without a file of its own, i3 asks the user for one.
      try "font pango:monospace 8".write(toFile: folder.path("i3"), atomically: true, encoding: .utf8)
      arguments = ["-c", folder.path("i3")]
    case .xfwm4:
      let bus = try await SessionBus()
      environment.merge(bus.environment) { $1 }
      (arguments, kept) = (["--compositor=off"], [bus])
    case .fluxbox:
      // Only this script of fluxbox's makes its usual settings, without which a click gives no window the focus. fluxbox
      // closes all descriptors, also the one by which Foundation notices its end, so that a shell waits for it.
      (name, arguments) = ("sh", ["-c", "startfluxbox & wait"])
      // Where no program can draw its wallpaper, fluxbox says so in a window, which takes the focus whenever it comes.
      try FileManager.default.createDirectory(
        atPath: folder.path(".fluxbox"), withIntermediateDirectories: true)
      try "background: none\n".write(toFile: folder.path(".fluxbox/overlay"), atomically: true, encoding: .utf8)
    case .icewm, .awesome, .bspwm, .dwm: break
    }
    let program = try RunningProgram("/usr/bin/\(name)", arguments, environment: environment)
    let isManaging = try await eventually {
      switch self {
      // openbox announces itself before it manages windows. When it obeys a request, it is ready.
      case .openbox:
        try await server.tool("wmctrl", "-n", "2")
        return try await server.tool("xprop", "-root", "_NET_NUMBER_OF_DESKTOPS").contains("= 2")
      case .bspwm:
        let workspaces = try RunningProgram("/usr/bin/bspc", ["monitor", "-d", "1", "2"], environment: environment)
        return try await workspaces.result(seconds: 30).status == 0
      default: return try await server.tool("xprop", "-root", "_NET_SUPPORTING_WM_CHECK").contains("window id")
      }
    }
    try #require(isManaging, "\(rawValue): \(program.errors)")
    return kept + [program]
  }

  /// - Parameter number: the number of the workspace, counted from 1.
  func showWorkspace(_ number: Int, on server: XServer) async throws {
    switch self {
    case .i3: try await server.tool("i3-msg", "workspace", "\(number)")
    // dwm changes its tags by keys alone.
    case .dwm: try await server.key("alt+\(number)")
    default: try await server.tool("wmctrl", "-s", "\(number - 1)")
    }
  }
}
