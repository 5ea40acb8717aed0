import CGStreamer
import PipSink

/// The GStreamer plugin `pipsink`, and the registration of its elements in a Swift program that links them instead.
public enum PipSinkPlugin {
  static let name = "pipsink"
  static let filterName = "pipsinkfilter"
  static let summary = "Picture-in-picture for video: shows streams in an app's window or in one above all others"

  /// Registers the elements `pipsink` and `pipsinkfilter` in this process, for a program that links PipSink. Pipeline
  /// descriptions may then contain `... ! pipsink stream-id=remote-1`. In the pipeline of a ``VideoEngine`` the element
  /// `pipsink` is a stream, as an appsink is: the engine takes its frames, and only its properties `stream-id`,
  /// `video-direction`, `rate-limit` and `process` have an effect. `pipsinkfilter` runs processors on a stream before
  /// it is sent. The program must run the main actor (``PipSinkWindows/MainLoop``). The call may come from any thread,
  /// and further calls do nothing.
  ///
  /// - Throws: ``PipSinkError/System/gstreamerUnavailable(reason:)``.
  public static func register() throws(PipSinkError) {
    try PipSink.initialize()
    guard registerElements(nil) else {
      throw .system(.gstreamerUnavailable(reason: "the elements \(name) and \(filterName) cannot be registered"))
    }
    guard PipSinkElement.isOwn else { return }
    StreamElement.register(
      PipSinkElement.type, streamID: { PipSinkElement.state(of: UnsafeMutableRawPointer($0)).streamID },
      deliver: { PipSinkElement.state(of: UnsafeMutableRawPointer($0)).deliver(to: $1) })
  }

  /// - Parameter plugin: the plugin that the elements belong to; nil to register them for this program alone.
  private static func registerElements(_ plugin: OpaquePointer?) -> Bool {
    [(name, PipSinkElement.type), (filterName, PipSinkFilterElement.type)].allSatisfy { name, type in
      gst_element_register(plugin, name, GST_RANK_NONE.rawValue, type) != 0
    }
  }

  /// Makes the description that GStreamer reads when it loads the plugin. GStreamer does that once, and keeps the
  /// description for as long as the process lives.
  static func makeDescription() -> UnsafePointer<GstPluginDesc> {
    // While the plugin is initialised, GStreamer has a handler of its own for SIGSEGV.
    if !MainActorHost.sharesSwiftRuntime { HostSignals.giveBack() }
    let description = UnsafeMutablePointer<GstPluginDesc>.allocate(capacity: 1)
    var content = GstPluginDesc()
    content.major_version = Int32(GST_VERSION_MAJOR)
    content.minor_version = Int32(GST_VERSION_MINOR)
    content.name = permanent(name)
    content.description = permanent(summary)
    content.plugin_init = { plugin in
      MainActorHost.install()
      return PipSinkPlugin.registerElements(plugin) ? 1 : 0
    }
    content.version = permanent(PipSink.version)
    content.license = permanent("Apache 2.0")
    content.source = permanent("pipsink")
    content.package = permanent("PipSink")
    content.origin = permanent("PipSink")
    description.initialize(to: content)
    return UnsafePointer(description)
  }
}

/// The entry point of the plugin. GStreamer derives the name of this function from the name of the plugin's file.
@c(gst_plugin_pipsink_get_desc)
public func pluginDescription() -> UnsafePointer<GstPluginDesc> { PipSinkPlugin.makeDescription() }

/// Copies a text for C code that keeps a pointer to it. The copy lives as long as the process.
func permanent(_ text: String) -> UnsafePointer<CChar> { UnsafePointer(g_intern_string(text)) }
