import CGStreamer
import PipSink

/// The plugin `pipsink`, and the way for a Swift program to have its element without it.
public enum PipSinkPlugin {
  static let name = "pipsink"
  static let filterName = "pipsinkfilter"
  static let summary = "Picture-in-picture for video: shows streams in an app's window or in one above all others"

  /// Makes the element `pipsink` known in this process, for a program that links PipSink: descriptions may say
  /// `... ! pipsink stream-id=remote-1` then. In a ``VideoEngine``'s it is a stream as an appsink is one: the engine takes
  /// its frames, and of its properties `stream-id`, `video-direction`, `rate-limit` and `process` count. The program
  /// runs the main actor (``PipSinkWindows/MainLoop``). The element `pipsinkfilter`, which runs processors on a stream
  /// before it is sent, is known then, too. Further calls do nothing.
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

  /// - Parameter plugin: whose they are; nil for the program's own.
  private static func registerElements(_ plugin: OpaquePointer?) -> Bool {
    [(name, PipSinkElement.type), (filterName, PipSinkFilterElement.type)].allSatisfy { name, type in
      gst_element_register(plugin, name, GST_RANK_NONE.rawValue, type) != 0
    }
  }

  /// What GStreamer reads when it loads the plugin, which it does once; it keeps it as long as the process lives.
  static func makeDescription() -> UnsafePointer<GstPluginDesc> {
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

/// The plugin's entry. GStreamer makes its name from the file's.
@c(gst_plugin_pipsink_get_desc)
public func pluginDescription() -> UnsafePointer<GstPluginDesc> { PipSinkPlugin.makeDescription() }

/// A copy of a text that lives as long as the process, for what C keeps a pointer to.
func permanent(_ text: String) -> UnsafePointer<CChar> { UnsafePointer(g_intern_string(text)) }
