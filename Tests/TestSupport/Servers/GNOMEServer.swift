import Foundation
import Testing

@testable import PipSink

/// GNOME's compositor in a window of an X server without a screen. It offers Wayland without layer-shell, and an
/// Xwayland.
final class GNOMEServer {
  let outer: XServer
  private let folder: TemporaryFolder
  private let bus: SessionBus
  private let program: RunningProgram
  /// The variables DISPLAY and XAUTHORITY for the compositor's Xwayland.
  private var xwayland: [String: String] = [:]

  static var isInstalled: Bool {
    XServer.isInstalled
      && ["mutter", "Xwayland", "dbus-daemon"].allSatisfy {
        FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)")
      }
  }

  /// - Parameter monitorCount: the number of monitors of 1280x800, which are arranged from left to right.
  init(monitorCount: Int = 1) async throws {
    outer = try await XServer(managesWindows: false, size: "\(1280 * monitorCount)x800")
    folder = try TemporaryFolder()
    let path = folder.url.path
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
    bus = try await SessionBus()
    program = try RunningProgram(
      "/usr/bin/mutter", ["--nested", "--wayland", "--wayland-display", "wayland-gnome"],
      environment: [
        "DISPLAY": outer.display, "XDG_RUNTIME_DIR": path, "HOME": path, "LIBGL_ALWAYS_SOFTWARE": "1",
        "MUTTER_DEBUG_DUMMY_MODE_SPECS": "1280x800", "MUTTER_DEBUG_NUM_DUMMY_MONITORS": "\(monitorCount)",
        "GSETTINGS_BACKEND": "memory",
      ].merging(bus.environment) { $1 })
    let folder = folder
    let isUp = await eventually { folder.files.contains("wayland-gnome") }
    let errors = program.errors
    try #require(isUp, "\(errors)")
    let size = "\(1280 * monitorCount)x800"
    let isShown = try await eventually { try await self.outer.tool("xwininfo", "-root", "-tree").contains(size) }
    try #require(isShown)
    xwayland = try await Self.xwayland(in: path)
  }

  deinit {
    stop()
  }

  func stop() {
    program.stop()
    bus.stop()
    outer.stop()
  }

  /// Reads the variables from the arguments of the Xwayland process.
  private static func xwayland(in folder: String) async throws -> [String: String] {
    var words: [String] = []
    let isThere = try await eventually {
      let lines = try await RunningProgram("/usr/bin/ps", ["ax", "-ww", "-o", "args"]).result().output
      let line = lines.split(separator: "\n").first { $0.contains("Xwayland :") && $0.contains(folder) }
      words = (line ?? "").split(separator: " ").map(String.init)
      return !words.isEmpty
    }
    try #require(isThere)
    let display = try #require(words.first { $0.hasPrefix(":") })
    let option = try #require(words.firstIndex(of: "-auth"))
    return ["DISPLAY": display, "XAUTHORITY": words[option + 1]]
  }

  /// Connects or disconnects monitors, as the settings do.
  ///
  /// - Parameter count: the number of monitors that are connected, from left to right.
  func setMonitorCount(_ count: Int) async throws {
    let service = [
      "call", "--session", "--dest", "org.gnome.Mutter.DisplayConfig", "--object-path",
      "/org/gnome/Mutter/DisplayConfig", "--method",
    ]
    let call = { (method: String, arguments: [String]) in
      let result = try await RunningProgram(
        "/usr/bin/gdbus", service + ["org.gnome.Mutter.DisplayConfig.\(method)"] + arguments,
        environment: self.bus.environment
      ).result(seconds: 30)
      let errors = result.errors
      try #require(result.status == 0, "\(errors)")
      return result.output
    }
    // The answer begins with the number of the current configuration, which a new one has to name.
    let state = try await call("GetCurrentState", [])
    let number = try #require(state.firstMatch(of: #/uint32 (\d+)/#)?.output.1)
    // Each monitor has its position, scale, rotation, whether it is the primary one, and its connector and mode.
    let monitors = (0..<count).map { index in
      "(\(1280 * index),0,1.0,uint32 0,\(index == 0),[('LVDS\(index + 1)','1280x800@60.000',@a{sv} {})])"
    }
    _ = try await call("ApplyMonitorsConfig", [String(number), "1", "[\(monitors.joined(separator: ","))]", "{}"])
    let size = "\(1280 * count)x800"
    let isDone = try await eventually { try await self.outer.tool("xwininfo", "-root", "-tree").contains(size) }
    try #require(isDone)
  }

  /// The environment of programs that show windows in this compositor.
  var environment: [String: String] {
    [
      "WAYLAND_DISPLAY": "wayland-gnome", "XDG_RUNTIME_DIR": folder.url.path, "XDG_STATE_HOME": folder.path("state"),
      "NO_AT_BRIDGE": "1", "LIBGL_ALWAYS_SOFTWARE": "1",
    ].merging(xwayland) { $1 }
  }

  /// Opens a Wayland window of another program that fills the screen and has the focus.
  func maximisedWindow() throws -> RunningProgram {
    let script = """
      import gi
      gi.require_version("Gdk", "3.0")
      gi.require_version("Gtk", "3.0")
      from gi.repository import Gdk, Gtk
      window = Gtk.Window(title="Maximised")
      style = Gtk.CssProvider()
      style.load_from_data(b"window { background: #00ff00; }")
      Gtk.StyleContext.add_provider_for_screen(Gdk.Screen.get_default(), style, 800)
      window.maximize()
      window.show_all()
      Gtk.main()
      """
    return try RunningProgram(
      "/usr/bin/python3", ["-c", script], environment: environment.merging(["GDK_BACKEND": "wayland"]) { $1 })
  }

  /// The rectangle of the picture-in-picture window, as X11 programs see it.
  func pictureInPictureRectangle() async throws -> PictureRect? {
    let tree = try await RunningProgram("/usr/bin/xwininfo", ["-root", "-tree"], environment: environment)
      .result(seconds: 30).output
    guard let line = tree.split(separator: "\n").first(where: { $0.contains("\"Picture-in-Picture") }),
      let place = line.split(separator: " ").last, let size = line.split(separator: " ").dropLast().last
    else { return nil }
    // The line ends like this: 320x180+0+0  +944+604
    let numbers = (size.split(separator: "+").first?.split(separator: "x") ?? []) + place.split(separator: "+")
    let values = numbers.compactMap { Int($0) }
    return values.count == 4 ? PictureRect(x: values[2], y: values[3], width: values[0], height: values[1]) : nil
  }
}
