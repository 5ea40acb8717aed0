import CGStreamer

package enum GObjectTypeName {
  /// `name`, or that with a number. A process may hold PipSink twice, once linked and once in the plugin, and the names
  /// of GObject types are the process's.
  package static func unused(_ name: String) -> String {
    guard g_type_from_name(name) != 0 else { return name }
    var number = 2
    while g_type_from_name("\(name)\(number)") != 0 { number += 1 }
    return "\(name)\(number)"
  }
}
