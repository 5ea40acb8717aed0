import Glibc
import PipSink
import PipSinkCommandLine
import PipSinkWindows

/// A program that shows a source in a window, and whose processor time is measured meanwhile.
struct PresentProgram {
  /// The name in results.
  let title: String
  let program: String
  let arguments: [String]
  var environment: [String: String] = [:]

  static let pipSinkTitle = "PipSink"

  /// - Parameter renderer: who draws the frames; nil for what the demo chooses.
  static func pipSink(_ source: StillSource, window: PictureSize, _ renderer: WindowRenderer?) -> PresentProgram {
    PresentProgram(
      title: renderer.map { "\(pipSinkTitle) by \($0.rawValue)" } ?? pipSinkTitle,
      program: "\(ThisProgram.folder)/pipsink-demo",
      arguments: [
        "play", "\(source.description) ! appsink name=a", "--surface", "window", "--window-size", "\(window)",
      ] + (renderer.map { ["--renderer", $0.rawValue] } ?? []))
  }

  /// - Parameter elements: the elements behind the source, with `%` for caps with the window's size.
  static func gstreamer(_ source: StillSource, _ elements: String, window: PictureSize) -> PresentProgram {
    let size = "video/x-raw,width=\(window.width),height=\(window.height)"
    let pipeline = "\(source.description) ! \(elements.replacing("%", with: size))"
    return PresentProgram(
      title: elements.replacing(" ! %", with: ""), program: "/usr/bin/gst-launch-1.0",
      arguments: ["-q"] + pipeline.split(separator: " ").map(String.init))
  }

  /// The same source without a window.
  static func base(_ source: StillSource) -> PresentProgram {
    gstreamer(source, "fakesink sync=true", window: source.size)
  }

  /// Runs the program, and measures the processor time of the program and of the display server.
  ///
  /// - Returns: the milliseconds of processor time in a second.
  func measure(on display: PresentDisplay, seconds: Double, in processes: OwnProcesses) async throws -> Double {
    let state = try ScratchFolder()
    defer { state.remove() }
    let process = try processes.start(
      program, arguments,
      environment: display.environment.merging(["XDG_STATE_HOME": state.path, "NO_AT_BRIDGE": "1"]) { $1 }
        .merging(environment) { $1 })
    defer { process.end() }
    // Before the measurement the window opens and the pictures begin to flow.
    try await Task.sleep(for: .seconds(min(1.5, seconds)))
    let watched = [process.processIdentifier] + [display.process].compactMap(\.self)
    let deadline = MonotonicTime.now.advanced(by: .seconds(30))
    while true {
      let (before, start) = (ProcessorTime.nanoseconds(of: watched), MonotonicTime.now)
      try await Task.sleep(for: .seconds(seconds))
      let used = ProcessorTime.nanoseconds(of: watched)
      let elapsed = start.duration(to: .now) / .seconds(1)
      guard process.isRunning else {
        throw CommandError(.failed, "\"\(title)\" ended by itself: \(process.errors)")
      }
      if used > before { return Double(used - before) / 1e6 / elapsed }
      // A program that has used no processor time has not begun.
      guard .now < deadline else {
        throw CommandError(.failed, "\"\(title)\" does nothing: \(process.errors)")
      }
    }
  }
}

// MARK: - Widgets of a toolkit

extension PresentProgram {
  /// The element `pipsink` in a widget of GTK 4.
  static func widget(_ source: StillSource, window: PictureSize) -> PresentProgram {
    var program = widget(source, "pipsink", window: window)
    // The program must find the plugin that was built with this program, if there is one.
    let others = getenv("GST_PLUGIN_PATH").map { ":" + String(cString: $0) } ?? ""
    program.environment["GST_PLUGIN_PATH"] = ThisProgram.folder + others
    return PresentProgram(
      title: pipSinkTitle, program: program.program, arguments: program.arguments, environment: program.environment)
  }

  /// A sink in a widget of the window's size, in a program that does nothing else.
  ///
  /// - Parameter elements: the elements behind the source, with `%` for caps with the window's size. The last one is
  ///   the sink.
  static func widget(_ source: StillSource, _ elements: String, window: PictureSize) -> PresentProgram {
    let size = "video/x-raw,width=\(window.width),height=\(window.height)"
    let pipeline = "\(source.description) ! \(elements.replacing("%", with: size)) name=sink"
    let renderer = getenv("GSK_RENDERER").map { String(cString: $0) } ?? "cairo"
    return PresentProgram(
      title: elements.replacing(" ! %", with: " (to the widget's size)"), program: "/usr/bin/python3",
      arguments: ["-c", script, pipeline, "\(window.width)", "\(window.height)"],
      environment: ["GSK_RENDERER": renderer])
  }

  /// A Python program that shows the sink of a pipeline: gtksink in GTK 3, and others in a GtkPicture.
  private static let script = """
    import sys
    import gi
    gi.require_version("Gst", "1.0")
    gi.require_version("Gtk", "3.0" if "gtksink" in sys.argv[1] else "4.0")
    from gi.repository import GLib, Gst, Gtk
    Gst.init(None)
    Gtk.init([]) if Gtk.MAJOR_VERSION == 3 else Gtk.init()
    pipeline = Gst.parse_launch(sys.argv[1])
    sink = pipeline.get_by_name("sink")
    width, height = int(sys.argv[2]), int(sys.argv[3])
    window = Gtk.Window(decorated=False, default_width=width, default_height=height)
    if Gtk.MAJOR_VERSION == 3:
        window.add(sink.props.widget)
        window.show_all()
    else:
        window.set_child(Gtk.Picture.new_for_paintable(sink.props.paintable))
        window.present()
    pipeline.set_state(Gst.State.PLAYING)
    GLib.MainLoop().run()
    """
}
