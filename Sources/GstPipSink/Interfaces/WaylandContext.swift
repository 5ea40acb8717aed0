import CGStreamer

/// The GstContext by which an application gives the element its connection to a Wayland compositor, as it does for
/// waylandsink. The application's window handles are surfaces of that connection.
enum WaylandContext {
  /// The names of the context: waylandsink uses the first in GStreamer 1.22 and the second in 1.26, and the OpenGL
  /// elements use the second.
  private static let types = ["GstWlDisplayHandleContextType", "GstWaylandDisplayHandleContextType"]
  /// The names of the field with the pointer, in different versions of GStreamer.
  private static let fields = ["display", "handle", "wl_display"]

  /// Asks the application for its connection, with messages that it may answer before this returns.
  static func request(for element: ElementReference) {
    element.use { pointer in
      for type in types where PipSinkElement.state(of: pointer).settings.window.waylandDisplay == 0 {
        let object = UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: GstObject.self)
        gst_element_post_message(pointer, gst_message_new_need_context(object, type))
      }
    }
  }

  /// - Returns: the address of the wl_display in a context; nil for a context of another type.
  static func display(of context: OpaquePointer) -> UInt? {
    guard types.contains(where: { gst_context_has_context_type(context, $0) != 0 }),
      let structure = gst_context_get_structure(context)
    else { return nil }
    for field in fields {
      guard let value = gst_structure_get_value(structure, field), value.pointee.g_type == PIPSINK_TYPE_POINTER else {
        continue
      }
      return UInt(bitPattern: g_value_get_pointer(value))
    }
    return nil
  }
}
