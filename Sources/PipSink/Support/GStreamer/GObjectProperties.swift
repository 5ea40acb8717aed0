import CGStreamer

/// Access to properties of elements by name. GStreamer's functions for that are variadic, and Swift does not import
/// those.
extension UnsafeMutablePointer where Pointee == GstElement {
  private var asGObject: UnsafeMutablePointer<GObject> {
    UnsafeMutableRawPointer(self).assumingMemoryBound(to: GObject.self)
  }

  /// Whether the element has a property of this name whose type is exactly `type`.
  func hasProperty(_ name: String, _ type: GType) -> Bool {
    let object = UnsafeMutableRawPointer(self)
    // This is what the macro G_OBJECT_GET_CLASS does.
    let kind = object.load(as: UnsafeMutablePointer<GObjectClass>.self)
    return g_object_class_find_property(kind, name)?.pointee.value_type == type
  }

  /// Reads a property, which has to exist.
  func property<Value>(_ name: String, _ read: (inout GValue) -> Value) -> Value {
    var value = GValue()
    defer { g_value_unset(&value) }
    g_object_get_property(asGObject, name, &value)
    return read(&value)
  }

  /// Writes a property.
  ///
  /// - Parameter type: the property's type, as checked by ``hasProperty(_:_:)``.
  func setProperty(_ name: String, _ type: GType, _ write: (inout GValue) -> Void) {
    var value = GValue()
    g_value_init(&value, type)
    defer { g_value_unset(&value) }
    write(&value)
    g_object_set_property(asGObject, name, &value)
  }
}
