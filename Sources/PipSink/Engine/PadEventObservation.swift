import CGStreamer

/// A function that a sink pad calls for every event after its own.
///
/// A pad probe would do it too, but costs every buffer a walk through the pad's hooks. The pad owns it. Called on
/// whatever thread the pad's own is; for serialised events on the streaming thread.
final class PadEventObservation: Sendable {
  typealias Pad = UnsafeMutablePointer<GstPad>

  private let event: GstPadEventFunction?
  private let observer: @Sendable (GstEventType, Pad) -> Void

  private init(_ pad: Pad, observer: @escaping @Sendable (GstEventType, Pad) -> Void) {
    event = pad.pointee.eventfunc
    self.observer = observer
  }

  /// - Parameter observer: gets the type of every event that the pad has taken.
  static func install(
    onSinkPadOf element: GstElementPointer, observer: @escaping @Sendable (GstEventType, Pad) -> Void
  ) {
    guard let pad = gst_element_get_static_pad(element, "sink") else { return }
    defer { gst_object_unref(pad) }
    let observation = PadEventObservation(pad, observer: observer)
    gst_pad_set_event_function_full(
      pad,
      { pad, parent, event in
        guard let pad, let event, let context = pad.pointee.eventdata else { return 0 }
        let observation = Unmanaged<PadEventObservation>.fromOpaque(context).takeUnretainedValue()
        let type = event.pointee.type
        let isTaken = observation.event?(pad, parent, event) ?? 0
        if isTaken != 0 { observation.observer(type, pad) }
        return isTaken
      }, Unmanaged.passRetained(observation).toOpaque(),
      { context in if let context { Unmanaged<PadEventObservation>.fromOpaque(context).release() } })
  }
}

extension GstEventType {
  /// Whether events of this type come between the buffers, on the streaming thread (under the pad's stream lock).
  package var isSerialized: Bool { rawValue & GST_EVENT_TYPE_SERIALIZED.rawValue != 0 }
}
