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

  /// Starts a Python program that shows a test picture with the element, `sink`, in picture-in-picture.
  ///
  /// - Parameters:
  ///   - source: properties of the test picture.
  ///   - sink: properties of the element.
  ///   - body: what the program does with `pipeline`, `sink` and `stats`, which returns a number of the statistics.
  private func start(
    source: String, sink: String = "", on server: XServer, _ body: String
  ) throws -> RunningProgram {
    let script = """
      import gi, signal, time
      gi.require_version("Gst", "1.0")
      from gi.repository import Gst
      Gst.init(None)
      pipeline = Gst.parse_launch(
          "videotestsrc is-live=true \(source) ! video/x-raw,width=320,height=180,framerate=30/1 "
          "! pipsink name=sink mode=pip \(sink)")
      sink = pipeline.get_by_name("sink")
      def stats(name):
          return sink.get_property("stats").get_uint64(name).value

      """
    return try RunningProgram(
      "/usr/bin/python3", ["-c", script + body],
      environment: server.environment.merging(try Plugin.environment(folder)) { $1 })
  }

  @Test func aProgramIsToldWhenItsFramesWereOnTheScreen() async throws {
    let server = try await XServer()
    let body = """
      names = ["screen-latency", "screen-latency-p99", "missed-refreshes"]
      print(*map(stats, names))
      pipeline.set_state(Gst.State.PLAYING)
      pipeline.get_bus().timed_pop_filtered(Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR)
      print(*map(stats, names))
      pipeline.set_state(Gst.State.NULL)
      """
    let result = try await start(source: "num-buffers=60", on: server, body).result(seconds: 60)
    let lines = result.output.split(separator: "\n").map { $0.split(separator: " ").compactMap { UInt64($0) } }
    try #require(lines.count == 2 && lines.allSatisfy { $0.count == 3 }, "\(result.output) \(result.errors)")
    #expect(lines[0] == [0, 0, 0])
    #expect(lines[1][0] > 0 && lines[1][1] >= lines[1][0])
  }

  /// The colour shows that there is a picture, and the count who has drawn it.
  @Test(arguments: ["auto", "cpu", "gl"])
  func theElementSaysWhoDraws(renderer: String) async throws {
    let (server, property) = (try await XServer(), renderer == "auto" ? "" : "renderer=\(renderer)")
    let body = """
      pipeline.set_state(Gst.State.PLAYING)
      while stats("pip") < 20:
          time.sleep(0.05)
      print(sink.get_property("renderer").value_nick, stats("drawn-by-opengl") > 0, flush=True)
      signal.pause()
      """
    let program = try start(source: "pattern=red", sink: property, on: server, body)
    let window = try await server.window("Picture-in-Picture: sink")
    #expect(await eventually { program.output == "\(renderer) \(renderer == "gl" ? "True" : "False")\n" })
    let pixel = try await server.screenshot(of: window.id).pixel(100, 60)
    #expect(pixel[2] > 240 && pixel[1] < 10 && pixel[0] < 10, "\(pixel)")
    program.stop()
  }

  @Test func aProgramDrawsOverPictureInPictureAndIsToldOfThePointerThere() async throws {
    let server = try await XServer()
    let script = Demo.root.appendingPathComponent("Tests/GstPipSinkTests/overlay-host.py").path
    let run = try RunningProgram(
      "/usr/bin/python3", [script], environment: server.environment.merging(try Plugin.environment(folder)) { $1 })
    let window = try await server.window("Picture-in-Picture: a")
    /// The smallest rectangle around the green pixels of the window: its left and upper edge, width and height.
    func green() async throws -> [Int] {
      let image = try await server.screenshot().cropped(
        x: window.x, y: window.y, width: window.width, height: window.height)
      let places = (0..<window.width * window.height).filter {
        image.bytes[$0 * 4..<$0 * 4 + 3].elementsEqual([0, 255, 0])
      }
      let (columns, rows) = (places.map { $0 % window.width }, places.map { $0 / window.width })
      guard let left = columns.min(), let right = columns.max(), let top = rows.min(), let bottom = rows.max() else {
        return []
      }
      return [left, top, right - left + 1, bottom - top + 1]
    }
    #expect(try await eventually { try await green() == [100, 60, 100, 50] })
    // The picture is beside it, and behind it where it ends.
    let pixel = try await server.screenshot().pixel(window.x + 98, window.y + 70)
    #expect(pixel[2] > 200 && pixel[1] < 60)
    func point(_ x: Int, _ y: Int) async throws {
      try await server.tool("xdotool", "mousemove", "\(window.x + x - 1)", "\(window.y + y)", "sleep", "0.2")
      try await server.tool("xdotool", "mousemove", "\(window.x + x)", "\(window.y + y)", "sleep", "0.2")
    }
    try await point(50, 100)
    try await point(150, 80)
    #expect(await run.wait(forText: "moved 150 80 0\n"))
    // A press that is the program's begins no drag of the window.
    try await server.tool("xdotool", "mousedown", "1")
    try await point(120, 70)
    try await server.tool("xdotool", "mouseup", "1")
    #expect(await run.wait(forText: "pressed 150 80 1\n"))
    #expect(await run.wait(forText: "released 120 70 1\n"))
    #expect(try await server.window("Picture-in-Picture: a") == window)
    #expect(!run.output.contains("moved 50 100"), "nothing of it is there: \(run.output)")
    try await server.tool("xdotool", "click", "3")
    #expect(await run.wait(forText: "pressed 120 70 3\n"))
    #expect(try await eventually { try await green().isEmpty })
    #expect(try await eventually { try await green() == [100, 60, 100, 50] }, "it was set again")
    // What an element has drawn goes with it. The window belongs to the other one.
    try await server.tool("xdotool", "click", "3")
    #expect(try await eventually { try await green().isEmpty })
    #expect(try await server.screenshot().pixel(window.x + 120, window.y + 70)[2] > 200)
    #expect(!run.errors.contains("CRITICAL"), "\(run.errors)")
    run.stop()
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
