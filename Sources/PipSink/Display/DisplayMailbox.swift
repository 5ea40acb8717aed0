/// What a display layer and its presenting thread share, behind the layer's lock.
struct DisplayMailbox {
  /// A frame on its way to the renderer.
  struct Job {
    let sampleBuffer: SampleBuffer
    let renderer: any VideoRenderer
    let gravity: VideoGravity
    let orientation: VideoOrientation
    let presented: (@Sendable (MonotonicTime) -> Void)?
    let streamCount: Int
    /// Shown before, and shown again because the surface asked for it.
    let isRepeated: Bool
    /// Counted before, as what it was when it was tried first: hidden or failed, where it was not shown.
    let isCounted: Bool
    /// Counts it for its stream; nil where it has been counted.
    let tally: PresentationTally?
    /// To be told the frame's size, which is another than before.
    let sizeObserver: (@Sendable (SampleBuffer) -> Void)?
  }

  enum Work {
    case present(Job)
    case removeImage(any VideoRenderer)
    /// A renderer that is the layer's now.
    case adopt(any VideoRenderer)
    /// A renderer that the layer leaves.
    case retire(any VideoRenderer)
    case requestData(@Sendable () -> Void)
    case end
  }

  /// Frames that wait for their time, at most; beyond, the oldest goes.
  static let queueLimit = 8

  var renderer: (any VideoRenderer)?
  /// Whether the renderer is this layer's to use (see ``SurfaceOccupancy``), and whether it has been told so.
  private(set) var isGranted = false
  private var isAdopted = false
  /// Those that are still to be left, and the one that is being left.
  private var retired: [any VideoRenderer] = []
  private var retiring: (any VideoRenderer)?
  var waiting: SampleBuffer?
  /// Whether `waiting` has been shown nowhere yet.
  var isWaitingFresh = false
  /// Frames with a time, in the order that they came.
  var queue: [SampleBuffer] = []
  var timebase: Timebase?
  /// The newest frame that went to the renderer, to be shown again.
  var latest: SampleBuffer?
  /// Whether `latest` has been presented: not when nobody could see the surface.
  var latestWasPresented = false
  var needsDisplay = false
  var mustRemoveImage = false
  var isPresenting = false
  var isClosed = false
  var gravity: VideoGravity
  var orientation = VideoOrientation.upright
  var statistics = SampleBufferDisplayLayer.Statistics()
  /// Of the stream that a router sends here.
  var tally: PresentationTally?
  var status = SampleBufferDisplayLayer.Status.unknown
  var error: RenderingError?
  var isReadyForDisplay = false
  /// Consecutive frames that could not be shown, and when the last of them is tried again.
  var failureCount = 0
  var retryAt: MonotonicTime?
  /// Failures after which new frames wait for that, too.
  private static let patience = 2
  var request: (@Sendable () -> Void)?
  var isRequestDue = false
  /// Called after the next frame that is taken from here has been presented, once. A frame that is being presented
  /// already does not count: it may be another stream's.
  var presented: (@Sendable (MonotonicTime) -> Void)?
  /// Called with frames of another size or orientation than the one before.
  var sizeObserver: (@Sendable (SampleBuffer) -> Void)? {
    didSet { observedFormat = nil }
  }
  private var observedFormat: VideoFormatDescription?
  private var observedOrientation = VideoOrientation.upright
  /// Counts the streams that have begun and left.
  private(set) var streamCount = 0
  /// From this one on, frames that were on their way when their stream left are still the surface's picture: of a stream
  /// that has left its picture there.
  private var firstStreamOfPicture = 0

  init(gravity: VideoGravity) {
    self.gravity = gravity
  }

  var isIdle: Bool {
    waiting == nil && queue.isEmpty && !mustRemoveImage && !isPresenting && retired.isEmpty
      && !(needsDisplay && latest != nil) && (renderer == nil || isAdopted)
  }

  var isReadyForMoreMediaData: Bool { waiting == nil && queue.count < Self.queueLimit }

  // MARK: - The surface

  /// Shows on another surface from now on, or on none. Whether it may, ``SurfaceOccupancy`` says.
  ///
  /// - Returns: a surface that the layer was waiting for and now wants no more.
  mutating func change(to new: (any VideoRenderer)?) -> (any VideoRenderer)? {
    let old = renderer
    let wasWaiting = !isGranted
    if let old, isGranted { retired.append(old) }
    renderer = new
    isGranted = false
    isAdopted = false
    isReadyForDisplay = false
    failureCount = 0
    retryAt = nil
    needsDisplay = true
    latestWasPresented = latest != nil && latestWasPresented
    return wasWaiting ? old : nil
  }

  /// The surface is the layer's.
  ///
  /// - Returns: false when the layer wants it no more.
  mutating func grant(_ renderer: any VideoRenderer) -> Bool {
    guard self.renderer === renderer else { return false }
    isGranted = true
    isAdopted = false
    retired.removeAll { $0 === renderer }
    return true
  }

  /// Whether the layer uses a surface, or has still to leave it.
  func holds(_ renderer: any VideoRenderer) -> Bool {
    (isGranted && self.renderer === renderer) || retiring === renderer || retired.contains { $0 === renderer }
  }

  /// Another layer takes the surface.
  mutating func leave(_ renderer: any VideoRenderer) {
    if self.renderer === renderer { _ = change(to: nil) }
  }

  // MARK: - In

  /// Takes a frame, and puts the one that it replaces in its place: frames are moved, not copied, and let go outside of
  /// the lock.
  ///
  /// - Returns: whether the presenting thread has to be woken, and whether a frame is replaced that was shown nowhere.
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

  /// Whether a frame's stream has its picture still: nobody took it away meanwhile, and no other stream has begun.
  func isPicture(_ job: Job) -> Bool { job.streamCount >= firstStreamOfPicture }

  /// Keeps a frame that could not be shown for the moment when it can, and with it whoever is to be told then, unless
  /// the stream has left.
  ///
  /// - Returns: false where the picture is another stream's by now.
  @discardableResult
  mutating func keep(_ job: Job) -> Bool {
    guard isPicture(job) else { return false }
    latest = job.sampleBuffer
    latestWasPresented = job.isRepeated
    if streamCount == job.streamCount, presented == nil { presented = job.presented }
    return true
  }

  /// Forgets the stream's frames, and its picture where it is to go.
  mutating func empty(removingImage: Bool) -> SampleBuffer? {
    let newest = queue.last ?? (isWaitingFresh ? waiting : nil)
    waiting = nil
    queue = []
    presented = nil
    streamCount += 1
    if removingImage {
      latest = nil
      isReadyForDisplay = false
      mustRemoveImage = true
      firstStreamOfPicture = streamCount
    }
    return newest
  }

  /// From here on the frames of another stream come, of which the surface shows `newest` at once, or nothing.
  mutating func begin(
    with newest: SampleBuffer?, isFresh: Bool, presented: (@Sendable (MonotonicTime) -> Void)?
  ) -> SampleBuffer? {
    let dropped = empty(removingImage: newest == nil)
    firstStreamOfPicture = streamCount
    latest = nil
    waiting = newest
    isWaitingFresh = isFresh
    mustRemoveImage = newest == nil
    self.presented = presented
    return dropped
  }

  // MARK: - Out

  /// What the presenting thread is to do at `now`, or when it is to ask again.
  mutating func nextWork(at now: MonotonicTime) -> Locked<DisplayMailbox>.Step<Work> {
    if let renderer = retired.popLast() {
      retiring = renderer
      return begin(.retire(renderer))
    }
    if isClosed { return .done(.end) }
    guard let renderer, isGranted else { return .whenWoken }
    if !isAdopted {
      isAdopted = true
      return begin(.adopt(renderer))
    }
    if mustRemoveImage {
      mustRemoveImage = false
      return begin(.removeImage(renderer))
    }
    if isRequestDue, let request, isReadyForMoreMediaData {
      isRequestDue = false
      return .done(.requestData(request))
    }
    let pause = retryAt.flatMap { now < $0 ? $0 : nil }
    if let pause, failureCount >= Self.patience { return .at(pause) }
    if let frame = waiting {
      waiting = nil
      return begin(.present(job(frame, on: renderer, isCounted: false, isNew: isWaitingFresh)))
    }
    if let due = dueFrame(at: now) {
      return begin(.present(job(due, on: renderer, isCounted: false, isNew: true)))
    }
    if needsDisplay, let latest {
      // Frames that wait for a time are looked at then, too.
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

  /// The surface that was being left has been left.
  ///
  /// - Returns: whether the layer wants it again, or came back meanwhile and has to leave it once more.
  mutating func hasLeft(_ renderer: any VideoRenderer) -> Bool {
    retiring = nil
    return self.renderer === renderer || retired.contains { $0 === renderer }
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
    if request != nil { isRequestDue = true }
    defer { presented = nil }
    var observer: (@Sendable (SampleBuffer) -> Void)?
    if let sizeObserver,
      observedFormat !== sampleBuffer.formatDescription || observedOrientation != sampleBuffer.orientation
    {
      observedFormat = sampleBuffer.formatDescription
      observedOrientation = sampleBuffer.orientation
      observer = sizeObserver
    }
    return Job(
      sampleBuffer: sampleBuffer, renderer: renderer, gravity: gravity, orientation: orientation, presented: presented,
      streamCount: streamCount, isRepeated: isRepeated, isCounted: isCounted, tally: isNew ? tally : nil,
      sizeObserver: observer)
  }

  /// The newest frame whose time has come; those before it are late. Without a timebase any more, all are due.
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
