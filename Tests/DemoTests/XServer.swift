import Foundation
import Testing

@testable import PipSink

/// An X server without a screen, with a window manager in it, and the tools that a user has to look at windows.
final class XServer {
  let display: String
  private let outer: XServer?
  private let server: RunningProgram
  private var windowManager: RunningProgram?
  /// Where programs in it remember things.
  private let stateFolder: TemporaryFolder

  /// Whether the programs are there; where they are not, tests say that they are skipped.
  static var isInstalled: Bool {
    ["Xvfb", "Xephyr", "openbox", "xprop", "xdotool", "wmctrl", "import", "xclock", "xrandr", "xkill"].allSatisfy {
      FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)")
    }
  }

  /// - Parameters:
  ///   - outer: the server is a window of that one, and its screen can have other sizes.
  ///   - name: as in DISPLAY, of one that has gone; nil for any that is free.
  init(
    managesWindows: Bool = true, size: String = "1280x800", in outer: XServer? = nil, named name: String? = nil
  ) async throws {
    stateFolder = try TemporaryFolder()
    self.outer = outer
    // The server chooses a free display and says which on its standard output. Other users may connect, as sway's does.
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
            + ["-displayfd", "1", "-screen", "0", "\(size)x24", "-nolisten", "tcp", "-noreset", "-ac"])
      }
    let line = await server.firstLine()
    display = ":" + (try #require(line, "the X server did not start"))
    guard managesWindows else { return }
    windowManager = try RunningProgram("/usr/bin/openbox", ["--sm-disable"], environment: ["DISPLAY": display])
    // openbox says that it is there before it manages windows; when it obeys, it does.
    let isManaging = try await eventually {
      try await self.tool("wmctrl", "-n", "2")
      return try await self.tool("xprop", "-root", "_NET_NUMBER_OF_DESKTOPS").contains("= 2")
    }
    try #require(isManaging)
  }

  deinit {
    stop()
  }

  func stop() {
    windowManager?.stop()
    server.stop()
  }

  /// Of the server's process.
  var processIdentifier: Int32 { server.processIdentifier }

  /// Ends it, and keeps others from starting one of the same name before ``forgetName()``.
  func stopKeepingName() {
    // Servers leave a number alone whose lock names a process that lives.
    try? "\(String(repeating: " ", count: max(0, 10 - "\(getpid())".count)))\(getpid())\n".write(
      toFile: "/tmp/.X\(display.dropFirst())-lock", atomically: false, encoding: .utf8)
    stop()
  }

  func forgetName() {
    for path in ["/tmp/.X\(display.dropFirst())-lock", "/tmp/.X11-unix/X\(display.dropFirst())"] {
      try? FileManager.default.removeItem(atPath: path)
    }
  }

  /// For programs that are to show windows on it.
  var environment: [String: String] {
    ["DISPLAY": display, "GDK_BACKEND": "x11", "XDG_STATE_HOME": stateFolder.url.path, "NO_AT_BRIDGE": "1"]
  }

  /// What a tool prints.
  @discardableResult
  func tool(_ name: String, _ arguments: String...) async throws -> String {
    let program = try RunningProgram("/usr/bin/\(name)", arguments, environment: environment)
    let result = try await program.result(seconds: 30)
    // What it has not printed would be taken for what is not there.
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
    /// The name of its icon: a picture-in-picture window's has its streams.
    var iconName = ""
  }

  /// The windows that the window manager knows, without their frames.
  func windows() async throws -> [Window] {
    // Not by wmctrl, which in Debian 13 crashes where a window has no WM_CLIENT_MACHINE.
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

  /// Waits for a window whose title or icon name begins so.
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

  /// From the lowest to the highest.
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

  func key(_ name: String) async throws {
    try await tool("xdotool", "key", name)
  }

  /// What is on the screen, or in a window with what covers it.
  func screenshot(of window: String = "root") async throws -> BGRAImage {
    try await Self.screenshot(of: window, environment: environment)
  }

  /// - Parameter environment: a server's, which may be another process's.
  static func screenshot(of window: String = "root", environment: [String: String]) async throws -> BGRAImage {
    let folder = try TemporaryFolder()
    let path = folder.path("screen.png")
    let program = try RunningProgram("/usr/bin/import", ["-window", window, path], environment: environment)
    let result = try await program.result(seconds: 30)
    let errors = result.errors
    try #require(result.status == 0, "\(errors)")
    return try await PNG.decoded(path)
  }
}

/// Asks again until `condition` holds.
///
/// - Returns: false when it does not within `seconds`.
func eventually(
  seconds: Double = 30, isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Bool
) async throws -> Bool {
  let deadline = ContinuousClock.now + .seconds(seconds)
  while try await !condition() {
    if ContinuousClock.now > deadline { return false }
    try await Task.sleep(for: .milliseconds(20))
  }
  return true
}

extension BGRAImage {
  func cropped(x: Int, y: Int, width: Int, height: Int) -> BGRAImage {
    let part = [UInt8](unsafeUninitializedCapacity: width * height * 4) { part, count in
      bytes.withUnsafeBytes { all in
        for row in 0..<height {
          memcpy(part.baseAddress! + row * width * 4, all.baseAddress! + ((y + row) * size.width + x) * 4, width * 4)
        }
      }
      count = width * height * 4
    }
    return BGRAImage(size: PictureSize(width: width, height: height), bytes: part)
  }
}
