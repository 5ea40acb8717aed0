import Foundation
import Testing

@testable import PipSink
@testable import TestSupport

/// Tests of the element in programs of all kinds. Its windows work whatever main loop the program has, and without one.
@Suite(
  .enabled(if: Plugin.isUsable, "a plugin with a sanitizer cannot be loaded"),
  .enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"))
struct HostProgramTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test func aProgramInCThatOnlySleepsHasAWorkingWindow() async throws {
    let source = Demo.root.appendingPathComponent("Tests/GstPipSinkTests/host-sleep.c").path
    let path = folder.path("host-sleep")
    let command = "cc -Wall -Werror -o \(path) \(source) $(pkg-config --cflags --libs gstreamer-1.0)"
    let compiler = try await RunningProgram("/bin/sh", ["-c", command]).result()
    try #require(compiler.status == 0, "\(compiler.errors)")
    try await expectWorkingWindow(of: path, [])
  }

  @Test(arguments: HostLoop.installed)
  func aProgramWithAMainLoopHasAWorkingWindow(loop: HostLoop) async throws {
    let script = Demo.root.appendingPathComponent("Tests/GstPipSinkTests/host-loop.py").path
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
    try await server.giveKeyboard(to: window)
    try await server.key("Escape")
    #expect(await eventually { !run.isRunning }, "the window accepted no key: \(run.errors)")
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
