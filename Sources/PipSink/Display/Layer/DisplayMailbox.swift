/// What a display layer and its presenting thread share, behind the layer's lock.
struct DisplayMailbox {
  /// A frame for the renderer, with everything that presenting it needs.
  struct Job {
    let sampleBuffer: SampleBuffer
    let renderer: any VideoRenderer
    let gravity: VideoGravity
    /// The kind of pixels that the renderer gets; with `any`, that of its own ``VideoRenderer/formatSeries``.
    let formatSeries: FrameFormatSeries
    let conversions: FrameConversions
    let orientation: VideoOrientation
    let colorBalance: ColorBalance
    let presented: (@Sendable (MonotonicTime) -> Void)?
    let streamCount: Int
    let flushCount: Int
    /// Whether the frame has been shown before and is shown again because the renderer asked for it.
    let isRepeated: Bool
    /// Whether the frame has been counted as hidden or failed when it was tried before.
    let isCounted: Bool
    /// Counts the frame for its stream; nil where that has been done.
    let tally: PresentationTally?
    /// Called with the frame because its size or orientation differs from the one before.
    let sizeObserver: (@Sendable (SampleBuffer) -> Void)?
  }

  /// What the presenting thread does next.
  enum Work {
    case present(Job)
    case removeImage(any VideoRenderer)
    /// Begin to use a renderer that the layer has been granted.
    case adopt(any VideoRenderer)
    /// Leave a renderer.
    case retire(any VideoRenderer)
    /// Replace the picture that stays by a copy.
    case copy(SampleBuffer)
    case end
  }

  /// How many frames may wait for their time. When there are more, the oldest is dropped.
  static let queueLimit = 8

  /// The renderer, and those that the layer still has to leave.
  var renderers = LayerRenderers()
  var gravity: VideoGravity
  var formatSeries = FrameFormatSeries.any
  var orientation = VideoOrientation.upright

  // Frames that wait.
  /// The frame that is presented as soon as possible.
  var waiting: SampleBuffer?
  /// Whether `waiting` has not been shown anywhere yet.
  var isWaitingFresh = false
  /// Frames that wait for their time, in the order of their arrival.
  var queue: [SampleBuffer] = []
  var timebase: Timebase?

  // The picture that is shown.
  /// The newest frame that went to the renderer, kept so that it can be shown again.
  var latest: SampleBuffer?
  /// Whether `latest` has been presented. It has not while the renderer was not visible.
  var latestWasPresented = false
  var isReadyForDisplay = false
  var needsDisplay = false
  var mustRemoveImage = false
  /// Whether the stream has left its picture here, which must not keep a buffer that upstream may need.
  var mustCopyLatest = false
  var isPresenting = false
  var isClosed = false
  var failures = DisplayFailures()
  var statistics = SampleBufferDisplayLayer.Statistics()

  // The stream that the frames belong to.
  /// Counts frames for the stream that a router sends here.
  var tally: PresentationTally?
  /// Converts frames into formats that the renderer takes, and has the colour balance.
  var conversions = FrameConversions()
  /// Is given when the renderer, or its size or visibility, may have changed; nil before a router has sent a stream.
  var demandNotice: DemandNotice?
  /// Called once, after the next frame that is taken from here has been presented. A frame that is being presented
  /// already does not count, since it may belong to another stream.
  var presented: (@Sendable (MonotonicTime) -> Void)?
  var sizes = SizeObservation()
  /// Has frames shown at regular refreshes of the screen.
  private var cadence = RefreshCadence()
  /// When the stream began here.
  private var beganAt = MonotonicTime(nanoseconds: 0)
  /// The arrival of the newest frame of the stream that was on a screen.
  private var newestOnScreen = MonotonicTime(nanoseconds: 0)
  /// How many times a stream has begun here or left.
  private var streamCount = 0
  /// How many times the frames that wait here have been dropped.
  private var flushCount = 0
  /// The first value of `flushCount` whose frames may still become the picture. When a stream has left its picture here,
  /// its frames that were being presented meanwhile still may.
  private var firstFlushOfPicture = 0

  init(gravity: VideoGravity) {
    self.gravity = gravity
  }

  /// Whether nothing waits and nothing is being presented.
  var isIdle: Bool {
    waiting == nil && queue.isEmpty && !mustRemoveImage && !isPresenting && renderers.isSettled
      && !(needsDisplay && latest != nil)
  }

  /// Uses another renderer from now on, or none. ``RendererOccupancy`` decides when the layer may use it.
  ///
  /// - Returns: a renderer that the layer was waiting for and does not want any more.
  mutating func change(to new: (any VideoRenderer)?) -> (any VideoRenderer)? {
    isReadyForDisplay = false
    failures = DisplayFailures(status: failures.status, error: failures.error)
    needsDisplay = true
    latestWasPresented = latest != nil && latestWasPresented
    return renderers.change(to: new)
  }

  /// Forgets a renderer that is gone for good and need not be left.
  mutating func loseRenderer() {
    renderers.lose()
    isReadyForDisplay = false
    failures.count = 0
  }

  /// Leaves a renderer because another layer takes it.
  mutating func leave(_ renderer: any VideoRenderer) {
    if renderers.current === renderer { _ = change(to: nil) }
  }

  // MARK: - Putting frames in

  /// Takes a frame and returns the one that it replaces in the same variable. Frames are moved, not copied, and are
  /// released outside of the lock.
  ///
  /// - Returns: whether the presenting thread has to be woken, and whether a frame was replaced that had not been shown
  ///   anywhere.
  mutating func put(_ frame: inout SampleBuffer?) -> (mustWake: Bool, hasReplaced: Bool) {
    if timebase != nil, let new = frame, !new.attachments.displayImmediately,
      new.timing.presentationTimeStamp.isNumeric
    {
      frame = enqueueTimed(new)
      return (queue.count == 1, frame != nil)
    }
    swap(&waiting, &frame)
    let hasReplaced = frame != nil && isWaitingFresh
    isWaitingFresh = true
    if hasReplaced { statistics.replaced += 1 }
    return (frame == nil, hasReplaced)
  }

  private mutating func enqueueTimed(_ sampleBuffer: SampleBuffer) -> SampleBuffer? {
    queue.append(sampleBuffer)
    guard queue.count > Self.queueLimit else { return nil }
    statistics.replaced += 1
    return queue.removeFirst()
  }

  /// Whether a frame may still become the picture: its stream's picture has not been removed meanwhile, and no other
  /// stream has begun.
  func isPicture(_ job: Job) -> Bool { job.flushCount >= firstFlushOfPicture }

  /// Keeps a frame that could not be shown until it can, unless its picture has been removed or another stream has
  /// begun. The handler that waits for it waits for the next one, unless its stream has left.
  ///
  /// - Returns: whether the frame is kept.
  @discardableResult
  mutating func keep(_ job: Job) -> Bool {
    if streamCount == job.streamCount, presented == nil { presented = job.presented }
    guard isPicture(job) else { return false }
    latest = job.sampleBuffer
    latestWasPresented = job.isRepeated
    return true
  }

  /// Forgets the stream's frames and, with `removingImage`, its picture. Who waits for the next picture still does.
  ///
  /// - Returns: the newest frame that had not been shown anywhere.
  mutating func empty(removingImage: Bool) -> SampleBuffer? {
    let newest = queue.last ?? (isWaitingFresh ? waiting : nil)
    waiting = nil
    queue = []
    flushCount += 1
    if removingImage {
      latest = nil
      isReadyForDisplay = false
      mustRemoveImage = true
      firstFlushOfPicture = flushCount
    }
    return newest
  }

  /// Ends a stream. Who waits for its next picture here waits in vain. Without `removingImage` its last picture stays, as
  /// a copy.
  ///
  /// - Returns: the newest frame that had not been shown anywhere.
  mutating func leave(removingImage: Bool) -> SampleBuffer? {
    presented = nil
    streamCount += 1
    beginScreenTimes(after: nil)
    mustCopyLatest = !removingImage
    return empty(removingImage: removingImage)
  }

  /// Begins another stream, of which `newest` is shown at once; with nil the picture is removed.
  ///
  /// - Returns: a frame of the stream before that had not been shown anywhere.
  mutating func begin(
    with newest: SampleBuffer?, isFresh: Bool, presented: (@Sendable (MonotonicTime) -> Void)?
  ) -> SampleBuffer? {
    let dropped = empty(removingImage: newest == nil)
    streamCount += 1
    firstFlushOfPicture = flushCount
    (latest, mustCopyLatest) = (nil, false)
    waiting = newest
    isWaitingFresh = isFresh
    mustRemoveImage = newest == nil
    self.presented = presented
    beginScreenTimes(after: isFresh ? nil : newest)
    return dropped
  }

  // MARK: - The screen

  /// Begins with another stream, of which one frame at most has been shown elsewhere.
  private mutating func beginScreenTimes(after shown: SampleBuffer?) {
    (cadence, beganAt) = (RefreshCadence(), .now)
    newestOnScreen = shown?.receivedAt ?? MonotonicTime(nanoseconds: 0)
  }

  /// Counts a frame whose picture was on the screen. A frame that is shown again does not count.
  mutating func note(_ time: ScreenTime) {
    guard time.handedOverAt >= beganAt, time.frame.receivedAt > newestOnScreen, time.isPlausible else { return }
    newestOnScreen = time.frame.receivedAt
    let missed = cadence.note(time)
    tally?.count { counts in
      counts.screenLatencies.record(nanoseconds: time.shownAt.nanoseconds(since: time.frame.receivedAt))
      counts.missedRefreshes += UInt64(missed)
    }
  }

  // MARK: - Taking frames out

  /// What the presenting thread has to do at `now`, or when it has to ask again.
  mutating func nextWork(at now: MonotonicTime) -> Locked<DisplayMailbox>.Step<Work> {
    if let renderer = renderers.nextToLeave() { return begin(.retire(renderer)) }
    if isClosed { return .done(.end) }
    if mustCopyLatest {
      mustCopyLatest = false
      if let latest { return begin(.copy(latest)) }
    }
    guard let renderer = renderers.current, renderers.isGranted else { return .whenWoken }
    if renderers.adopt() { return begin(.adopt(renderer)) }
    if mustRemoveImage {
      mustRemoveImage = false
      return begin(.removeImage(renderer))
    }
    let pause = failures.pause(at: now)
    if let pause, failures.holdsNewFrames { return .at(pause) }
    if let frame = waiting {
      // The first frame after a switch is shown as soon as possible.
      if presented == nil, isWaitingFresh, let times = ScreenTime.Frame(frame),
        let moment = cadence.moment(of: times, at: now)
      {
        return .at(moment)
      }
      waiting = nil
      return begin(.present(job(frame, on: renderer, isCounted: false, isNew: isWaitingFresh)))
    }
    if let due = dueFrame(at: now) {
      return begin(.present(job(due, on: renderer, isCounted: false, isNew: true)))
    }
    if needsDisplay, let latest {
      // Frames that wait for their time are considered then as well.
      if let pause { return .at(pause) }
      return begin(
        .present(job(latest, on: renderer, isRepeated: latestWasPresented, isCounted: true, isNew: false)))
    }
    needsDisplay = false
    guard let next = queue.first, let moment = timebase?.moment(of: next.timing.presentationTimeStamp) else {
      return .whenWoken
    }
    return .at(moment)
  }

  private mutating func begin(_ work: Work) -> Locked<DisplayMailbox>.Step<Work> {
    isPresenting = true
    return .done(work)
  }

  private mutating func job(
    _ sampleBuffer: SampleBuffer, on renderer: any VideoRenderer, isRepeated: Bool = false, isCounted: Bool,
    isNew: Bool
  ) -> Job {
    needsDisplay = false
    defer { presented = nil }
    return Job(
      sampleBuffer: sampleBuffer, renderer: renderer, gravity: gravity,
      formatSeries: formatSeries, conversions: conversions,
      orientation: conversions.isMirrored ? VideoOrientation.mirrored.followed(by: orientation) : orientation,
      colorBalance: conversions.colorBalance, presented: presented, streamCount: streamCount, flushCount: flushCount,
      isRepeated: isRepeated, isCounted: isCounted, tally: isNew ? tally : nil,
      sizeObserver: sizes.observer(for: sampleBuffer))
  }

  /// The newest frame whose time has come; the ones before it count as late. Without a timebase, all queued frames are
  /// due.
  private mutating func dueFrame(at now: MonotonicTime) -> SampleBuffer? {
    var due: SampleBuffer?
    while let next = queue.first {
      if let timebase {
        guard let moment = timebase.moment(of: next.timing.presentationTimeStamp), moment <= now else { break }
      }
      if due != nil {
        statistics.late += 1
        tally?.count { $0.late += 1 }
      }
      due = queue.removeFirst()
    }
    return due
  }
}

/// Tells an observer when the size at which a frame is to be shown differs from that of the frame before.
struct SizeObservation {
  typealias Observer = @Sendable (SampleBuffer) -> Void

  private var observer: Observer?
  private var size = (width: 0.0, height: 0.0)

  /// Begins the observation.
  ///
  /// - Parameter observer: called for the next frame in any case.
  init(_ observer: Observer? = nil) { self.observer = observer }

  /// The observer, if it has to be called for this frame.
  mutating func observer(for sampleBuffer: SampleBuffer) -> Observer? {
    guard observer != nil else { return nil }
    let new = sampleBuffer.displaySize
    guard new != size else { return nil }
    size = new
    return observer
  }
}
