import PipSink

/// What an element asks its session for.
enum SessionRequest {
  case start
  case stop
  case toggle
}

/// One element's part in a session, from its start to its stop.
final class SessionMember: Sendable {
  let streamID: StreamID
  let element: ElementReference
  /// In the app.
  let layer: SampleBufferDisplayLayer
  let chain: ProcessorChain
  let session: Session
  private let box: Locked<ElementSettings>

  init(
    streamID: StreamID, element: ElementReference, settings: Locked<ElementSettings>,
    processors: [any FrameProcessor], session: Session
  ) {
    self.streamID = streamID
    self.element = element
    self.session = session
    box = settings
    layer = SampleBufferDisplayLayer(name: streamID)
    chain = ProcessorChain(processors, next: session.router.addStream(streamID, inApp: layer))
  }

  var settings: ElementSettings { box.withLock { $0 } }
  var statistics: StreamStatistics? { session.router.statistics(of: streamID) }

  /// The stream that the element's requests are about.
  var wantedStreamID: StreamID { settings.pictureInPictureStreamID ?? streamID }

  /// Has the main actor do what the settings say now.
  func apply() {
    session.post { $0.apply(self) }
  }

  func perform(_ request: SessionRequest) {
    if session.surface == .none {
      return emit(.failed(.pictureInPictureUnsupported(reason: "the session has no surface")))
    }
    session.post { $0.perform(request, for: self) }
  }

  func leave() { session.leave(self) }

  func emit(_ signal: ElementSignal) {
    signal.emit(on: element, session: session.name, streamID: streamID)
  }

  /// What came of a request, or of what the user did.
  func note(_ mode: ElementMode) {
    let isNew = box.withLock { settings in
      defer { settings.mode = mode }
      return settings.mode != mode
    }
    if isNew { element.notify(.mode) }
  }
}
