/// What a display layer and its presenting thread share, behind the layer's lock.
struct DisplayMailbox {
  /// A frame on its way to the renderer.
  struct Job {
    let sampleBuffer: SampleBuffer
    let renderer: any VideoRenderer
    let gravity: VideoGravity
    let orientation: VideoOrientation
    let colorBalance: ColorBalance
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

  var surface = DisplaySurface()
  var gravity: VideoGravity
  var orientation = VideoOrientation.upright

  // What waits.
  var waiting: SampleBuffer?
  /// Whether `waiting` has been shown nowhere yet.
  var isWaitingFresh = false
  /// Frames with a time, in the order that they came.
  var queue: [SampleBuffer] = []
  var timebase: Timebase?
  var request: (@Sendable () -> Void)?
  var isRequestDue = false

  // What is shown.
  /// The newest frame that went to the renderer, to be shown again.
  var latest: SampleBuffer?
  /// Whether `latest` has been presented: not when nobody could see the surface.
  var latestWasPresented = false
  var isReadyForDisplay = false
  var needsDisplay = false
  var mustRemoveImage = false
  var isPresenting = false
  var isClosed = false
  var failures = DisplayFailures()
  var statistics = SampleBufferDisplayLayer.Statistics()

  // Whose frames they are.
  /// Of the stream that a router sends here.
  var tally: PresentationTally?
  /// Called after the next frame that is taken from here has been presented, once. A frame that is being presented
  /// already does not count: it may be another stream's.
  var presented: (@Sendable (MonotonicTime) -> Void)?
  var sizes = SizeObservation()
  /// Counts the streams that have begun and left.
  private(set) var streamCount = 0
  /// From this one on, frames that were on their way when their stream left are still the surface's picture: of a stream
  /// that has left its picture there.
  private var firstStreamOfPicture = 0

  init(gravity: VideoGravity) {
    self.gravity = gravity
  }

  var isIdle: Bool {
    waiting == nil && queue.isEmpty && !mustRemoveImage && !isPresenting && surface.isSettled
      && !(needsDisplay && latest != nil)
  }

  var isReadyForMoreMediaData: Bool { waiting == nil && queue.count < Self.queueLimit }

  /// Shows on another renderer from now on, or on none. Whether it may, ``SurfaceOccupancy`` says.
  ///
  /// - Returns: a renderer that the layer was waiting for and now wants no more.
  mutating func change(to new: (any VideoRenderer)?) -> (any VideoRenderer)? {
    isReadyForDisplay = false
    failures = DisplayFailures(status: failures.status, error: failures.error)
    needsDisplay = true
    latestWasPresented = latest != nil && latestWasPresented
    return surface.change(to: new)
  }

  /// The renderer is gone for good, and need not be left.
  mutating func loseRenderer() {
    surface.lose()
    isReadyForDisplay = false
    failures.count = 0
  }

  /// Another layer takes the renderer.
  mutating func leave(_ renderer: any VideoRenderer) {
    if surface.renderer === renderer { _ = change(to: nil) }
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
    if let renderer = surface.nextToLeave() { return begin(.retire(renderer)) }
    if isClosed { return .done(.end) }
    guard let renderer = surface.renderer, surface.isGranted else { return .whenWoken }
    if surface.adopt() { return begin(.adopt(renderer)) }
    if mustRemoveImage {
      mustRemoveImage = false
      return begin(.removeImage(renderer))
    }
    if isRequestDue, let request, isReadyForMoreMediaData {
      isRequestDue = false
      return .done(.requestData(request))
    }
    let pause = failures.pause(at: now)
    if let pause, failures.holdsNewFrames { return .at(pause) }
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
    if needsDisplay, renderer.drawsWithoutPicture {
      needsDisplay = false
      return begin(.removeImage(renderer))
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
    if request != nil { isRequestDue = true }
    defer { presented = nil }
    return Job(
      sampleBuffer: sampleBuffer, renderer: renderer, gravity: gravity, orientation: orientation,
      colorBalance: tally?.colorBalance ?? .neutral, presented: presented, streamCount: streamCount,
      isRepeated: isRepeated, isCounted: isCounted, tally: isNew ? tally : nil,
      sizeObserver: sizes.observer(for: sampleBuffer))
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

/// Who is told when frames have another size or orientation than the one before.
struct SizeObservation {
  typealias Observer = @Sendable (SampleBuffer) -> Void

  private var observer: Observer?
  private var format: VideoFormatDescription?
  private var orientation = VideoOrientation.upright

  /// - Parameter observer: is told with the next frame in any case.
  init(_ observer: Observer? = nil) { self.observer = observer }

  /// Who is to be told of a frame.
  mutating func observer(for sampleBuffer: SampleBuffer) -> Observer? {
    guard observer != nil, format !== sampleBuffer.formatDescription || orientation != sampleBuffer.orientation else {
      return nil
    }
    (format, orientation) = (sampleBuffer.formatDescription, sampleBuffer.orientation)
    return observer
  }
}
