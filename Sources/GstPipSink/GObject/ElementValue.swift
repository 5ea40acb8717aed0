import CGStreamer

/// A value in a signal, in a message on the bus, or in an element's statistics.
enum ElementValue {
  case text(String)
  case unsigned(UInt64)
  case flag(Bool)
  case number(Double)

  var type: GType {
    switch self {
    case .text: PIPSINK_TYPE_STRING
    case .unsigned: PIPSINK_TYPE_UINT64
    case .flag: PIPSINK_TYPE_BOOLEAN
    case .number: PIPSINK_TYPE_DOUBLE
    }
  }

  /// Makes a GValue, which the caller must unset.
  func makeValue() -> GValue {
    var value = GValue()
    g_value_init(&value, type)
    switch self {
    case .text(let text): g_value_set_string(&value, text)
    case .unsigned(let number): g_value_set_uint64(&value, guint64(number))
    case .flag(let isSet): g_value_set_boolean(&value, isSet ? 1 : 0)
    case .number(let number): g_value_set_double(&value, number)
    }
    return value
  }

  func set(_ name: String, in structure: UnsafeMutablePointer<GstStructure>) {
    var value = makeValue()
    gst_structure_take_value(structure, name, &value)
  }
}
