import PipSink
import PipSinkGTK4
import PipSinkWindows

/// What an element asks its session for, with the signal by which its application does.
enum SessionRequest: String, CaseIterable {
  case start = "start-pip"
  case stop = "stop-pip"
  case toggle = "toggle-pip"
  case initialize = "init-pip"
  case uninitialize = "uninit-pip"
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
  private let window = Locked(ApplicationWindow())
  private let playback: Locked<ElementPlayback>
  private let paintableBox: Locked<VideoPaintable?>
  private let balancing = Locked(())

  /// The application's window that the stream may be shown in.
  private struct ApplicationWindow {
    var handle = WindowHandle()
    /// Whoever draws in it.
    var access: WindowAccess?
    var hasLeft = false
  }

  init(
    streamID: StreamID, element: ElementReference, settings: Locked<ElementSettings>,
    playback: Locked<ElementPlayback>, paintable: Locked<VideoPaintable?>, processors: [any FrameProcessor],
    session: Session
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
  }

  /// Whether its stream stands still.
  var isPaused: Bool { playback.withLock(\.standsStill) }

  /// Whether its pipeline plays. Then all of that pipeline's elements have started.
  var isPlaying: Bool { playback.withLock(\.isPlaying) }

  /// Whether its sound is off.
  var isMuted: Bool { askElement(\.isMuted) }

  /// Whether anything comes of ``toggleMute()``.
  var canMute: Bool { askElement(\.canMute) }

  func toggleMute() {
    element.use { PipSinkElement.state(of: $0).toggleMute() }
  }

  private func askElement(_ question: (ElementState) -> Bool) -> Bool {
    element.use { question(PipSinkElement.state(of: $0)) } ?? false
  }

  /// Has the windows show what has become of that.
  func notePlayback() {
    session.post(for: self) { $0.updatePlayback() }
  }

  /// What a GTK 4 application shows the stream in; nil while it has none. Who only looks at the element's properties, as
  /// tools do, keeps none.
  var paintable: VideoPaintable? { paintableBox.withLock { $0.flatMap { $0.isShared ? $0 : nil } } }

  var settings: ElementSettings { box.withLock { $0 } }
  var statistics: StreamStatistics? { session.router.statistics(of: streamID) }

  /// The stream that the element's requests are about.
  var wantedStreamID: StreamID { settings.pictureInPictureStreamID ?? streamID }

  /// Has the main actor do what the settings say now.
  func apply() {
    session.post(for: self) { $0.apply(self) }
  }

  /// Has the stream's pictures, also those that are shown, have the colours that the settings say now.
  func applyColorBalance() {
    // The settings' newest word is the router's last one.
    balancing.withLock { _ in session.router.setColorBalance(settings.colorBalance, for: streamID) }
  }

  func perform(_ request: SessionRequest) {
    if session.surface == .none {
      return emit(.failedToStart(.pictureInPicture(.unsupported(reason: "the session has no surface"))))
    }
    session.post(for: self) { $0.perform(request, for: self) }
  }

  /// The stream has ended, or goes on after that.
  func noteEnd(_ hasEnded: Bool) {
    session.post(for: self) { $0.note(self, hasEnded: hasEnded) }
  }

  func leave() {
    leaveWindow { $0.hasLeft = true }
    session.leave(self)
  }

  // MARK: - The application's window

  /// The application gives the stream another window, or none. When this returns, nothing is drawn in the one
  /// before any more, and the application may destroy it; unless the display server does not answer.
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
    // The presenting thread has the window for as long as a picture takes. It never waits for whoever waits here.
    access?.revoke()
  }

  /// For whoever is to draw in the application's window; nil when that is not to be used any more.
  func accessToWindow(_ handle: WindowHandle) -> WindowAccess? {
    window.withLock { window in
      guard !window.hasLeft, window.handle == handle else { return nil }
      let access = WindowAccess()
      window.access = access
      return access
    }
  }

  /// Tells the application why other processes cannot control the session.
  func warnOfNoBus(_ reason: String) {
    element.post("The session cannot be controlled by D-Bus.", reason, isWarning: true)
  }

  /// Tells the application, if it is something that applications are told.
  ///
  /// - Parameter id: the stream that it is about; nil for the element's own.
  func emit(_ event: PictureInPictureEvent, of id: StreamID? = nil) {
    ElementSignal(event)?.emit(on: element, session: session.name, streamID: id ?? streamID)
  }

  /// Has the application draw its window, which shows pictures in their new place.
  func askForDrawing() {
    ElementSignal.drawWindow.emit(on: element, session: session.name, streamID: streamID)
  }

  /// What came of a request, or of what the user did.
  func note(_ mode: ElementMode) {
    let isNew = box.withLock { settings in
      defer { settings.mode = mode }
      return settings.mode != mode
    }
    if isNew { element.notify("mode") }
  }
}
