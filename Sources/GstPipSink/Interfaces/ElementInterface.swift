import CGStreamer
import PipSink

/// The GStreamer interfaces that the element `pipsink` implements.
enum ElementInterface {
  /// Adds the interfaces to the element's type. It is called when the type is registered.
  static func install(on type: GType) {
    add(gst_video_direction_get_type(), to: type)
    add(gst_video_overlay_get_type(), to: type) { interface, _ in
      guard let overlay = interface?.assumingMemoryBound(to: GstVideoOverlayInterface.self) else { return }
      overlay.pointee.set_window_handle = { element, handle in
        ElementInterface.state(element)?.set { $0.window.number = UInt(handle) }
      }
      overlay.pointee.set_render_rectangle = { element, x, y, width, height in
        // -1 stands for the whole window.
        let rectangle = PictureRect(x: Int(x), y: Int(y), width: Int(width), height: Int(height))
        ElementInterface.state(element)?.set { $0.renderRectangle = width > 0 && height > 0 ? rectangle : nil }
      }
      overlay.pointee.expose = { element in ElementInterface.state(element)?.member?.layer.redraw() }
      overlay.pointee.handle_events = { element, handles in
        ElementInterface.state(element)?.set { $0.handlesEvents = handles != 0 }
      }
    }
    add(gst_color_balance_get_type(), to: type) { interface, _ in
      if let balance = interface?.assumingMemoryBound(to: GstColorBalanceInterface.self) {
        ElementColorBalance.install(balance)
      }
    }
    add(gst_navigation_get_type(), to: type) { interface, _ in
      guard let navigation = interface?.assumingMemoryBound(to: GstNavigationInterface.self) else { return }
      navigation.pointee.send_event = { element, structure in
        guard let event = gst_event_new_navigation(structure) else { return }
        ElementInterface.send(event, from: element)
      }
      navigation.pointee.send_event_simple = { element, event in
        if let event { ElementInterface.send(event, from: element) }
      }
    }
  }

  private static func add(_ interface: GType, to type: GType, _ initialize: GInterfaceInitFunc? = nil) {
    var info = GInterfaceInfo(interface_init: initialize, interface_finalize: nil, interface_data: nil)
    g_type_add_interface_static(type, interface, &info)
  }

  private static func state(_ element: OpaquePointer?) -> ElementState? {
    element.map { PipSinkElement.state(of: UnsafeMutableRawPointer($0)) }
  }

  /// Sends a navigation event upstream, and posts it on the bus when no element there has handled it. Takes ownership
  /// of the event.
  private static func send(_ event: UnsafeMutablePointer<GstEvent>, from element: OpaquePointer?) {
    guard let element else { return gst_event_unref(event) }
    let pointer = UnsafeMutableRawPointer(element)
    let sink = pointer.assumingMemoryBound(to: GstBaseSink.self)
    gst_event_ref(event)
    if gst_pad_push_event(sink.pointee.sinkpad, event) == 0 {
      let object = pointer.assumingMemoryBound(to: GstObject.self)
      gst_element_post_message(
        pointer.assumingMemoryBound(to: GstElement.self), gst_navigation_message_new_event(object, event))
    }
    gst_event_unref(event)
  }
}
