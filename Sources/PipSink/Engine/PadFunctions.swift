import CGStreamer

/// Functions that a sink pad calls before and after its own: to answer queries, and to see events.
///
/// Pad probes would do it too, but each costs every buffer a walk through the pad's hooks. The pad owns it. Called on
/// whatever thread the pad's own functions are; those for serialised events on the streaming thread.
final class PadFunctions: Sendable {
  typealias Pad = UnsafeMutablePointer<GstPad>
  typealias Event = UnsafeMutablePointer<GstEvent>
  typealias Query = UnsafeMutablePointer<GstQuery>

  private let query: GstPadQueryFunction?
  private let event: GstPadEventFunction?
  private let answer: @Sendable (Query, Pad) -> Bool
  private let before: @Sendable (Event) -> Void
  private let after: @Sendable (GstEventType, Pad) -> Void

  private init(
    _ pad: Pad, answer: @escaping @Sendable (Query, Pad) -> Bool, before: @escaping @Sendable (Event) -> Void,
    after: @escaping @Sendable (GstEventType, Pad) -> Void
  ) {
    query = pad.pointee.queryfunc
    event = pad.pointee.eventfunc
    self.answer = answer
    self.before = before
    self.after = after
  }

  /// - Parameters:
  ///   - answer: returns whether it has answered the query; otherwise the pad does.
  ///   - before: gets every serialised event before the pad, on the streaming thread. The others (a flush beginning)
  ///     come from any thread, in the middle of a frame.
  ///   - after: gets the type of every event that the pad has taken.
  static func install(
    onSinkPadOf element: GstElementPointer, answer: @escaping @Sendable (Query, Pad) -> Bool = { _, _ in false },
    before: @escaping @Sendable (Event) -> Void = { _ in },
    after: @escaping @Sendable (GstEventType, Pad) -> Void = { _, _ in }
  ) {
    guard let pad = gst_element_get_static_pad(element, "sink") else { return }
    defer { gst_object_unref(pad) }
    let functions = PadFunctions(pad, answer: answer, before: before, after: after)
    gst_pad_set_query_function_full(
      pad,
      { pad, parent, query in
        guard let pad, let query, let context = pad.pointee.querydata else { return 0 }
        let functions = PadFunctions.at(context)
        return functions.answer(query, pad) ? 1 : functions.query?(pad, parent, query) ?? 0
      }, Unmanaged.passRetained(functions).toOpaque(), release)
    gst_pad_set_event_function_full(
      pad,
      { pad, parent, event in
        guard let pad, let event, let context = pad.pointee.eventdata else { return 0 }
        let functions = PadFunctions.at(context)
        let type = event.pointee.type
        if type.isSerialized { functions.before(event) }
        let isTaken = functions.event?(pad, parent, event) ?? 0
        if isTaken != 0 { functions.after(type, pad) }
        return isTaken
      }, Unmanaged.passRetained(functions).toOpaque(), release)
  }

  private static func at(_ context: UnsafeMutableRawPointer) -> PadFunctions {
    Unmanaged<PadFunctions>.fromOpaque(context).takeUnretainedValue()
  }

  private static let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { context in
    if let context { Unmanaged<PadFunctions>.fromOpaque(context).release() }
  }
}

extension GstEventType {
  /// Whether events of this type come between the buffers, on the streaming thread (under the pad's stream lock).
  package var isSerialized: Bool { rawValue & GST_EVENT_TYPE_SERIALIZED.rawValue != 0 }
}
