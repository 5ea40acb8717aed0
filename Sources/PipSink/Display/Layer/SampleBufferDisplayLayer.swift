/// Shows a stream's frames on a ``VideoRenderer``, with the meaning of AVSampleBufferDisplayLayer.
///
/// Frames are handed over in a mailbox that holds one: a frame that arrives while another waits replaces it. A frame
/// waits for its time when there is a ``controlTimebase``, it has a time, and it is not marked to be displayed
/// immediately. A thread of the layer presents the frames, so that whoever enqueues them never waits for a renderer.
/// Every method may be called on every thread. The thread ends when the layer is released.
///
/// When a renderer fails, it is repaired as ``RenderingError/code-swift.property`` requires, and the same frame is
/// tried again. If that fails twice, the renderer is left alone for a while, which is longer each time.
public final class SampleBufferDisplayLayer: SampleBufferDestination {
  /// What has become of the layer's frames so far.
  public struct Statistics: Equatable, Sendable {
    /// Frames that the renderer has shown, without those that were shown again.
    public internal(set) var presented: UInt64 = 0
    /// Frames that a newer one replaced before they were presented.
    public internal(set) var replaced: UInt64 = 0
    /// Frames that the renderer refused, even after it was repaired. A frame that is refused several times counts once;
    /// if it is shown in the end, it also counts as presented.
    public internal(set) var failed: UInt64 = 0
    /// Frames that were skipped because the time of a later one had come as well.
    package internal(set) var late: UInt64 = 0
    /// Frames that were not converted because the renderer was not visible. One that is shown later also counts as
    /// presented.
    public internal(set) var hidden: UInt64 = 0
    /// Frames that were presented after the renderer had refused them and was repaired.
    package internal(set) var recovered: UInt64 = 0
    /// How many times the renderer was rebuilt.
    package internal(set) var rebuilt: UInt64 = 0
  }

  /// Whether the layer's frames can be shown.
  public enum Status: Sendable {
    /// Nothing has been presented yet.
    case unknown
    /// The newest frame that was tried has been shown.
    case rendering
    /// The newest frame that was tried could not be shown; ``error`` says why. The layer keeps trying.
    case failed
  }

  /// The layer's name in messages and in the name of its thread.
  public let name: String
  private let mailbox: Locked<DisplayMailbox>
  /// Held while the renderer is exchanged.
  private let attachment = Locked(())
  /// The presenting thread, which starts with the first renderer.
  private let thread = Locked<WorkerThread?>(nil)
  /// The timebase that wakes the presenting thread.
  private let observation = Locked<(timebase: Timebase, number: Int)?>(nil)
  private let clock: SchedulingClock

  /// Makes a layer.
  ///
  /// - Parameters:
  ///   - name: the layer's name in messages and in the name of its thread, for instance "pip".
  ///   - renderer: what the layer shows frames on. With nil, frames are taken and replaced but never presented.
  ///   - videoGravity: how frames are fitted to the renderer.
  public convenience init(
    name: String, renderer: (any VideoRenderer)? = nil, videoGravity: VideoGravity = .resizeAspect
  ) {
    self.init(name: name, renderer: renderer, videoGravity: videoGravity, clock: .system)
  }

  /// Makes a layer whose waiting a test can control.
  ///
  /// - Parameter clock: what the layer waits by after failures, and for the times of frames.
  init(
    name: String, renderer: (any VideoRenderer)? = nil, videoGravity: VideoGravity = .resizeAspect,
    clock: SchedulingClock
  ) {
    self.name = name
    self.clock = clock
    mailbox = Locked(DisplayMailbox(gravity: videoGravity))
    if let renderer { attach(to: renderer) }
  }

  deinit {
    controlTimebase = nil
    let (renderer, isOwned, dropped) = mailbox.withLock { mailbox in
      mailbox.isClosed = true
      let dropped = (mailbox.waiting, mailbox.queue, mailbox.latest)
      mailbox.waiting = nil
      mailbox.queue = []
      mailbox.latest = nil
      return (mailbox.renderers.current, mailbox.renderers.isGranted, dropped)
    }
    _ = dropped
    mailbox.wakeAll()
    thread.withLock { $0 }?.join()
    if isOwned { renderer?.removeHandlers() }
    RendererOccupancy.withdraw(renderer, mailbox)
    mailbox.withLock { $0.renderers.lose() }
  }

  // MARK: - The renderer

  /// Presents frames on `renderer` from now on. This is possible while frames flow, and the newest frame is shown there
  /// at once. The renderer that was attached before shows nothing any more. Another layer that is attached to
  /// `renderer` leaves it first.
  public func attach(to renderer: any VideoRenderer) {
    change(renderer: renderer)
    thread.withLock { thread in
      guard thread == nil else { return }
      let presenter = LayerPresenter(name: name, mailbox: mailbox, clock: clock)
      // The thread keeps the mailbox and not the layer, which could otherwise never be released.
      thread = WorkerThread(name: "pip-\(name)") { presenter.run() }
    }
  }

  /// Leaves the renderer, which shows nothing any more. The layer still takes frames and keeps the newest.
  public func detach() {
    change(renderer: nil)
  }

  private func change(renderer: (any VideoRenderer)?) {
    // The layer's renderer and the registry change together.
    attachment.withLock { _ in
      guard mailbox.withLock({ $0.renderers.current }) !== renderer else { return }
      if let unwanted = mailbox.withLock({ $0.change(to: renderer) }) {
        RendererOccupancy.cancel(unwanted, for: mailbox)
      }
      if let renderer { RendererOccupancy.request(renderer, for: mailbox) }
    }
    mailbox.wakeAll()
    mailbox.withLock { $0.demandNotice }?()
  }

  /// The renderer that the layer is attached to.
  package var renderer: (any VideoRenderer)? { mailbox.withLock { $0.renderers.current } }

  /// Whether there is a frame to show on the next renderer.
  package var hasFrame: Bool { mailbox.withLock { $0.latest != nil || $0.waiting != nil } }

  /// Calls `handler` once, on the presenting thread, when the next frame has been presented.
  package func whenNextPresented(_ handler: @escaping @Sendable (MonotonicTime) -> Void) {
    mailbox.withLock { $0.presented = handler }
  }

  /// Calls `observer` on the presenting thread before it presents a frame whose size or orientation differs from the
  /// one before.
  package func observeSizes(_ observer: (@Sendable (SampleBuffer) -> Void)?) {
    mailbox.withLock { $0.sizes = SizeObservation(observer) }
  }

  /// The renderer's size in pixels; nil while there is no renderer or it has no size.
  package var bounds: PictureSize? { mailbox.withLock { $0.renderers.current }?.renderSize }

  func demand(countingHidden: Bool) -> StreamDemand {
    let (current, orientation) = mailbox.withLock { ($0.renderers.current, $0.orientation) }
    guard let current else { return .hidden }
    let size = current.renderSize
    guard size.map({ countingHidden && $0.isValid }) ?? false || current.isVisible else { return .hidden }
    return (size.map(StreamDemand.size) ?? .fullSize).turned(by: orientation)
  }

  /// Whether a frame has been presented on the current renderer.
  public var isReadyForDisplay: Bool { mailbox.withLock { $0.isReadyForDisplay } }

  /// How frames are fitted to the renderer. A change also redraws the current picture.
  public var videoGravity: VideoGravity {
    get { mailbox.withLock { $0.gravity } }
    set { redraw { $0.gravity = newValue } }
  }

  /// The kind of pixels that the renderer gets, in place of its ``VideoRenderer/formatSeries``; with `any`, which is
  /// the default, that one applies. Frames of another kind are converted as it says. A change also redraws the current
  /// picture.
  public var formatSeries: FrameFormatSeries {
    get { mailbox.withLock { $0.formatSeries } }
    set {
      redraw { mailbox in
        mailbox.formatSeries = newValue
        // A frame that could not be converted is tried at once.
        mailbox.failures.retryAt = nil
      }
    }
  }

  /// How frames are rotated or mirrored on this renderer, in addition to their ``SampleBuffer/orientation``. A change
  /// also redraws the current picture.
  public var orientation: VideoOrientation {
    get { mailbox.withLock { $0.orientation } }
    set { redraw { $0.orientation = newValue } }
  }

  /// Has the newest frame presented again.
  package func redraw() { redraw { _ in } }

  private func redraw(_ change: (inout DisplayMailbox) -> Void) {
    mailbox.withLock { mailbox in
      change(&mailbox)
      mailbox.needsDisplay = true
    }
    mailbox.wakeAll()
  }

  // MARK: - Frames

  /// Takes a frame. It is shown at once or, with a ``controlTimebase``, at its time.
  ///
  /// - Returns: whether the frame replaces one that was waiting and is therefore never shown.
  @discardableResult
  public func enqueue(_ sampleBuffer: SampleBuffer) -> Bool {
    var frame: SampleBuffer? = sampleBuffer
    let (mustWake, hasReplaced) = mailbox.withLock { $0.put(&frame) }
    if mustWake { mailbox.wakeAll() }
    return hasReplaced
  }

  /// The timebase that says when frames are shown. With nil every frame is shown at once.
  public var controlTimebase: Timebase? {
    get { mailbox.withLock { $0.timebase } }
    set {
      let old = observation.withLock { observation in
        let old = observation
        observation = newValue.map { timebase in
          (timebase, timebase.addObserver { [mailbox] in mailbox.wakeAll() })
        }
        return old
      }
      if let old { old.timebase.removeObserver(old.number) }
      mailbox.withLock { $0.timebase = newValue }
      mailbox.wakeAll()
    }
  }

  /// Begins another stream. The router calls it.
  func begin(with latest: SampleBuffer?, isFresh: Bool, presented: (@Sendable (MonotonicTime) -> Void)?) {
    let dropped = mailbox.withLock { $0.begin(with: latest, isFresh: isFresh, presented: presented) }
    _ = dropped
    mailbox.wakeAll()
  }

  /// Ends a stream. The router calls it.
  ///
  /// - Returns: the newest frame that had not been shown anywhere.
  func relinquish(removingImage: Bool) -> SampleBuffer? {
    defer { mailbox.wakeAll() }
    return mailbox.withLock { $0.leave(removingImage: removingImage) }
  }

  /// Drops the frames that wait, and keeps the current picture. A layer that has failed loses its ``error`` and tries
  /// the next frame at once.
  public func flush() { flush(removingImage: false) }

  /// Drops the frames that wait, as ``flush()`` does, and removes the current picture.
  public func flushAndRemoveImage() { flush(removingImage: true) }

  private func flush(removingImage: Bool) {
    let dropped = mailbox.withLock { mailbox in
      if mailbox.failures.status == .failed {
        mailbox.failures = DisplayFailures()
        // The frame that has failed is not tried again.
        mailbox.needsDisplay = false
      }
      return mailbox.empty(removingImage: removingImage)
    }
    _ = dropped
    mailbox.wakeAll()
  }

  // MARK: - Status

  /// Whether the newest frame could be shown.
  public var status: Status { mailbox.withLock { $0.failures.status } }

  /// Why the newest frame that was tried could not be shown; nil when it could.
  public var error: RenderingError? { mailbox.withLock { $0.failures.error } }

  /// What has become of the layer's frames so far.
  public var statistics: Statistics { mailbox.withLock { $0.statistics } }

  /// Counts frames for a stream from now on, or for none, converts them with the stream's other layers, and gives notice
  /// when the layer's renderer, or its size or visibility, may have changed.
  func report(to tally: PresentationTally?, sharing conversions: FrameConversions, notifying notice: DemandNotice) {
    mailbox.withLock { ($0.tally, $0.conversions, $0.demandNotice) = (tally, conversions, notice) }
  }

  /// Blocks until everything that has been enqueued so far has been presented or refused.
  ///
  /// - Returns: false when that was not the case by `deadline`, as without a renderer.
  package func waitUntilPresented(by deadline: MonotonicTime) -> Bool {
    mailbox.wait(until: deadline) { $0.isIdle ? true : nil } ?? false
  }
}
