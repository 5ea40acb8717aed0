import Foundation
import Testing

@testable import PipSink

/// Tests of the element in programs of all kinds. Its windows work whatever main loop the program has, and without one.
@Suite(
  .enabled(if: Plugin.isUsable, "a plugin with a sanitizer cannot be loaded"),
  .enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"))
struct HostProgramTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// The main loop of a program, by its name in `host-loop.py`.
  enum Loop: String, CaseIterable {
    case glib, gtk3, gtk4, qt6, sdl2

    /// The path in a library folder of a file that the loop needs; nil when it needs none.
    private var file: String? {
      switch self {
      case .glib: nil
      case .gtk3: "girepository-1.0/Gtk-3.0.typelib"
      case .gtk4: "girepository-1.0/Gtk-4.0.typelib"
      case .qt6: "python3/dist-packages/PyQt6/QtWidgets.abi3.so"
      case .sdl2: "libSDL2-2.0.so.0"
      }
    }

    static var installed: [Loop] {
      let root = "/usr/lib"
      let folders =
        [root] + ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).map { "\(root)/\($0)" }
      return allCases.filter { loop in
        guard let file = loop.file else { return true }
        return folders.contains { FileManager.default.fileExists(atPath: "\($0)/\(file)") }
      }
    }
  }

  @Test func aProgramInCThatOnlySleepsHasAWorkingWindow() async throws {
    let source = Demo.root.appendingPathComponent("Tests/DemoTests/host-sleep.c").path
    let path = folder.path("host-sleep")
    let command = "cc -Wall -Werror -o \(path) \(source) $(pkg-config --cflags --libs gstreamer-1.0)"
    let compiler = try await RunningProgram("/bin/sh", ["-c", command]).result()
    try #require(compiler.status == 0, "\(compiler.errors)")
    try await expectWorkingWindow(of: path, [])
  }

  @Test(arguments: Loop.installed)
  func aProgramWithAMainLoopHasAWorkingWindow(loop: Loop) async throws {
    let script = Demo.root.appendingPathComponent("Tests/DemoTests/host-loop.py").path
    try await expectWorkingWindow(of: "/usr/bin/python3", [script, loop.rawValue])
  }

  /// Expects that the window shows its picture, stays above others and accepts keys, and that the program ends without
  /// an error.
  private func expectWorkingWindow(of program: String, _ arguments: [String]) async throws {
    let server = try await XServer()
    let run = try RunningProgram(
      program, arguments,
      environment: server.environment.merging(try Plugin.environment(folder)) { $1 }.merging([
        // The X server has no OpenGL.
        "GSK_RENDERER": "cairo", "GDK_BACKEND": "x11", "SDL_VIDEODRIVER": "x11", "QT_QPA_PLATFORM": "xcb",
        "XDG_RUNTIME_DIR": folder.url.path,
      ]) { $1 })
    let window = try await server.window("Picture-in-Picture: a")
    let isShown = try await eventually {
      let pixel = try await server.screenshot().pixel(window.x + 20, window.y + 20)
      return pixel[2] > 200 && pixel[1] < 60 && pixel[0] < 60
    }
    #expect(isShown, "\(run.errors)")
    #expect(try await server.properties(window, "_NET_WM_STATE").contains("_NET_WM_STATE_ABOVE"))
    // A key that is pressed before the window has the focus is lost. When a key has worked, the window may be gone
    // before the next one.
    let hasEnded = try await eventually {
      _ = try? await server.tool("xdotool", "windowactivate", "--sync", window.id, "key", "Escape")
      return try await eventually(seconds: 2) { !run.isRunning }
    }
    #expect(hasEnded, "the window accepted no key: \(run.errors)")
    let result = try await run.result()
    #expect(result.status == 0 && !result.wasKilled && result.output.hasSuffix("done\n"), "\(result.errors)")
    #expect(!result.errors.contains("CRITICAL"), "\(result.errors)")
  }

  @Test func theDemoAndThePluginLoadNoToolkit() async throws {
    let products = URL(fileURLWithPath: Demo.path).deletingLastPathComponent()
    for file in ["pipsink-demo", "libgstpipsink.so"] {
      let result = try await RunningProgram("/usr/bin/ldd", [products.appendingPathComponent(file).path]).result()
      try #require(result.status == 0 && result.output.contains("libgstreamer-1.0.so.0"), "\(file): \(result.errors)")
      let toolkits = result.output.matches(of: /lib(?:gtk|gdk|Qt|SDL)[-\w.]*\.so/).map { String($0.0) }
      // This is an image loader. It depends on no toolkit but is named like one.
      #expect(toolkits.filter { !$0.hasPrefix("libgdk_pixbuf") }.isEmpty, "\(file): \(toolkits)")
    }
  }
}
