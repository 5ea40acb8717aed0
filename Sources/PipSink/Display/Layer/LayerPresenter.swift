import Logging

/// What the presenting thread of a display layer runs.
struct LayerPresenter {
  let name: String
  let mailbox: Locked<DisplayMailbox>
  let clock: SchedulingClock

  /// The renderer that got the last frame, the frame size that it was informed of, and whether it could be seen then.
  /// Only the presenting thread uses it.
  private struct LastRenderer {
    weak var renderer: (any VideoRenderer)?
    /// The same renderer, where it shows pictures on a screen.
    weak var screen: (any ScreenRenderer)?
    var size: PictureSize?
    /// Not every renderer says when it cannot be seen any more.
    var wasVisible = true

    mutating func report(to renderer: any VideoRenderer, sizeOf sampleBuffer: SampleBuffer) {
      let new = sampleBuffer.orientation.applied(to: sampleBuffer.pixelBuffer.visibleRect.size)
      let isOther = self.renderer !== renderer
      guard isOther || size != new else { return }
      if isOther { (self.renderer, screen) = (renderer, renderer as? any ScreenRenderer) }
      size = new
      renderer.frameSizeDidChange(to: new)
    }
  }

  /// Presents frames until the layer is closed.
  func run() {
    var last = LastRenderer()
    while true {
      switch mailbox.waitStepwise(by: clock, { $0.nextWork(at: clock.now) }) {
      case .present(let job):
        present(job, &last)
      case .removeImage(let renderer):
        renderer.removeImage()
        finish { _ in }
      case .adopt(let renderer):
        let mailbox = mailbox
        renderer.setNeedsDisplayHandler {
          let notice = mailbox.withLock { mailbox in
            mailbox.needsDisplay = true
            return mailbox.demandNotice
          }
          mailbox.wakeAll()
          notice?()
        }
        (renderer as? any ScreenRenderer)?.setScreenTimeHandler { time in mailbox.withLock { $0.note(time) } }
        finish { _ in }
      case .retire(let renderer):
        renderer.removeHandlers()
        renderer.removeImage()
        RendererOccupancy.release(renderer, by: mailbox)
        finish { _ in }
      case .copy(let picture):
        let copy = picture.inMemoryOfItsOwn
        finish { mailbox in
          if mailbox.latest?.pixelBuffer === picture.pixelBuffer { mailbox.latest = copy }
        }
      case .end:
        return
      }
    }
  }

  /// Ends the current work, with a last change of the mailbox.
  private func finish(_ change: (inout DisplayMailbox) -> Void) {
    mailbox.withLock { mailbox in
      mailbox.isPresenting = false
      change(&mailbox)
    }
    mailbox.wakeAll()
  }

  private func present(_ job: DisplayMailbox.Job, _ last: inout LastRenderer) {
    job.sizeObserver?(job.sampleBuffer)
    let isVisible = job.renderer.isVisible
    if isVisible != last.wasVisible {
      last.wasVisible = isVisible
      mailbox.withLock { $0.demandNotice }?()
    }
    guard isVisible else { return keep(job) }
    var sampleBuffer = job.sampleBuffer
    sampleBuffer.orientation = sampleBuffer.orientation.followed(by: job.orientation)
    sampleBuffer.colorBalance = job.colorBalance
    last.report(to: job.renderer, sizeOf: sampleBuffer)
    do throws(PipSinkError) {
      sampleBuffer = try inFormatOfRenderer(sampleBuffer, job)
    } catch {
      // There is nothing to repair about the renderer.
      let error = RenderingError(error)
      note(error)
      return fail(job, error)
    }
    do throws(RenderingError) {
      succeed(job, drawnBy: try render(sampleBuffer, job, on: last.screen), wasRecovered: false)
    } catch {
      recover(job, sampleBuffer, on: last.screen, from: error)
    }
  }

  /// - Parameter screen: the job's renderer, where it shows pictures on a screen.
  /// - Returns: who makes the picture for a screen; nil elsewhere.
  private func render(
    _ sampleBuffer: SampleBuffer, _ job: DisplayMailbox.Job, on screen: (any ScreenRenderer)?
  ) throws(RenderingError) -> FrameDrawer? {
    if let screen { return try screen.present(sampleBuffer, gravity: job.gravity) }
    try job.renderer.render(sampleBuffer, gravity: job.gravity)
    return nil
  }

  /// The frame in a format that its renderer takes: the frame itself, or a converted one.
  private func inFormatOfRenderer(
    _ sampleBuffer: SampleBuffer, _ job: DisplayMailbox.Job
  ) throws(PipSinkError) -> SampleBuffer {
    let series = job.formatSeries == .any ? job.renderer.formatSeries : job.formatSeries
    if series.contains(sampleBuffer.pixelBuffer.pixelFormat) { return sampleBuffer }
    return try job.conversions.convert(sampleBuffer, to: series.fallback)
  }

  /// Keeps a frame for later, because the renderer is not visible.
  private func keep(_ job: DisplayMailbox.Job) {
    job.tally?.count { $0.hidden += 1 }
    finish { mailbox in
      mailbox.statistics.hidden += job.isCounted ? 0 : 1
      mailbox.keep(job)
    }
  }

  private func succeed(_ job: DisplayMailbox.Job, drawnBy drawer: FrameDrawer?, wasRecovered: Bool) {
    job.presented?(.now)
    job.tally?.countShown(job.sampleBuffer, drawnBy: drawer)
    var tally: PresentationTally?
    defer { tally?.note(nil) }
    finish { mailbox in
      tally = mailbox.tally
      mailbox.failures = DisplayFailures(status: .rendering)
      if !job.isRepeated { mailbox.statistics.presented += 1 }
      if wasRecovered { mailbox.statistics.recovered += 1 }
      // Another stream may have begun meanwhile, or the layer may have got another renderer.
      guard mailbox.isPicture(job) else { return }
      mailbox.latest = job.sampleBuffer
      mailbox.latestWasPresented = true
      if mailbox.renderers.current === job.renderer {
        mailbox.isReadyForDisplay = true
      } else {
        mailbox.needsDisplay = true
      }
    }
  }

  // MARK: - Failure

  /// Does what the error's code requires, and tries the same frame once more.
  private func recover(
    _ job: DisplayMailbox.Job, _ sampleBuffer: SampleBuffer, on screen: (any ScreenRenderer)?,
    from error: RenderingError
  ) {
    note(error)
    do throws(RenderingError) {
      try repair(job.renderer, after: error)
      succeed(job, drawnBy: try render(sampleBuffer, job, on: screen), wasRecovered: true)
    } catch {
      fail(job, error)
    }
  }

  /// Notes an error, and logs it if it differs from the one before.
  private func note(_ error: RenderingError) {
    let isNew = mailbox.exchange(\.failures.error, error) != error
    if isNew { Logger(visible: "pipsink.display").error("layer \"\(name)\" cannot show a frame: \(error)") }
  }

  private func repair(_ renderer: any VideoRenderer, after error: RenderingError) throws(RenderingError) {
    switch error.code {
    case .invalidPixelFormat:
      try rebuild(renderer)
    case .invalidSize:
      try renderer.updateSize()
    case .rendererLost:
      throw error
    case .other:
      // The mildest remedy comes first.
      if mailbox.withLock({ $0.failures.count }) == 0 { renderer.removeImage() } else { try rebuild(renderer) }
    }
  }

  private func rebuild(_ renderer: any VideoRenderer) throws(RenderingError) {
    try renderer.rebuild()
    mailbox.withLock { $0.statistics.rebuilt += 1 }
  }

  private func fail(_ job: DisplayMailbox.Job, _ error: RenderingError) {
    job.tally?.count { $0.failed += 1 }
    var tally: PresentationTally?
    defer {
      tally?.note(error)
      if error.code == .rendererLost {
        job.renderer.removeHandlers()
        RendererOccupancy.release(job.renderer, by: mailbox)
      }
    }
    finish { mailbox in
      mailbox.failures.error = error
      mailbox.failures.status = .failed
      if mailbox.renderers.current === job.renderer {
        if error.code == .rendererLost { mailbox.loseRenderer() } else { mailbox.failures.count += 1 }
        if error.code == .rendererLost || mailbox.failures.count >= DisplayFailures.limit { tally = mailbox.tally }
      }
      mailbox.statistics.failed += job.isCounted ? 0 : 1
      // The frame is shown when the renderer works again, unless a newer one arrives first.
      guard mailbox.keep(job), mailbox.failures.scheduleRetry(by: clock) else { return }
      mailbox.needsDisplay = true
    }
  }
}

/// How a layer's renderer fails, and when it is tried again.
struct DisplayFailures {
  private static let policy = RetryPolicy(limit: .max, firstPause: .milliseconds(50), longestPause: .seconds(2))
  /// After how many failures new frames wait for the next attempt as well.
  private static let patience = 2
  /// After how many failures in a row the surface counts as failed.
  static let limit = 3

  var status = SampleBufferDisplayLayer.Status.unknown
  var error: RenderingError?
  /// How many frames in a row could not be shown.
  var count = 0
  /// When the last of these frames is tried again.
  var retryAt: MonotonicTime?

  /// Whether new frames wait for the next attempt.
  var holdsNewFrames: Bool { count >= Self.patience }

  /// When a frame that could not be shown is tried again; nil when that moment has passed.
  func pause(at now: MonotonicTime) -> MonotonicTime? { retryAt.flatMap { now < $0 ? $0 : nil } }

  /// Sets the moment of the next attempt.
  ///
  /// - Returns: whether there is one.
  mutating func scheduleRetry(by clock: SchedulingClock) -> Bool {
    guard let pause = Self.policy.pause(before: count) else { return false }
    retryAt = clock.moment(in: pause)
    return true
  }
}

extension VideoRenderer {
  /// Removes what a layer has set, because it leaves the renderer.
  func removeHandlers() {
    setNeedsDisplayHandler(nil)
    (self as? any ScreenRenderer)?.setScreenTimeHandler(nil)
  }
}
