import Foundation
import Testing

@testable import PipSink
@testable import TestSupport

@Suite(.enabled(if: Plugin.isUsable, "a plugin with a sanitizer cannot be loaded"))
struct PluginTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test func gstInspectDescribesTheElement() async throws {
    let program = try RunningProgram(
      "/usr/bin/gst-inspect-1.0", ["pipsink"], environment: Plugin.environment(folder))
    let result = try await program.result()
    #expect(result.status == 0, "\(result.errors)")
    for text in [
      "PipSink video sink", "Sink/Video", "P010_10LE", "GstVideoOverlay", "GstNavigation", "GstVideoDirection",
      "stream-id", "pip-second-stream-id", "memory:DMABuf",
      "auto-pip", "paused", "muted", "\"start-pip\"", "\"pip-did-start\"", "render-size-changed",
    ] {
      #expect(result.output.contains(text), "\(text)")
    }
    #expect(!result.errors.contains("CRITICAL") && !result.errors.contains("WARNING"), "\(result.errors)")
  }

  @Test func gstInspectDescribesTheFilter() async throws {
    let program = try RunningProgram(
      "/usr/bin/gst-inspect-1.0", ["pipsinkfilter"], environment: Plugin.environment(folder))
    let result = try await program.result()
    #expect(result.status == 0, "\(result.errors)")
    for text in ["PipSink video filter", "Filter/Effect/Video", "GstVideoFilter", "grayscale,rotate:90", "stats"] {
      #expect(result.output.contains(text), "\(text)")
    }
    #expect(result.errors.isEmpty, "\(result.errors)")
  }

  @Test(arguments: ["", "import faulthandler; faulthandler.enable()"])
  func theHandlersOfSignalsAreThoseOfTheProgram(preparation: String) async throws {
    let script = """
      import ctypes, gi
      gi.require_version('Gst', '1.0')
      from gi.repository import Gst
      \(preparation)
      libc = ctypes.CDLL(None)
      def handlers():
        action = (ctypes.c_ulong * 32)()
        return [(libc.sigaction(n, None, action), n, action[0]) for n in range(1, 32)]
      Gst.init(None)
      before = handlers()
      assert Gst.ElementFactory.make('pipsink') and 'libgstpipsink' in open('/proc/self/maps').read()
      changed = [n for (_, n, a), (_, _, b) in zip(before, handlers()) if a != b]
      print('changed:', changed)
      """
    let program = try RunningProgram(
      "/usr/bin/env", ["-u", "SWIFT_BACKTRACE", "/usr/bin/python3", "-c", script],
      environment: Plugin.environment(folder))
    let result = try await program.result()
    #expect(result.status == 0 && result.output == "changed: []\n", "\(result.output)\(result.errors)")
  }

  @Test func theFilterWorksInAProgramThatKnowsNothingOfSwift() async throws {
    let launch = try Plugin.launch(
      "videotestsrc num-buffers=50 ! pipsinkfilter process=grayscale,rotate:90 ! x264enc ! avdec_h264 "
        + "! video/x-raw,width=240,height=320 ! fakesink", folder)
    let result = try await launch.result()
    #expect(result.status == 0 && !result.wasKilled && result.output.contains("Got EOS"), "\(result.errors)")
  }

  @Test func aProcessorThatIsNotThereIsTheFiltersError() async throws {
    let result = try await Plugin.launch("videotestsrc ! pipsinkfilter process=blur ! fakesink", folder).result()
    #expect(result.status != 0 && result.errors.contains("there is no processor \"blur\""), "\(result.errors)")
  }

  @Test func withoutADisplayThereIsOneError() async throws {
    let result = try await Plugin.launch("videotestsrc ! pipsink stream-id=a mode=pip", folder).result()
    #expect(result.status != 0 && !result.wasKilled)
    #expect(result.errors.components(separatedBy: "ERROR: from element").count == 2, "\(result.errors)")
    #expect(result.errors.contains("no window can be shown: neither an X11 nor a Wayland display"))
  }

  @Test func withoutADisplayFramesCanBeShownInMemory() async throws {
    let launch = try Plugin.launch(
      "videotestsrc num-buffers=100 ! pipsink surface=offscreen mode=pip", folder, options: ["-m"])
    let result = try await launch.result()
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output.contains("pip-did-start"))
  }

  @Test func aStreamForPictureInPictureThatIsNotThereIsNamed() async throws {
    let result = try await Plugin.launch(
      "videotestsrc num-buffers=60 ! pipsink stream-id=a surface=offscreen mode=pip pip-stream-id=b", folder
    ).result()
    #expect(result.status == 0, "\(result.errors)")
    let all = result.output + result.errors
    #expect(all.contains("WARNING: from element") && all.contains("waits for a stream that is not there"), "\(all)")
    #expect(all.contains("there is no stream \"b\"; the streams are: a"), "\(all)")
  }

  @Test(.enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"))
  func theWindowHasTheStreamsInThePipelinesOrder() async throws {
    let server = try await XServer()
    let launch = try Plugin.launch(
      "videotestsrc pattern=red ! pipsink stream-id=b videotestsrc pattern=blue ! pipsink stream-id=a", folder,
      environment: server.environment)
    let window = try await server.window("gst-launch-1.0")
    let row = window.y + window.height / 2
    let isInOrder = try await eventually {
      let image = try await server.screenshot()
      let pixels = (window.x..<window.x + window.width).map { image.pixel($0, row) }
      guard let red = pixels.firstIndex(where: { $0[2] > 200 && $0[0] < 60 }),
        let blue = pixels.firstIndex(where: { $0[0] > 200 && $0[2] < 60 })
      else { return false }
      #expect(red < blue)
      return true
    }
    #expect(isInOrder, "\(launch.errors)")
    launch.stop()
  }

  @Test(.enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"))
  func onX11ThePictureInPictureWindowIsShownToTheEnd() async throws {
    let server = try await XServer()
    let launch = try Plugin.launch(
      "videotestsrc pattern=red num-buffers=150 ! pipsink stream-id=a mode=pip", folder,
      environment: server.environment)
    let window = try await server.window("Picture-in-Picture: a")
    #expect(try await eventually { Self.isRed(try await server.screenshot(), window.x + 20, window.y + 20) })
    #expect(try await server.properties(window, "_NET_WM_STATE").contains("_NET_WM_STATE_ABOVE"))
    #expect(try await server.windows().count == 1)
    let result = try await launch.result()
    #expect(result.status == 0 && !result.wasKilled, "\(result.errors)")
  }

  @Test(.enabled(if: WaylandServer.isInstalled(.sway), "sway, grim and root are needed"))
  func onSwayThePictureInPictureWindowIsShownToTheEnd() async throws {
    let server = try await WaylandServer(.sway)
    let launch = try Plugin.launch(
      "videotestsrc pattern=red num-buffers=150 ! pipsink stream-id=a mode=pip", folder,
      environment: server.environment)
    #expect(try await eventually { Self.isRed(try await server.screenshot(), 1024 - 100, 768 - 100) })
    let result = try await launch.result()
    #expect(result.status == 0 && !result.wasKilled, "\(result.errors)")
  }

  @Test(.enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"))
  func minimisedTheSessionShowsTheStreamThatAsksForIt() async throws {
    let server = try await XServer()
    let launch = try Plugin.launch(
      "videotestsrc ! pipsink name=one videotestsrc ! pipsink name=two auto-pip=true", folder,
      environment: server.environment)
    let window = try await server.window("gst-launch-1.0")
    #expect(
      try await eventually {
        try await server.screenshot(of: window.id).pixel(window.width / 4, window.height / 2)[1] > 100
      })
    try await server.tool("xdotool", "windowminimize", window.id)
    _ = try await server.window("Picture-in-Picture: two")
    try await server.tool("xdotool", "windowactivate", window.id)
    let title = window.title
    #expect(try await eventually { try await server.windows().map(\.title) == [title] })
    launch.stop()
  }

  @Test(.enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"))
  func theWindowsPlayButtonPausesThePipelineOfAProgramThatKnowsNothingOfIt() async throws {
    let server = try await XServer()
    let launch = try Plugin.launch(
      "videotestsrc ! pipsink stream-id=a mode=pip", folder, environment: server.environment, options: ["-m"])
    let window = try await server.window("Picture-in-Picture: a")
    try await server.giveKeyboard(to: window)
    for state in ["PAUSED", "PLAYING"] {
      let request = "Setting state to \(state) as requested by"
      #expect(
        try await eventually {
          if launch.output.contains(request) { return true }
          try await server.key("space")
          return await eventually(within: 2) { launch.output.contains(request) }
        })
      let change = "new-state=(GstState)\(state.lowercased())"
      #expect(await eventually { launch.output.contains(change) })
    }
    // Nothing in this program can mute the stream, so the key has no effect.
    try await server.key("m")
    #expect(await !eventually(within: 0.2) { launch.output.contains("action=(string)mute") })
    launch.stop()
  }

  @Test(.enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"))
  func pointerAndKeysGoUpstream() async throws {
    let server = try await XServer()
    let launch = try Plugin.launch(
      "videotestsrc ! pipsink", folder, environment: server.environment, options: ["-m"])
    let window = try await server.window("gst-launch-1.0")
    #expect(
      try await eventually {
        try await server.tool(
          "xdotool", "mousemove", "\(window.x + 300)", "\(window.y + 200)", "mousemove_relative", "5", "5", "click", "1"
        )
        return launch.output.contains("GstNavigationMessage")
      })
    // When the user closes the window, the pipeline ends.
    try await server.tool("wmctrl", "-i", "-c", window.id)
    let result = try await launch.result()
    #expect(!result.wasKilled && result.errors.contains("The window was closed"), "\(result.errors)")
  }

  @Test(
    .enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"), arguments: ["loop", "none"])
  func stateChangesFromAllThreadsEndAlsoWithWindows(mainLoop: String) async throws {
    let server = try await XServer()
    let script = Demo.root.appendingPathComponent("Tests/GstPipSinkTests/state-changes.py").path
    let program = try RunningProgram(
      "/usr/bin/python3", [script, mainLoop],
      environment: server.environment.merging(try Plugin.environment(folder)) { $1 })
    let result = try await program.result(seconds: 90)
    #expect(result.status == 0 && !result.wasKilled && result.output.contains("done"), "\(result.errors)")
    #expect(!result.errors.contains("CRITICAL"), "\(result.errors)")
  }

  private static func isRed(_ image: BGRAImage, _ x: Int, _ y: Int) -> Bool {
    let pixel = image.pixel(x, y)
    return pixel[2] > 200 && pixel[1] < 60 && pixel[0] < 60
  }
}
