import CGStreamer
import PipSink

/// What an element tells its application: a signal and an element message on the bus, of one name and with the same
/// values. They come on the main actor's thread.
enum ElementSignal {
  case willStart
  /// From the request to the first picture; none where no picture came in time. The signal has nanoseconds.
  case didStart(latency: Duration?)
  case failed(PipSinkError)
  case willStop(reason: String)
  case didStop(reason: String)
  /// Another stream of the session is shown, or will be.
  case sourceChanged(from: StreamID, to: StreamID)
  case restoreUserInterface
  /// In pixels.
  case renderSizeChanged(PictureSize)
  /// The user chose a control that is the application's business.
  case action(PictureInPictureAction)

  private typealias Declaration = (name: String, values: [(name: String, value: ElementValue)])

  private var declaration: Declaration {
    switch self {
    case .willStart: ("pip-will-start", [])
    case .didStart(let latency):
      ("pip-did-start", [("latency", .unsigned(latency?.wholeNanoseconds ?? UInt64(PIPSINK_CLOCK_TIME_NONE)))])
    case .failed(let error): ("pip-failed", [("reason", .text(error.description))])
    case .willStop(let reason): ("pip-will-stop", [("reason", .text(reason))])
    case .didStop(let reason): ("pip-did-stop", [("reason", .text(reason))])
    case .sourceChanged(let old, let new): ("pip-source-changed", [("from", .text(old)), ("to", .text(new))])
    case .restoreUserInterface: ("restore-user-interface", [])
    case .renderSizeChanged(let size):
      ("render-size-changed", [("width", .unsigned(UInt64(size.width))), ("height", .unsigned(UInt64(size.height)))])
    case .action(let action): ("pip-action", [("action", .text(action.rawValue))])
    }
  }

  /// One of each, for its name and types.
  private static let examples: [ElementSignal] = [
    .willStart, .didStart(latency: nil), .failed(.pictureInPictureCancelled), .willStop(reason: ""),
    .didStop(reason: ""), .sourceChanged(from: "", to: ""), .restoreUserInterface,
    .renderSizeChanged(PictureSize(width: 1, height: 1)), .action(.close),
  ]

  private typealias Handler = @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void

  private static let actions: [(name: String, handler: Handler)] = [
    ("start-pip", { element, _ in ElementSignal.request(.start, of: element) }),
    ("stop-pip", { element, _ in ElementSignal.request(.stop, of: element) }),
    ("toggle-pip", { element, _ in ElementSignal.request(.toggle, of: element) }),
  ]

  private static func request(_ request: SessionRequest, of element: UnsafeMutableRawPointer?) {
    if let element { PipSinkElement.state(of: element).perform(request) }
  }

  /// To be called when the element's class is made.
  static func install(on type: GType) {
    for signal in examples {
      let declaration = signal.declaration
      var types = declaration.values.map(\.value.type)
      g_signal_newv(
        declaration.name, type, G_SIGNAL_RUN_LAST, nil, nil, nil, nil, ElementValue.noType, guint(types.count), &types)
    }
    for action in actions {
      let closure = g_cclosure_new(unsafeBitCast(action.handler, to: GCallback.self), nil, nil)
      g_signal_newv(
        action.name, type, GSignalFlags(rawValue: G_SIGNAL_RUN_LAST.rawValue | G_SIGNAL_ACTION.rawValue), closure, nil,
        nil, nil, ElementValue.noType, 0, nil)
    }
  }

  /// Whether the application has connected to a signal of this kind.
  func isConnected(on element: ElementReference) -> Bool {
    let signal = g_signal_lookup(declaration.name, PipSinkElement.type)
    return element.use { g_signal_has_handler_pending($0, signal, 0, 0) != 0 } ?? false
  }

  /// - Parameters:
  ///   - streamID: of the stream that it is about.
  func emit(on element: ElementReference, session: String, streamID: StreamID) {
    let declaration = declaration
    element.use { element in
      var values = [GValue()] + declaration.values.map { $0.value.makeValue() }
      g_value_init(&values[0], PipSinkElement.type)
      g_value_set_object(&values[0], element)
      g_signal_emitv(&values, g_signal_lookup(declaration.name, PipSinkElement.type), 0, nil)
      for index in values.indices { g_value_unset(&values[index]) }
      guard let structure = gst_structure_new_empty(declaration.name) else { return }
      let all = [("session", .text(session)), ("stream-id", .text(streamID))] + declaration.values
      for (name, value) in all { value.set(name, in: structure) }
      let object = UnsafeMutableRawPointer(element).assumingMemoryBound(to: GstObject.self)
      gst_element_post_message(element, gst_message_new_element(object, structure))
    }
  }
}

extension Duration {
  fileprivate var wholeNanoseconds: UInt64 { UInt64((self / .nanoseconds(1)).rounded()) }
}
