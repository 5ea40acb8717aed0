import Glibc
import PipSink

extension PresentProgram {
  /// The element in a widget of GTK 4's.
  static func widget(_ source: StillSource, window: PictureSize) -> PresentProgram {
    var program = widget(source, "pipsink", window: window)
    // The plugin that was built with this program, where there is one.
    let folder = ChildProcess.demo.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
    let others = getenv("GST_PLUGIN_PATH").map { ":" + String(cString: $0) } ?? ""
    program.environment["GST_PLUGIN_PATH"] = folder + others
    return PresentProgram(
      title: pipSinkTitle, program: program.program, arguments: program.arguments, environment: program.environment)
  }

  /// A sink in a widget that has the window's size, in a program that does nothing else.
  ///
  /// - Parameter elements: what the frames go through, with `%` for the window's size in caps; the last one is the sink.
  static func widget(_ source: StillSource, _ elements: String, window: PictureSize) -> PresentProgram {
    let size = "video/x-raw,width=\(window.width),height=\(window.height)"
    let pipeline = "\(source.description) ! \(elements.replacing("%", with: size)) name=sink"
    let renderer = getenv("GSK_RENDERER").map { String(cString: $0) } ?? "cairo"
    return PresentProgram(
      title: elements.replacing(" ! %", with: " (to the widget's size)"), program: "/usr/bin/python3",
      arguments: ["-c", script, pipeline, "\(window.width)", "\(window.height)"],
      environment: ["GSK_RENDERER": renderer])
  }

  /// Shows a pipeline's sink: gtksink in GTK 3, others in a GtkPicture.
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
