import Foundation
import Testing

@testable import PipSink

/// An X server without a screen, with a window manager, and with the tools with which a user looks at windows.
final class XServer {
  let display: String
  private let outer: XServer?
  private let server: RunningProgram
  /// The window manager, or nil where none runs.
  let manager: WindowManager?
  private var programs: [AnyObject] = []
  /// The folder in which programs on this server keep their state.
  private let stateFolder: TemporaryFolder

  /// Whether the required programs are installed. Where they are missing, tests report that they are skipped.
  static var isInstalled: Bool {
    ["Xvfb", "Xephyr", "openbox", "xprop", "xdotool", "wmctrl", "import", "xclock", "xrandr", "xkill"].allSatisfy {
      FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)")
    }
  }

  /// - Parameters:
  ///   - outer: the server in which this server is a window. The screen can have other sizes then.
  ///   - name: the display of a server that has ended, in the form of DISPLAY; nil for any free one.
  ///   - depth: the number of bits of a pixel, for a server that is no window.
  ///   - options: further options of the server.
  init(
    managesWindows: Bool = true, by manager: WindowManager = .openbox, size: String = "1280x800", depth: Int = 24,
    in outer: XServer? = nil, named name: String? = nil, options: [String] = []
  ) async throws {
    self.manager = managesWindows ? manager : nil
    stateFolder = try TemporaryFolder()
    self.outer = outer
    // The server chooses a free display and prints its number to its standard output. Other users may connect, such as
    // the one that runs sway.
    server =
      if let outer {
        try RunningProgram(
          "/usr/bin/Xephyr",
          ["-displayfd", "1", "-screen", size, "-resizeable", "-nolisten", "tcp", "-noreset", "-ac"],
          environment: ["DISPLAY": outer.display])
      } else {
        try RunningProgram(
          "/usr/bin/Xvfb",
          (name.map { [$0] } ?? [])
            + ["-displayfd", "1", "-screen", "0", "\(size)x\(depth)", "-nolisten", "tcp", "-noreset", "-ac"] + options)
      }
    let line = await server.firstLine()
    display = ":" + (try #require(line, "the X server did not start"))
    if managesWindows { programs = try await manager.start(on: self, in: stateFolder) }
  }

  deinit {
    stop()
  }

  func stop() {
    // Without the server, window managers end by themselves.
    server.stop()
    for case let program as RunningProgram in programs { program.stop() }
  }

  /// The process ID of the window manager; nil where none runs.
  var managerProcess: Int32? { (programs.last as? RunningProgram)?.processIdentifier }

  /// The process ID of the server.
  var processIdentifier: Int32 { server.processIdentifier }

  /// A display that is this process's own. A server that chooses its display takes the first one without a listener,
  /// also if there is a lock file: in a test that ends a server, a program that connects later would find another
  /// test's server there.
  static let ownName = ":\(1000 + Int(getpid()) % 50_000)"

  /// Removes the files of a server that was killed.
  func forgetName() {
    for path in ["/tmp/.X\(display.dropFirst())-lock", "/tmp/.X11-unix/X\(display.dropFirst())"] {
      try? FileManager.default.removeItem(atPath: path)
    }
  }

  /// The environment of programs that show windows on this server.
  var environment: [String: String] {
    ["DISPLAY": display, "GDK_BACKEND": "x11", "XDG_STATE_HOME": stateFolder.url.path, "NO_AT_BRIDGE": "1"]
  }

  /// Runs a tool and returns its output.
  @discardableResult
  func tool(_ name: String, _ arguments: String...) async throws -> String {
    let program = try RunningProgram("/usr/bin/\(name)", arguments, environment: environment)
    let result = try await program.result(seconds: 30)
    // After a crash, missing output would look as if something were not there.
    #expect(!result.wasKilled, "\(name) \(arguments) crashed with signal \(result.status)")
    return result.output
  }

  func start(_ name: String, _ arguments: String...) throws -> RunningProgram {
    try RunningProgram("/usr/bin/\(name)", arguments, environment: environment)
  }

  // MARK: - Windows

  struct Window: Equatable {
    let id: String
    let x: Int
    let y: Int
    let width: Int
    let height: Int
    let title: String
    /// The name of the window's icon. That of a picture-in-picture window contains its streams.
    var iconName = ""
  }

  /// The windows that the window manager knows, without their frames.
  func windows() async throws -> [Window] {
    // The test does not use wmctrl, which in Debian 13 crashes when a window has no WM_CLIENT_MACHINE.
    let known = try await tool("xprop", "-root", "_NET_CLIENT_LIST").split { $0 == " " || $0 == "," || $0 == "\n" }
    let line =
      /\s*(?<id>0x[0-9a-f]+) "(?<title>.*)": \(.*\)\s+(?<width>\d+)x(?<height>\d+)\S+\s+\+(?<x>-?\d+)\+(?<y>-?\d+)\s*/
    var windows = try await tool("xwininfo", "-root", "-tree").split(separator: "\n").compactMap { text -> Window? in
      guard let match = text.wholeMatch(of: line), known.contains(match.id), let x = Int(match.x), let y = Int(match.y),
        let width = Int(match.width), let height = Int(match.height)
      else { return nil }
      return Window(id: String(match.id), x: x, y: y, width: width, height: height, title: String(match.title))
    }
    for index in windows.indices where windows[index].title == "Picture-in-Picture" {
      let property = try await properties(windows[index], "-notype", "_NET_WM_ICON_NAME")
      if let name = property.firstMatch(of: /= "(.*)"/)?.1 { windows[index].iconName = String(name) }
    }
    return windows
  }

  /// Waits for a window whose title or icon name begins with `title`.
  func window(_ title: String) async throws -> Window {
    var found: Window?
    _ = try await eventually {
      found = try await self.windows().first { $0.title.hasPrefix(title) || $0.iconName.hasPrefix(title) }
      return found != nil
    }
    let all = try await windows()
    return try #require(found, "no window \"\(title)\" among \(all)")
  }

  func properties(_ window: Window, _ names: String...) async throws -> String {
    let program = try RunningProgram("/usr/bin/xprop", ["-id", window.id] + names, environment: environment)
    return try await program.result(seconds: 30).output
  }

  /// The windows from the lowest to the highest.
  func stackingOrder() async throws -> [Int] {
    try await tool("xprop", "-root", "_NET_CLIENT_LIST_STACKING").split { !$0.isHexDigit && $0 != "x" }
      .compactMap { $0.hasPrefix("0x") ? Int($0.dropFirst(2), radix: 16) : nil }
  }

  func activeWindowTitle() async throws -> String {
    try await tool("xdotool", "getactivewindow", "getwindowname").trimmingCharacters(in: .whitespacesAndNewlines)
  }

  // MARK: - Pointer, keys, pictures

  func drag(from start: (x: Int, y: Int), to end: (x: Int, y: Int)) async throws {
    try await tool("xdotool", "mousemove", "\(start.x)", "\(start.y)", "mousedown", "1")
    for step in 1...10 {
      let x = start.x + (end.x - start.x) * step / 10
      let y = start.y + (end.y - start.y) * step / 10
      try await tool("xdotool", "mousemove", "\(x)", "\(y)")
    }
    try await tool("xdotool", "mouseup", "1")
  }

  /// Clicks on a picture-in-picture window, which takes the keyboard only then.
  func giveKeyboard(to window: Window) async throws {
    try await tool("xdotool", "mousemove", "\(window.x + window.width / 2)", "\(window.y + 20)", "click", "1")
    #expect(
      try await eventually {
        try await Int(tool("xdotool", "getwindowfocus").trimmingCharacters(in: .whitespacesAndNewlines))
          == Int(window.id.dropFirst(2), radix: 16)
      })
  }

  func key(_ name: String) async throws {
    try await tool("xdotool", "key", name)
  }

  /// A screenshot of the whole screen, or of a window with everything that covers it.
  func screenshot(of window: String = "root") async throws -> BGRAImage {
    try await Self.screenshot(of: window, environment: environment)
  }

  /// - Parameter environment: the environment for a server, which may belong to another process.
  static func screenshot(of window: String = "root", environment: [String: String]) async throws -> BGRAImage {
    let folder = try TemporaryFolder()
    let path = folder.path("screen.ppm")
    let program = try RunningProgram(
      "/usr/bin/import", ["-window", window, "-depth", "8", path], environment: environment)
    let result = try await program.result(seconds: 30)
    let errors = result.errors
    try #require(result.status == 0, "\(errors)")
    return try await PictureFile.decoded(path)
  }
}
