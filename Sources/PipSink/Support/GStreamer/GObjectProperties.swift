import CGStreamer

/// Properties of elements by their names; GStreamer's own calls for them are variadic, which Swift does not import.
extension UnsafeMutablePointer where Pointee == GstElement {
  private var asGObject: UnsafeMutablePointer<GObject> {
    UnsafeMutableRawPointer(self).assumingMemoryBound(to: GObject.self)
  }

  func hasProperty(_ name: String, _ type: GType) -> Bool {
    let object = UnsafeMutableRawPointer(self)
    // As G_OBJECT_GET_CLASS does it.
    let kind = object.load(as: UnsafeMutablePointer<GObjectClass>.self)
    return g_object_class_find_property(kind, name)?.pointee.value_type == type
  }

  func property<Value>(_ name: String, _ read: (inout GValue) -> Value) -> Value {
    var value = GValue()
    defer { g_value_unset(&value) }
    g_object_get_property(asGObject, name, &value)
    return read(&value)
  }

  /// - Parameter type: what the property has, by ``hasProperty(_:_:)``.
  func setProperty(_ name: String, _ type: GType, _ write: (inout GValue) -> Void) {
    var value = GValue()
    g_value_init(&value, type)
    defer { g_value_unset(&value) }
    write(&value)
    g_object_set_property(asGObject, name, &value)
  }
}
