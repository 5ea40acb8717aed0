/// Shows a stream's frames on a ``VideoRenderer``, with AVSampleBufferDisplayLayer's meaning.
///
/// Frames are handed over in a mailbox for one: a frame that arrives while another waits replaces it. Those that have a
/// time, are not to be shown at once, and come while there is a ``controlTimebase`` wait for their time. A thread of
/// the layer's own presents them, so that whoever enqueues never waits for a surface. All calls are allowed from every
/// thread. The thread ends when the layer goes away.
///
/// A surface that fails is repaired as its ``RenderingError/code-swift.property`` asks for, and the same frame tried
/// again; when that does not help twice, the surface is left alone for a while, longer each time.
public final class SampleBufferDisplayLayer: SampleBufferDestination {
  /// What the layer has done so far, in frames.
  public struct Statistics: Equatable, Sendable {
    public internal(set) var presented: UInt64 = 0
    /// Replaced by a newer frame before they were presented.
    public internal(set) var replaced: UInt64 = 0
    /// Refused by the renderer, also after it was repaired. One that is refused again and again counts once, and as
    /// presented, too, when it is shown in the end.
    public internal(set) var failed: UInt64 = 0
    /// Left out because a later frame's time had come, too.
    public internal(set) var late: UInt64 = 0
    /// Not converted because nobody could see the surface. One that is shown later counts as presented, too.
    public internal(set) var hidden: UInt64 = 0
    /// Presented after the renderer had refused them and was repaired.
    public internal(set) var recovered: UInt64 = 0
    /// How often the renderer was rebuilt.
    public internal(set) var rebuilt: UInt64 = 0
  }

  public enum Status: Sendable {
    /// Nothing has been presented yet.
    case unknown
    case rendering
    /// The newest frame that was tried could not be shown; ``error`` says why. The layer goes on trying.
    case failed
  }

  public let name: String
  private let mailbox: Locked<DisplayMailbox>
  private let attachment = Locked(())
  /// Made with the first renderer.
  private let thread = Locked<WorkerThread?>(nil)
  private let observation = Locked<(timebase: Timebase, number: Int)?>(nil)
  private let clock: SchedulingClock

  /// - Parameters:
  ///   - name: for messages and the thread's name: "pip", for instance.
  ///   - renderer: the surface. With none, frames are taken and replaced but never presented.
  public convenience init(
    name: String, renderer: (any VideoRenderer)? = nil, videoGravity: VideoGravity = .resizeAspect
  ) {
    self.init(name: name, renderer: renderer, videoGravity: videoGravity, clock: .system)
  }

  /// - Parameter clock: what it waits by after failures.
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
      let dropped = (mailbox.waiting, mailbox.queue, mailbox.latest, mailbox.request)
      mailbox.waiting = nil
      mailbox.queue = []
      mailbox.latest = nil
      mailbox.request = nil
      return (mailbox.surface.renderer, mailbox.surface.isGranted, dropped)
    }
    _ = dropped
    mailbox.wakeAll()
    thread.withLock { $0 }?.join()
    if isOwned { renderer?.setNeedsDisplayHandler(nil) }
    SurfaceOccupancy.withdraw(renderer, mailbox)
    mailbox.withLock { $0.surface.lose() }
  }

  // MARK: - The surface

  /// Presents on `renderer` from now on, also while frames flow. The newest frame is shown there at once; a renderer
  /// that was attached before shows nothing any more. Another layer that is attached to `renderer` leaves it first.
  public func attach(to renderer: any VideoRenderer) {
    change(renderer: renderer)
    thread.withLock { thread in
      guard thread == nil else { return }
      let presenter = LayerPresenter(name: name, mailbox: mailbox, clock: clock)
      // The thread has the mailbox, not the layer, which could otherwise never go away.
      thread = WorkerThread(name: "pip-\(name)") { presenter.run() }
    }
  }

  /// Leaves the surface, which shows nothing any more. Frames are taken further on, and the newest is kept.
  public func detach() {
    change(renderer: nil)
  }

  private func change(renderer: (any VideoRenderer)?) {
    // One change at a time, of the layer and of who has the surface.
    attachment.withLock { _ in
      guard mailbox.withLock({ $0.surface.renderer }) !== renderer else { return }
      if let unwanted = mailbox.withLock({ $0.change(to: renderer) }) {
        SurfaceOccupancy.cancel(unwanted, for: mailbox)
      }
      if let renderer { SurfaceOccupancy.request(renderer, for: mailbox) }
    }
    mailbox.wakeAll()
  }

  /// What it is attached to.
  package var renderer: (any VideoRenderer)? { mailbox.withLock { $0.surface.renderer } }

  /// Whether there is a frame to show on the next surface.
  package var hasFrame: Bool { mailbox.withLock { $0.latest != nil || $0.waiting != nil } }

  /// Calls `handler` once, on the presenting thread, when the next picture has been presented.
  package func whenNextPresented(_ handler: @escaping @Sendable (MonotonicTime) -> Void) {
    mailbox.withLock { $0.presented = handler }
  }

  /// Calls `observer` on the presenting thread before it presents a frame of another size or orientation than the
  /// one before.
  package func observeSizes(_ observer: (@Sendable (SampleBuffer) -> Void)?) {
    mailbox.withLock { $0.sizes = SizeObservation(observer) }
  }

  /// The surface's size in pixels; nil without a surface, or while it has none.
  public var bounds: PictureSize? { mailbox.withLock { $0.surface.renderer }?.renderSize }

  /// Whether a picture has been presented on the surface.
  public var isReadyForDisplay: Bool { mailbox.withLock { $0.isReadyForDisplay } }

  /// How a picture is fitted to the surface. The picture that is shown follows at once.
  public var videoGravity: VideoGravity {
    get { mailbox.withLock { $0.gravity } }
    set { redraw { $0.gravity = newValue } }
  }

  /// How pictures are turned on this surface, besides what a frame itself says. The picture that is shown follows at
  /// once.
  public var orientation: VideoOrientation {
    get { mailbox.withLock { $0.orientation } }
    set { redraw { $0.orientation = newValue } }
  }

  package func redraw() { redraw { _ in } }

  private func redraw(_ change: (inout DisplayMailbox) -> Void) {
    mailbox.withLock { mailbox in
      change(&mailbox)
      mailbox.needsDisplay = true
    }
    mailbox.wakeAll()
  }

  // MARK: - Frames

  /// Takes a frame, to be shown at once or, with a ``controlTimebase``, when its time has come.
  ///
  /// - Returns: whether a frame that was waiting is replaced by it, and so will never be shown.
  @discardableResult
  public func enqueue(_ sampleBuffer: SampleBuffer) -> Bool {
    var frame: SampleBuffer? = sampleBuffer
    let (mustWake, hasReplaced) = mailbox.withLock { $0.put(&frame) }
    if mustWake { mailbox.wakeAll() }
    return hasReplaced
  }

  /// Whether a frame that is enqueued now replaces none.
  public var isReadyForMoreMediaData: Bool { mailbox.withLock { $0.isReadyForMoreMediaData } }

  /// Calls `block` on the presenting thread whenever the layer becomes ready for more frames, first at once, until
  /// ``stopRequestingMediaData()``. It enqueues as many as it has while ``isReadyForMoreMediaData``. Without a surface
  /// it is not called.
  public func requestMediaDataWhenReady(_ block: @escaping @Sendable () -> Void) {
    mailbox.withLock { mailbox in
      mailbox.request = block
      mailbox.isRequestDue = true
    }
    mailbox.wakeAll()
  }

  /// A call that is under way comes to its end.
  public func stopRequestingMediaData() {
    mailbox.withLock { mailbox in
      mailbox.request = nil
      mailbox.isRequestDue = false
    }
  }

  /// By which frames with a time are shown; with nil every frame is shown at once.
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

  func begin(with latest: SampleBuffer?, isFresh: Bool, presented: (@Sendable (MonotonicTime) -> Void)?) {
    let dropped = mailbox.withLock { $0.begin(with: latest, isFresh: isFresh, presented: presented) }
    _ = dropped
    mailbox.wakeAll()
  }

  func relinquish(removingImage: Bool) -> SampleBuffer? {
    let waiting = mailbox.withLock { $0.empty(removingImage: removingImage) }
    if removingImage { mailbox.wakeAll() }
    return waiting
  }

  /// Drops the frames that wait, if any, and keeps the picture that is shown. A layer that has failed has no ``error``
  /// any more, and tries the next frame at once.
  public func flush() { flush(removingImage: false) }

  /// The same, and takes the picture away.
  public func flushAndRemoveImage() { flush(removingImage: true) }

  private func flush(removingImage: Bool) {
    let dropped = mailbox.withLock { mailbox in
      if mailbox.failures.status == .failed {
        mailbox.failures = DisplayFailures()
        // Nor is the frame tried again that has failed.
        mailbox.needsDisplay = false
      }
      return mailbox.empty(removingImage: removingImage)
    }
    _ = dropped
    mailbox.wakeAll()
  }

  // MARK: - What happened

  public var status: Status { mailbox.withLock { $0.failures.status } }

  /// Why the newest frame that was tried could not be shown; nil when it could.
  public var error: RenderingError? { mailbox.withLock { $0.failures.error } }

  public var statistics: Statistics { mailbox.withLock { $0.statistics } }

  func report(to tally: PresentationTally) { mailbox.withLock { $0.tally = tally } }

  /// Waits until everything that was enqueued so far has been presented or refused.
  ///
  /// - Returns: false when that was not so by `deadline`, or there is no renderer to present it.
  public func waitUntilPresented(by deadline: MonotonicTime) -> Bool {
    mailbox.wait(until: deadline) { $0.isIdle ? true : nil } ?? false
  }
}
