import Logging

/// Shows the newest frame it is given on a ``VideoRenderer``.
///
/// Frames are handed over in a mailbox for one: a frame that arrives while another waits replaces it. A thread of the
/// layer's own presents them, so that whoever enqueues never waits for a surface. All calls are allowed from every
/// thread. The thread ends when the layer goes away.
public final class SampleBufferDisplayLayer: SampleBufferDestination {
  /// What the layer has done so far, in frames.
  public struct Statistics: Equatable, Sendable {
    public internal(set) var presented: UInt64 = 0
    /// Replaced by a newer frame before they were presented.
    public internal(set) var replaced: UInt64 = 0
    /// Refused by the renderer.
    public internal(set) var failed: UInt64 = 0
  }

  public let name: String
  private let mailbox: Locked<Mailbox>
  private let thread: WorkerThread?

  /// - Parameters:
  ///   - name: for messages and the thread's name: "pip", for instance.
  ///   - renderer: the surface. With none, frames are taken and replaced but never presented.
  public init(name: String, renderer: (any VideoRenderer)? = nil, videoGravity: VideoGravity = .resizeAspect) {
    self.name = name
    let mailbox = Locked(Mailbox(gravity: videoGravity))
    self.mailbox = mailbox
    // The thread has the mailbox and the renderer, not the layer, which could otherwise never go away.
    thread = renderer.flatMap { renderer in
      WorkerThread(name: "pip-\(name)") { Presenter(name: name, renderer: renderer, mailbox: mailbox).run() }
    }
  }

  deinit {
    mailbox.withLock { mailbox in
      mailbox.isClosed = true
      mailbox.waiting = nil
    }
    mailbox.wakeAll()
    thread?.join()
  }

  public var videoGravity: VideoGravity {
    get { mailbox.withLock { $0.gravity } }
    set { mailbox.withLock { $0.gravity = newValue } }
  }

  /// How pictures are turned on this surface, besides what a frame itself says. From the next frame on.
  public var orientation: VideoOrientation {
    get { mailbox.withLock { $0.orientation } }
    set { mailbox.withLock { $0.orientation = newValue } }
  }

  public var statistics: Statistics { mailbox.withLock { $0.statistics } }

  /// Why the newest frame that was tried could not be shown; nil when it could.
  public var error: RenderingError? { mailbox.withLock { $0.error } }

  @discardableResult
  public func enqueue(_ sampleBuffer: SampleBuffer) -> Bool {
    let (wasEmpty, replaced) = mailbox.withLock { mailbox -> (Bool, Mailbox.Entry?) in
      let old = mailbox.waiting
      mailbox.waiting = Mailbox.Entry(sampleBuffer: sampleBuffer, isFresh: true)
      if old?.isFresh == true { mailbox.statistics.replaced += 1 }
      return (old == nil, old)
    }
    if wasEmpty { mailbox.wakeAll() }
    return replaced?.isFresh ?? false
  }

  public func begin(with latest: SampleBuffer?, isFresh: Bool, presented: (@Sendable (MonotonicTime) -> Void)?) {
    let dropped = mailbox.withLock { mailbox in
      let dropped = mailbox.waiting
      mailbox.waiting = latest.map { Mailbox.Entry(sampleBuffer: $0, isFresh: isFresh) }
      mailbox.mustRemoveImage = latest == nil
      mailbox.presented = presented
      mailbox.streamCount += 1
      return dropped
    }
    _ = dropped
    mailbox.wakeAll()
  }

  public func relinquish(removingImage: Bool) -> SampleBuffer? {
    let waiting = mailbox.withLock { mailbox in
      let waiting = mailbox.waiting
      mailbox.waiting = nil
      mailbox.presented = nil
      mailbox.streamCount += 1
      mailbox.mustRemoveImage = removingImage
      return waiting
    }
    if removingImage { mailbox.wakeAll() }
    return waiting?.isFresh == true ? waiting?.sampleBuffer : nil
  }

  /// Drops the frame that waits, if any, and keeps the picture that is shown.
  public func flush() {
    _ = relinquish(removingImage: false)
  }

  /// Drops the frame that waits, if any, and takes the picture away.
  public func flushAndRemoveImage() {
    _ = relinquish(removingImage: true)
  }

  /// Waits until everything that was enqueued so far has been presented or refused.
  ///
  /// - Returns: false when that was not so by `deadline`, or there is no renderer to present it.
  public func waitUntilPresented(by deadline: MonotonicTime) -> Bool {
    mailbox.wait(until: deadline) { $0.isIdle ? true : nil } ?? false
  }
}

/// What the layer and its presenting thread share.
private struct Mailbox {
  struct Entry {
    let sampleBuffer: SampleBuffer
    /// Whether it has been shown nowhere yet.
    let isFresh: Bool
  }

  /// A frame on its way to the renderer.
  struct Job {
    let sampleBuffer: SampleBuffer
    let gravity: VideoGravity
    let presented: (@Sendable (MonotonicTime) -> Void)?
    let streamCount: Int
  }

  var waiting: Entry?
  var mustRemoveImage = false
  var isPresenting = false
  var isClosed = false
  var gravity: VideoGravity
  var orientation = VideoOrientation.upright
  var statistics = SampleBufferDisplayLayer.Statistics()
  var error: RenderingError?
  /// Called after the next frame that is taken from here has been presented, once. A frame that is being presented
  /// already does not count: it may be another stream's.
  var presented: (@Sendable (MonotonicTime) -> Void)?
  /// Counts the streams that have begun and left.
  var streamCount = 0

  init(gravity: VideoGravity) {
    self.gravity = gravity
  }

  var isIdle: Bool { waiting == nil && !mustRemoveImage && !isPresenting }
}

/// The presenting thread.
private struct Presenter {
  let name: String
  let renderer: any VideoRenderer
  let mailbox: Locked<Mailbox>

  private enum Work {
    case present(Mailbox.Job)
    case removeImage
    case end
  }

  func run() {
    while true {
      switch nextWork() {
      case .present(let job):
        present(job)
      case .removeImage:
        renderer.removeImage()
        mailbox.withLock { $0.isPresenting = false }
        mailbox.wakeAll()
      case .end:
        return
      }
    }
  }

  private func nextWork() -> Work {
    mailbox.wait { mailbox in
      if mailbox.isClosed { return .end }
      if mailbox.mustRemoveImage {
        mailbox.mustRemoveImage = false
        mailbox.isPresenting = true
        return .removeImage
      }
      guard let entry = mailbox.waiting else { return nil }
      mailbox.waiting = nil
      mailbox.isPresenting = true
      defer { mailbox.presented = nil }
      var sampleBuffer = entry.sampleBuffer
      sampleBuffer.orientation = sampleBuffer.orientation.followed(by: mailbox.orientation)
      return .present(
        Mailbox.Job(
          sampleBuffer: sampleBuffer, gravity: mailbox.gravity, presented: mailbox.presented,
          streamCount: mailbox.streamCount))
    }
  }

  private func present(_ job: Mailbox.Job) {
    var failure: RenderingError?
    do throws(RenderingError) {
      try renderer.render(job.sampleBuffer, gravity: job.gravity)
    } catch {
      failure = error
    }
    if failure == nil { job.presented?(.now) }
    let isNewFailure = mailbox.withLock { mailbox in
      defer { mailbox.error = failure }
      mailbox.isPresenting = false
      if failure == nil {
        mailbox.statistics.presented += 1
      } else {
        mailbox.statistics.failed += 1
        // The next frame's turn to be the first; unless another stream has begun meanwhile.
        if mailbox.streamCount == job.streamCount { mailbox.presented = job.presented }
      }
      return failure != nil && failure != mailbox.error
    }
    mailbox.wakeAll()
    if let failure, isNewFailure {
      Logger(label: "pipsink.display").error("surface \"\(name)\" cannot show a frame: \(failure)")
    }
  }
}
