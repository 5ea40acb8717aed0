import CGStreamer
import Foundation
import GstPipSink
import Testing

/// What GObject and GStreamer report about the elements, in the notation of their manual page.
enum Introspection {
  struct Property {
    let name: String
    /// The property's name, type, range and default.
    let description: String
    /// The names of the enumeration's values.
    let values: [String]
  }

  struct Signal {
    let name: String
    let types: [String]
    /// Whether the application emits the signal.
    let isAction: Bool
  }

  // The values of G_PARAM_READABLE, G_PARAM_WRITABLE, GST_PARAM_MUTABLE_READY and G_SIGNAL_ACTION. When several of the
  // C modules that contain GObject are imported, Swift finds no constants of its enumerations. The third one is a macro
  // with a cast.
  private static let isReadable: UInt32 = 1 << 0
  private static let isWritable: UInt32 = 1 << 1
  private static let isMutableWhenReady: UInt32 = 1 << 10
  private static let isAction: UInt32 = 1 << 5

  /// The names of PipSink's elements.
  static func elements() throws -> [String] {
    try PipSinkPlugin.register()
    let list = gst_registry_get_feature_list(gst_registry_get(), gst_element_factory_get_type())
    defer { gst_plugin_feature_list_free(list) }
    var names: Set<String> = []
    var next = list
    while let item = next {
      let object = item.pointee.data.assumingMemoryBound(to: GstObject.self)
      // Other tests of the process register elements whose names begin with "pipsinktest".
      if let name = object.pointee.name.map({ String(cString: $0) }), name.hasPrefix("pipsink"),
        !name.hasPrefix("pipsinktest")
      {
        names.insert(name)
      }
      next = item.pointee.next
    }
    return names.sorted()
  }

  private static func withElement<Result>(
    _ name: String, _ body: (UnsafeMutablePointer<GstElement>, GType) throws -> Result
  ) throws -> Result {
    let element = try #require(gst_element_factory_make(name, nil))
    gst_object_ref_sink(element)
    defer { gst_object_unref(element) }
    let type = UnsafeMutableRawPointer(element).assumingMemoryBound(to: GTypeInstance.self).pointee.g_class.pointee
      .g_type
    return try body(element, type)
  }

  /// The properties that an element adds to those of its parent.
  static func properties(of name: String) throws -> [Property] {
    try withElement(name) { element, type in
      let objectClass = UnsafeMutableRawPointer(element).assumingMemoryBound(to: GTypeInstance.self).pointee.g_class
      var count: guint = 0
      let list = UnsafeMutableRawPointer(try #require(objectClass)).withMemoryRebound(
        to: GObjectClass.self, capacity: 1
      ) {
        g_object_class_list_properties($0, &count)
      }
      defer { g_free(list) }
      return (0..<Int(count)).compactMap { index in
        // The owner is the element's type, or an interface that the parent does not have.
        guard let specification = list?[index], g_type_is_a(g_type_parent(type), specification.pointee.owner_type) == 0
        else { return nil }
        return property(specification)
      }
    }
  }

  private static func property(_ specification: UnsafeMutablePointer<GParamSpec>) -> Property? {
    let name = String(cString: specification.pointee.name)
    var words: [String] = []
    var values: [String] = []
    // An overriding property redirects to the interface's property.
    let target = g_param_spec_get_redirect_target(specification) ?? specification
    let raw = UnsafeMutableRawPointer(target)
    let kind = String(
      cString: g_type_name(raw.assumingMemoryBound(to: GTypeInstance.self).pointee.g_class.pointee.g_type))
    switch kind {
    case "GParamString":
      words = ["string"]
      if let value = raw.assumingMemoryBound(to: GParamSpecString.self).pointee.default_value {
        words.append("default \"\(String(cString: value))\"")
      }
    case "GParamBoolean":
      let value = raw.assumingMemoryBound(to: GParamSpecBoolean.self).pointee.default_value
      words = ["boolean", "default \(value != 0)"]
    case "GParamInt":
      let own = raw.assumingMemoryBound(to: GParamSpecInt.self).pointee
      words = ["integer", "\(own.minimum) to \(own.maximum)", "default \(own.default_value)"]
    case "GParamUInt":
      let own = raw.assumingMemoryBound(to: GParamSpecUInt.self).pointee
      words = ["integer", "\(own.minimum) to \(own.maximum)", "default \(own.default_value)"]
    case "GParamUInt64":
      let own = raw.assumingMemoryBound(to: GParamSpecUInt64.self).pointee
      words = ["unsigned", "\(own.minimum) to \(own.maximum)", "default \(own.default_value)"]
    case "GParamDouble":
      let own = raw.assumingMemoryBound(to: GParamSpecDouble.self).pointee
      let numbers = [own.minimum, own.maximum, own.default_value].map { String(format: "%g", $0) }
      words = ["number", "\(numbers[0]) to \(numbers[1])", "default \(numbers[2])"]
    case "GParamFraction", "GstParamFraction":
      let own = raw.assumingMemoryBound(to: GstParamSpecFraction.self).pointee
      words = [
        "fraction", "\(own.min_num)/\(own.min_den) to \(own.max_num)/\(own.max_den)",
        "default \(own.def_num)/\(own.def_den)",
      ]
    case "GParamEnum":
      let own = raw.assumingMemoryBound(to: GParamSpecEnum.self).pointee
      let all = UnsafeBufferPointer(start: own.enum_class.pointee.values, count: Int(own.enum_class.pointee.n_values))
      values = all.map { String(cString: $0.value_nick) }
      let value = all.first { $0.value == own.default_value }.map { String(cString: $0.value_nick) } ?? ""
      words = ["enumeration", "default \"\(value)\""]
    case "GParamBoxed":
      let type = specification.pointee.value_type
      words = [type == gst_structure_get_type() ? "structure" : String(cString: g_type_name(type))]
    case "GParamObject": words = ["object"]
    case "GstParamArray": words = ["array"]
    default: words = [kind]
    }
    let flags = UInt32(truncatingIfNeeded: specification.pointee.flags.rawValue)
    if flags & isWritable == 0 { words.append("read only") }
    if flags & isReadable == 0 { words.append("write only") }
    if flags & isMutableWhenReady != 0 { words.append("before PAUSED") }
    return Property(name: name, description: "\(name) (\(words.joined(separator: ", ")))", values: values)
  }

  static func signals(of name: String) throws -> [Signal] {
    try withElement(name) { _, type in
      var count: guint = 0
      let ids = g_signal_list_ids(type, &count)
      defer { g_free(ids) }
      return (0..<Int(count)).compactMap { index -> Signal? in
        guard let id = ids?[index] else { return nil }
        var query = GSignalQuery()
        g_signal_query(id, &query)
        let types = (0..<Int(query.n_params)).map { String(cString: g_type_name(query.param_types[$0])) }
        return Signal(
          name: String(cString: query.signal_name), types: types,
          isAction: query.signal_flags.rawValue & isAction != 0)
      }
    }
  }

  /// The names of the fields of `stats`.
  static func statistics(of name: String) throws -> [String] {
    try withElement(name) { element, _ in
      var value = GValue()
      g_value_init(&value, gst_structure_get_type())
      defer { g_value_unset(&value) }
      UnsafeMutableRawPointer(element).withMemoryRebound(to: GObject.self, capacity: 1) {
        g_object_get_property($0, "stats", &value)
      }
      let structure = try #require(gst_value_get_structure(&value))
      return (0..<guint(gst_structure_n_fields(structure))).map {
        String(cString: gst_structure_nth_field_name(structure, $0))
      }
    }
  }
}
