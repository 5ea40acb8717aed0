import CGStreamer
import PipSink
import PipSinkWindows

/// Turns pointer and key events of the windows into GStreamer's navigation events, whose coordinates are pixels of the
/// frame.
@MainActor
enum ElementNavigation {
  private static let noModifiers = GstNavigationModifierType(rawValue: 0)

  /// - Parameter surface: the size of the surface that the pointer is on, in pixels.
  static func send(_ event: PointerEvent, on surface: PictureSize, to member: SessionMember) {
    guard let latest = member.session.router.latestSampleBuffer(of: member.streamID) else { return }
    guard let (x, y) = event.position else { return }
    let place = member.layer.videoGravity.pixel(
      at: (x, y), of: surface, in: latest.formatDescription, visible: latest.pixelBuffer.visibleRect,
      orientation: latest.orientation)
    let navigation: UnsafeMutablePointer<GstEvent>?
    switch event {
    case .moved: navigation = gst_navigation_event_new_mouse_move(place.x, place.y, noModifiers)
    case .pressed(let button, _, _):
      navigation = gst_navigation_event_new_mouse_button_press(gint(button), place.x, place.y, noModifiers)
    case .released(let button, _, _):
      navigation = gst_navigation_event_new_mouse_button_release(gint(button), place.x, place.y, noModifiers)
    case .scrolled(_, _, let deltaX, let deltaY):
      navigation = gst_navigation_event_new_mouse_scroll(place.x, place.y, deltaX, deltaY, noModifiers)
    case .left: return
    }
    send(navigation, to: member)
  }

  /// Sends a key by its X11 name, as GStreamer expects.
  static func send(key: WindowKey, to member: SessionMember) {
    // GStreamer's numbers of modifiers are those of the X protocol.
    if let name = key.name { send(key: name, GstNavigationModifierType(rawValue: key.modifiers), to: member) }
  }

  /// - Parameter key: the X11 name of the key.
  static func send(key: String, _ modifiers: GstNavigationModifierType = noModifiers, to member: SessionMember) {
    send(gst_navigation_event_new_key_press(key, modifiers), to: member)
  }

  private static func send(_ event: UnsafeMutablePointer<GstEvent>?, to member: SessionMember) {
    guard let event else { return }
    guard member.settings.handlesEvents else { return gst_event_unref(event) }
    if member.element.use({ gst_navigation_send_event_simple(OpaquePointer($0), event) }) == nil {
      gst_event_unref(event)
    }
  }
}
