import CGStreamer
import PipSink
import PipSinkGTK4
import PipSinkWindows

/// A request of an element to its session. The raw value is the action signal with which the application makes it.
enum SessionRequest: String, CaseIterable {
  case start = "start-pip"
  case stop = "stop-pip"
  case toggle = "toggle-pip"
  case initialize = "init-pip"
  case uninitialize = "uninit-pip"
  case focus = "focus-pip"
}

/// The part of one element in a session, from the element's start to its stop.
final class SessionMember: Sendable {
  let streamID: StreamID
  let element: ElementReference
  /// The layer that shows the stream in the app.
  let layer: SampleBufferDisplayLayer
  let chain: ProcessorChain
  let session: ElementSession
  /// Tells the elements before this one how large its pictures have to be.
  let upstream: UpstreamDemand?
  private let box: Locked<ElementSettings>
  private let window = Locked(ApplicationWindow())
  private let playback: Locked<ElementPlayback>
  private let paintableBox: Locked<VideoPaintable?>
  private let balancing = Locked(())
  private let hasStalled = Locked(false)
  private let isAtEnd = Locked(false)

  /// The window of the application in which the stream may be shown.
  private struct ApplicationWindow {
    var handle = WindowHandle()
    /// The access of the renderer that draws in the window.
    var access: WindowAccess?
    var hasLeft = false
  }

  init(
    streamID: StreamID, element: ElementReference, settings: Locked<ElementSettings>,
    playback: Locked<ElementPlayback>, paintable: Locked<VideoPaintable?>, processors: [any FrameProcessor],
    session: ElementSession
  ) {
    self.streamID = streamID
    self.element = element
    self.session = session
    box = settings
    self.playback = playback
    paintableBox = paintable
    window.withLock { $0.handle = settings.withLock { $0.window } }
    layer = SampleBufferDisplayLayer(name: streamID.rawValue)
    session.router.setLayer(layer, for: streamID)
    chain = ProcessorChain(processors, next: session.router.input(for: streamID))
    upstream = element.use { instance in
      let sink = UnsafeMutableRawPointer(instance).assumingMemoryBound(to: GstBaseSink.self)
      return UpstreamDemand(before: sink.pointee.sinkpad) { [element] _, refusal in
        guard let refusal else { return }
        element.post("The stream is decoded while it is hidden.", refusal, isWarning: true)
      }
    }
  }

  /// How large the stream's pictures have to be, as the session's engine has it.
  var demand: StreamDemand { session.engine.info(of: streamID)?.demand ?? .hidden }

  /// Notifies the application of another demand.
  func notify(of demand: StreamDemand) {
    element.notify("wanted-width")
    element.notify("wanted-height")
    emit(.demandChanged(demand))
  }

  /// Notifies the application of another state of the stream.
  func note(_ state: StreamPlayState) {
    let wasStalled = hasStalled.exchange(state == .stalled)
    if state == .stalled, !wasStalled { emit(.stalled) }
    if state == .playing, wasStalled { emit(.resumed) }
  }

  /// Notifies the application of what the pointer does on its overlay in picture-in-picture.
  func note(_ event: PointerEvent) { emit(.pointer(event)) }

  private func emit(_ signal: ElementSignal) {
    signal.emit(on: element, session: session.name, streamID: streamID)
  }

  /// Whether the element's stream is paused.
  var isPaused: Bool { playback.withLock(\.standsStill) }

  /// Whether the element's pipeline plays. Then all elements of that pipeline have started.
  var isPlaying: Bool { playback.withLock(\.isPlaying) }

  /// Whether the element's stream is muted.
  var isMuted: Bool { askElement(\.isMuted) }

  /// Whether ``toggleMute()`` has an effect.
  var canMute: Bool { askElement(\.canMute) }

  func toggleMute() {
    element.use { PipSinkElement.state(of: $0).toggleMute() }
  }

  private func askElement(_ question: (ElementState) -> Bool) -> Bool {
    element.use { question(PipSinkElement.state(of: $0)) } ?? false
  }

  /// Updates the session and its windows after a change of ``isPaused`` or ``isMuted``.
  func notePlayback() {
    updateGap()
    session.post(for: self) { $0.updatePlayback() }
  }

  /// The paintable in which a GTK 4 application shows the stream; nil while no application holds one. Tools that only
  /// inspect the element's properties release it at once.
  var paintable: VideoPaintable? { paintableBox.withLock { $0.flatMap { $0.isShared ? $0 : nil } } }

  var settings: ElementSettings { box.withLock { $0 } }
  var renderStatistics: RenderStatistics? { session.router.renderStatistics(of: streamID) }

  /// The stream that the element's requests show in picture-in-picture.
  var wantedStreamID: StreamID { settings.pictureInPictureStreamID ?? streamID }

  /// Applies the settings on the main actor, later.
  func apply() {
    session.post(for: self) { $0.apply(self) }
  }

  /// Applies the settings' colour balance to the stream's pictures, also to the picture that is shown.
  func applyColorBalance() {
    // The lock makes the newest settings the last ones that reach the router.
    balancing.withLock { _ in session.router.setColorBalance(settings.colorBalance, for: streamID) }
  }

  func perform(_ request: SessionRequest) {
    if session.surface == .none {
      return emit(.failedToStart(.pictureInPicture(.unsupported(reason: "the session has no surface"))))
    }
    session.post(for: self) { $0.perform(request, for: self) }
  }

  /// Notes that the stream has ended, or that it continues after its end.
  func noteEnd(_ hasEnded: Bool) {
    isAtEnd.withLock { $0 = hasEnded }
    updateGap()
    session.post(for: self) { $0.note(self, hasEnded: hasEnded) }
  }

  /// Says to the router, in place of a session where there is none, which gaps are no freezes.
  private func updateGap() {
    guard session.surface == .none else { return }
    session.router.setGapExpected(isPaused || isAtEnd.withLock { $0 }, of: streamID)
  }

  func leave() {
    upstream?.end()
    leaveWindow { $0.hasLeft = true }
    session.leave(self)
  }

  // MARK: - The application's window

  /// Changes the application's window for the stream. When this returns, nothing is drawn in the previous window any
  /// more, and the application may destroy it, unless the display server does not answer.
  func change(_ handle: WindowHandle) {
    leaveWindow { $0.handle = handle }
  }

  private func leaveWindow(_ change: (inout ApplicationWindow) -> Void) {
    let access = window.withLock { window in
      let handle = window.handle
      change(&window)
      guard window.hasLeft || window.handle != handle else { return WindowAccess?.none }
      defer { window.access = nil }
      return window.access
    }
    // The presenting thread uses the window for as long as drawing a picture takes. It never waits for the thread that
    // waits here.
    access?.revoke()
  }

  /// Makes the access for a renderer that draws in the application's window; nil when that window must not be used any
  /// more.
  func accessToWindow(_ handle: WindowHandle) -> WindowAccess? {
    window.withLock { window in
      guard !window.hasLeft, window.handle == handle else { return nil }
      let access = WindowAccess()
      window.access = access
      return access
    }
  }

  /// Posts a warning that other processes cannot control the session, and why.
  func warnOfNoBus(_ reason: String) {
    element.post("The session cannot be controlled by D-Bus.", reason, isWarning: true)
  }

  /// Notifies the application of an event, if applications are notified of its kind.
  ///
  /// - Parameter id: the stream that the event is about; nil for the element's own stream.
  func emit(_ event: PictureInPictureEvent, of id: StreamID? = nil) {
    ElementSignal(event)?.emit(on: element, session: session.name, streamID: id ?? streamID)
  }

  /// Asks the application to draw its window, so that the pictures appear in their new place.
  func askForDrawing() {
    emit(.drawWindow)
  }

  /// Sets a property after a request or an action of the user, and notifies of its change.
  func note<Value: Equatable & Sendable>(
    _ setting: WritableKeyPath<ElementSettings, Value> & Sendable, _ value: Value, as property: String
  ) {
    let isNew = box.exchange(setting, value) != value
    if isNew { element.notify(property) }
  }

  func note(_ mode: ElementMode) { note(\.mode, mode, as: "mode") }
}
