import CGIO
import PipSink

/// A value on the bus, with one of the types that the interfaces use.
indirect enum BusValue: Equatable, Sendable {
  case string(String)
  case objectPath(String)
  case bool(Bool)
  case unsigned(UInt64)
  case unsigned32(UInt32)
  case signed(Int64)
  case double(Double)
  case strings([String])
  case signed32(Int32)
  case tuple([BusValue])
  /// Values that all have the type with this signature.
  case array(of: String, [BusValue])
  /// A dictionary with string keys, whose values have the type with this signature.
  case dictionary(of: String, [String: BusValue])
  case variant(BusValue)

  /// A number as 32-bit unsigned integer.
  static func count(_ number: Int) -> BusValue { .unsigned32(UInt32(clamping: number)) }

  /// A stream's ID; an empty string for no stream.
  static func stream(_ id: StreamID?) -> BusValue { .string(id?.rawValue ?? "") }

  /// One value for each stream, with the type of this signature.
  static func streams(of signature: String, _ values: [(StreamID, BusValue)]) -> BusValue {
    .dictionary(of: signature, Dictionary(uniqueKeysWithValues: values.map { ($0.rawValue, $1) }))
  }

  /// A dictionary of variants (`a{sv}`).
  static func variants(_ values: [String: BusValue]) -> BusValue {
    .dictionary(of: "v", values.mapValues(BusValue.variant))
  }

  /// Reads a value; nil for one of another type.
  ///
  /// - Parameter variant: borrowed for the time of the call.
  init?(_ variant: OpaquePointer) {
    switch String(cString: g_variant_get_type_string(variant)) {
    case "s": self = .string(String(cString: g_variant_get_string(variant, nil)))
    case "o": self = .objectPath(String(cString: g_variant_get_string(variant, nil)))
    case "b": self = .bool(g_variant_get_boolean(variant) != 0)
    case "u": self = .unsigned32(g_variant_get_uint32(variant))
    case "i": self = .signed32(g_variant_get_int32(variant))
    case "(so)": self = .tuple(Self.children(of: variant))
    case "x": self = .signed(Int64(g_variant_get_int64(variant)))
    case "d": self = .double(g_variant_get_double(variant))
    case "v":
      guard let value = Self.children(of: variant).first else { return nil }
      self = .variant(value)
    case "a{sv}":
      let entries = (0..<g_variant_n_children(variant)).map { index in
        let entry = g_variant_get_child_value(variant, index)
        defer { g_variant_unref(entry) }
        return Self.children(of: entry)
      }
      // An entry whose value has a type of another kind is left out.
      let pairs = entries.compactMap { entry -> (String, BusValue)? in
        guard entry.count == 2, case .string(let key) = entry[0] else { return nil }
        return (key, entry[1])
      }
      self = .dictionary(of: "v", Dictionary(pairs) { $1 })
    default: return nil
    }
  }

  /// The values in a tuple or a variant.
  ///
  /// - Parameter container: borrowed for the time of the call.
  static func children(of container: OpaquePointer?) -> [BusValue] {
    (0..<(container.map(g_variant_n_children) ?? 0)).compactMap { index in
      guard let child = g_variant_get_child_value(container, index) else { return nil }
      defer { g_variant_unref(child) }
      return BusValue(child)
    }
  }

  /// The value as a floating GVariant, which belongs to whoever uses it first.
  func makeVariant() -> OpaquePointer? {
    switch self {
    case .string(let text): Self.makeString(text)
    case .objectPath(let path): g_variant_new_object_path(path)
    case .bool(let value): g_variant_new_boolean(value ? 1 : 0)
    case .unsigned(let value): g_variant_new_uint64(guint64(value))
    case .unsigned32(let value): g_variant_new_uint32(value)
    case .signed(let value): g_variant_new_int64(gint64(value))
    case .double(let value): g_variant_new_double(value)
    case .signed32(let value): g_variant_new_int32(value)
    case .tuple(let values): Self.makeTuple(values)
    case .array(let type, let values): Self.makeArray(of: type, values.map { $0.makeVariant() })
    case .strings(let texts): Self.makeArray(of: "s", texts.map(Self.makeString))
    case .variant(let value): g_variant_new_variant(value.makeVariant())
    case .dictionary(let type, let values):
      Self.makeArray(
        of: "{s\(type)}",
        // The keys are sorted, since the order of a Swift dictionary differs from one to another.
        values.sorted { $0.key < $1.key }.map { key, value in
          g_variant_new_dict_entry(Self.makeString(key), value.makeVariant())
        })
    }
  }

  /// The results of a method, or the arguments of a signal.
  static func makeTuple(_ values: [BusValue]) -> OpaquePointer? {
    var children = values.map { $0.makeVariant() }
    return g_variant_new_tuple(&children, gsize(children.count))
  }

  /// A string in which NUL characters are replaced. D-Bus does not allow them, and the C string would end at one.
  private static func makeString(_ text: String) -> OpaquePointer? {
    guard text.utf8.contains(0) else { return g_variant_new_string(text) }
    let visible = String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == "\0" ? "\u{FFFD}" : $0 }))
    return g_variant_new_string(visible)
  }

  private static func makeArray(of signature: String, _ elements: [OpaquePointer?]) -> OpaquePointer? {
    let type = g_variant_type_new(signature)
    defer { g_variant_type_free(type) }
    var elements = elements
    return g_variant_new_array(type, &elements, gsize(elements.count))
  }
}
