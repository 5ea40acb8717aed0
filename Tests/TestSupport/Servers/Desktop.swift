import Foundation
import Testing

@testable import PipSink

/// A desktop whose screen belongs to an X server, so that a test can look at it and move a pointer in it as a user
/// does.
protocol DesktopServer: AnyObject {
  /// The X server that has the desktop's screen.
  var screen: XServer { get }
  var size: PictureSize { get }
  /// The environment of programs that show windows on this desktop.
  var environment: [String: String] { get }
  /// - Parameter number: the number of the workspace, counted from 1.
  func showWorkspace(_ number: Int) async throws
  func stop()
}

enum Desktop: String, CaseIterable, CustomTestStringConvertible {
  case openbox
  case sway
  case kwin = "KWin"
  case mutter

  var testDescription: String { rawValue }

  var isInstalled: Bool {
    switch self {
    case .openbox: XServer.isInstalled
    case .sway: WaylandServer.isInstalled(.sway)
    case .kwin: KWinServer.isInstalled
    case .mutter: GNOMEServer.isInstalled
    }
  }

  func start() async throws -> any DesktopServer {
    switch self {
    case .openbox: try await XServer()
    case .sway: try await WaylandServer(.sway)
    case .kwin: try await KWinServer()
    case .mutter: try await GNOMEServer()
    }
  }
}

extension XServer: DesktopServer {
  var screen: XServer { self }
  var size: PictureSize { PictureSize(width: 1280, height: 800) }

  func showWorkspace(_ number: Int) async throws { try await manager?.showWorkspace(number, on: self) }
}

extension WaylandServer: DesktopServer {
  var screen: XServer { outer }
  var size: PictureSize { PictureSize(width: 1024, height: 768) }

  func showWorkspace(_ number: Int) async throws {
    try await swaymsg("workspace", "\(number)")
  }
}

extension GNOMEServer: DesktopServer {
  var screen: XServer { outer }
  var size: PictureSize { PictureSize(width: 1280, height: 800) }

  func showWorkspace(_ number: Int) async throws {
    // As a user would, the test presses the key again when the workspace has not changed.
    for _ in 0..<6 {
      try await outer.key(number == 1 ? "super+Home" : "super+Page_Down")
      if try await eventually(within: 5, { try await currentWorkspace() == number }) { return }
    }
    Issue.record("GNOME does not show workspace \(number), but \(try await currentWorkspace() ?? 0)")
  }

  /// The number of the workspace that is shown, as X11 programs see it.
  private func currentWorkspace() async throws -> Int? {
    let result = try await RunningProgram(
      "/usr/bin/xprop", ["-root", "-notype", "_NET_CURRENT_DESKTOP"], environment: environment
    ).result(seconds: 30)
    return result.output.split(separator: " ").last.flatMap {
      Int($0.trimmingCharacters(in: .whitespacesAndNewlines))
    }.map { $0 + 1 }
  }
}

extension KWinServer: DesktopServer {
  var screen: XServer { outer }
  var size: PictureSize { PictureSize(width: 1280, height: 800) }
}

/// A window of another program. It is green while it has the focus and blue otherwise.
struct OtherWindow {
  enum State: String {
    case normal
    case maximised
    case fullscreen
  }

  private let program: RunningProgram

  init(_ state: State, on desktop: any DesktopServer) throws {
    let script = """
      import sys
      import gi
      gi.require_version("Gdk", "3.0")
      gi.require_version("Gtk", "3.0")
      from gi.repository import Gdk, Gtk
      window = Gtk.Window(title="Other")
      window.set_default_size(1000, 700)
      window.add_events(Gdk.EventMask.SCROLL_MASK)
      window.connect("scroll-event", lambda *_: print("scrolled", file=sys.stderr, flush=True))
      window.connect("key-press-event", lambda _, key: print("key", Gdk.keyval_name(key.keyval), file=sys.stderr, flush=True))
      style = Gtk.CssProvider()
      style.load_from_data(b"window { background: #00ff00; } window:backdrop { background: #0000ff; }")
      Gtk.StyleContext.add_provider_for_screen(Gdk.Screen.get_default(), style, 800)
      {"normal": window.present, "maximised": window.maximize, "fullscreen": window.fullscreen}[sys.argv[1]]()
      window.show_all()
      Gtk.main()
      """
    program = try RunningProgram(
      "/usr/bin/python3", ["-c", script, state.rawValue], environment: desktop.environment)
  }

  var errors: String { program.errors }

  /// Whether the program has received an event of the wheel.
  var hasScrolled: Bool { errors.contains("scrolled") }

  /// The keys that the program has received.
  var keys: [String] {
    errors.split(separator: "\n").filter { $0.hasPrefix("key ") }.map { String($0.dropFirst(4)) }
  }

  func stop() {
    program.stop()
  }
}
