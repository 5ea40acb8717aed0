import CGStreamer
import PipSink
import PipSinkWindows

/// A notification of an element to its application: a signal and an element message on the bus, with the same name and
/// the same values. Both are sent on the main actor's thread.
struct ElementSignal {
  let name: String
  private let values: [(name: String, value: ElementValue)]

  private init(_ name: String, _ values: (name: String, value: ElementValue)...) {
    (self.name, self.values) = (name, values)
  }

  /// - Returns: nil for events that applications are not notified of.
  init?(_ event: PictureInPictureEvent) {
    switch event {
    case .willStart: self.init("pip-will-start")
    // The signal's latency is in nanoseconds.
    case .didStart(let latency):
      let nanoseconds = latency.map { UInt64(clamping: $0.wholeNanoseconds) } ?? UInt64(PIPSINK_CLOCK_TIME_NONE)
      self.init("pip-did-start", ("latency", .unsigned(nanoseconds)))
    case .failedToStart(let error): self.init("pip-failed", ("reason", .text(error.description)))
    case .willStop(let reason): self.init("pip-will-stop", ("reason", .text(reason.name)))
    case .didStop(let reason): self.init("pip-did-stop", ("reason", .text(reason.name)))
    case .sourceChanged(let old, let new):
      self.init("pip-source-changed", ("from", .text(old.rawValue)), ("to", .text(new.rawValue)))
    case .restoreUserInterface: self.init("restore-user-interface")
    case .restoreFailed(let error): self.init("restore-failed", ("reason", .text(error.description)))
    case .renderSizeChanged(let size):
      self.init(
        "render-size-changed", ("width", .unsigned(UInt64(size.width))), ("height", .unsigned(UInt64(size.height))))
    case .layoutChanged(let layout): self.init("pip-layout-changed", ("layout", .text(layout.rawValue)))
    case .clickThroughChanged(let isClickThrough):
      self.init("pip-click-through-changed", ("click-through", .flag(isClickThrough)))
    case .action(let action): self.init("pip-action", ("action", .text(action.name)))
    case .stateChanged, .suspendedChanged: return nil
    }
  }

  /// Tells the application that another size is enough for those who see the stream.
  static func demandChanged(_ demand: StreamDemand) -> ElementSignal {
    let (width, height) = demand.limit
    return ElementSignal(
      "demand-changed", ("width", .unsigned(UInt64(width))), ("height", .unsigned(UInt64(height))))
  }

  /// Tells the application that the place of the pictures has changed in a window that only the application draws. They
  /// are visible there from its next drawing on.
  static let drawWindow = ElementSignal("draw-window")

  /// Tells the application what the pointer does on its overlay in picture-in-picture.
  static func pointer(_ event: PointerEvent) -> ElementSignal {
    let (name, button) =
      switch event {
      case .moved: ("moved", 0)
      case .pressed(let button, _, _): ("pressed", button)
      case .released(let button, _, _): ("released", button)
      case .scrolled: ("scrolled", 0)
      case .left: ("left", 0)
      }
    let place = event.position ?? (0, 0)
    return ElementSignal(
      "pip-pointer", ("event", .text(name)), ("x", .number(place.x)), ("y", .number(place.y)),
      ("button", .unsigned(UInt64(clamping: button))))
  }

  /// Tells the application that no frame of the stream has come for too long.
  static let stalled = ElementSignal("stalled")
  /// Tells the application that a stream which has stalled plays again.
  static let resumed = ElementSignal("resumed")

  /// An example of each event, from which the name and the types of its signal are taken.
  private static let examples: [PictureInPictureEvent] = [
    .willStart, .didStart(latency: nil), .failedToStart(.pictureInPicture(.cancelled)), .willStop(.requested),
    .didStop(.requested), .sourceChanged(from: "", to: ""), .restoreUserInterface,
    .restoreFailed(.pictureInPicture(.cancelled)), .renderSizeChanged(PictureSize(width: 1, height: 1)),
    .action(.close), .layoutChanged(.single), .clickThroughChanged(true),
  ]

  /// Registers the signals. It is called when the element's class is initialized.
  static func install(on type: GType) {
    let others = [drawWindow, demandChanged(.hidden), pointer(.left), stalled, resumed]
    for signal in examples.compactMap({ ElementSignal($0) }) + others {
      var types = signal.values.map(\.value.type)
      g_signal_newv(
        signal.name, type, G_SIGNAL_RUN_LAST, nil, nil, nil, nil, PIPSINK_TYPE_NONE, guint(types.count), &types)
    }
    // Action signals, which an application emits to request something. The closure's data is the index of the request.
    let handler: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void = { element, place in
      if let element { PipSinkElement.state(of: element).perform(SessionRequest.allCases[Int(bitPattern: place)]) }
    }
    for (place, request) in SessionRequest.allCases.enumerated() {
      let closure = g_cclosure_new(
        unsafeBitCast(handler, to: GCallback.self), UnsafeMutableRawPointer(bitPattern: place), nil)
      g_signal_newv(
        request.rawValue, type, GSignalFlags(rawValue: G_SIGNAL_RUN_LAST.rawValue | G_SIGNAL_ACTION.rawValue), closure,
        nil, nil, nil, PIPSINK_TYPE_NONE, 0, nil)
    }
  }

  /// Whether the application has connected to a signal.
  static func isConnected(_ name: String, on element: ElementReference) -> Bool {
    let signal = g_signal_lookup(name, PipSinkElement.type)
    return element.use { g_signal_has_handler_pending($0, signal, 0, 0) != 0 } ?? false
  }

  /// - Parameter streamID: the stream that the notification is about.
  func emit(on element: ElementReference, session: String, streamID: StreamID) {
    element.use { element in
      var values = [GValue()] + self.values.map { $0.value.makeValue() }
      g_value_init(&values[0], PipSinkElement.type)
      g_value_set_object(&values[0], element)
      g_signal_emitv(&values, g_signal_lookup(name, PipSinkElement.type), 0, nil)
      for index in values.indices { g_value_unset(&values[index]) }
      guard let structure = gst_structure_new_empty(name) else { return }
      let all = [("session", .text(session)), ("stream-id", .text(streamID.rawValue))] + self.values
      for (name, value) in all { value.set(name, in: structure) }
      let object = UnsafeMutableRawPointer(element).assumingMemoryBound(to: GstObject.self)
      gst_element_post_message(element, gst_message_new_element(object, structure))
    }
  }
}

extension PictureInPictureStopReason {
  /// The name of the reason in signals and messages.
  fileprivate var name: String {
    switch self {
    case .requested: "requested"
    case .backToApp: "back-to-app"
    case .closed: "closed"
    case .foreground: "foreground"
    case .sourceEnded: "source-ended"
    case .failed(let error): "failed: \(error)"
    case .uninitialized: "uninitialized"
    }
  }
}
