import Testing

@testable import PipSink

/// The next step of a presenting thread at each moment: frames that wait, frames that have a time, pauses after
/// failures.
@Suite struct DisplayMailboxTests {
  private let numbered: NumberedFrames
  private let renderer = TestRenderer()

  init() throws {
    numbered = try NumberedFrames()
  }

  private func moment(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: UInt64(seconds * 1e9)) }

  /// Makes a mailbox that has its renderer.
  private func adopted() -> DisplayMailbox {
    var mailbox = DisplayMailbox(gravity: .resize)
    _ = mailbox.change(to: renderer)
    let isGranted = mailbox.renderers.grant(renderer)
    #expect(isGranted)
    #expect(next(&mailbox, at: 0) == "adopt")
    return mailbox
  }

  @discardableResult
  private func put(_ sampleBuffer: SampleBuffer, into mailbox: inout DisplayMailbox) -> Bool {
    var frame: SampleBuffer? = sampleBuffer
    return mailbox.put(&frame).hasReplaced
  }

  /// Returns the step that the presenting thread is told to do at a moment, and then marks it as done.
  private func next(_ mailbox: inout DisplayMailbox, at seconds: Double) -> String {
    defer { mailbox.isPresenting = false }
    switch mailbox.nextWork(at: moment(seconds)) {
    case .whenWoken: return "wait"
    case .at(let moment): return "wait until \(Double(moment.nanoseconds) / 1e9)"
    case .done(.present(let job)):
      return "show \(job.sampleBuffer.sequenceNumber)" + (job.isRepeated ? " again" : "")
    case .done(.removeImage): return "remove"
    case .done(.adopt): return "adopt"
    case .done(.retire): return "retire"
    case .done(.copy): return "copy"
    case .done(.end): return "end"
    }
  }

  // MARK: - One frame

  @Test func theNewestFrameWaitsAndThenNothing() {
    var mailbox = adopted()
    #expect(next(&mailbox, at: 1) == "wait")
    #expect(!put(numbered(1), into: &mailbox))
    #expect(put(numbered(2), into: &mailbox))
    #expect(next(&mailbox, at: 1) == "show 2")
    #expect(!put(numbered(3), into: &mailbox), "a frame that is being shown is not replaced")
    #expect(next(&mailbox, at: 1) == "show 3")
    #expect(next(&mailbox, at: 1) == "wait")
    #expect(mailbox.statistics == .init(replaced: 1))
  }

  @Test func theThreadIsWokenForTheFirstFrameThatWaitsAndNotForThoseThatReplaceIt() {
    var mailbox = adopted()
    for (number, mustWake) in [(1, true), (2, false), (3, false)] as [(UInt64, Bool)] {
      var frame: SampleBuffer? = numbered(number)
      let (isWoken, _) = mailbox.put(&frame)
      #expect(isWoken == mustWake)
      #expect(frame?.sequenceNumber == (number == 1 ? nil : number - 1), "the replaced frame comes back")
    }
    mailbox.timebase = Timebase()
    for (number, mustWake) in [(1, true), (2, false)] as [(UInt64, Bool)] {
      var frame: SampleBuffer? = numbered(number, seconds: 1)
      let (isWoken, _) = mailbox.put(&frame)
      #expect(isWoken == mustWake)
      #expect(frame == nil)
    }
  }

  @Test func whatIsTakenAwayIsTakenAwayBeforeTheNextFrameIsShown() {
    var mailbox = adopted()
    put(numbered(1), into: &mailbox)
    let dropped = mailbox.empty(removingImage: true)
    #expect(dropped?.sequenceNumber == 1)
    put(numbered(2), into: &mailbox)
    #expect(next(&mailbox, at: 1) == "remove")
    #expect(next(&mailbox, at: 1) == "show 2")
    #expect(next(&mailbox, at: 1) == "wait")
  }

  @Test func aSurfaceIsLeftBeforeTheNextIsTakenAndBeforeTheEnd() {
    let other = TestRenderer()
    var mailbox = adopted()
    put(numbered(1), into: &mailbox)
    let unwanted = mailbox.change(to: other)
    #expect(unwanted == nil, "the mailbox was not waiting for a renderer")
    #expect(mailbox.renderers.holds(renderer) && !mailbox.renderers.holds(other))
    #expect(next(&mailbox, at: 1) == "retire")
    #expect(
      mailbox.renderers.holds(renderer), "the mailbox holds the renderer until the thread reports that it has left it")
    let isWantedAgain = mailbox.renderers.hasLeft(renderer)
    #expect(!isWantedAgain)
    #expect(!mailbox.renderers.holds(renderer))
    #expect(next(&mailbox, at: 1) == "wait", "the layer has not been granted the other renderer yet")
    let isGranted = mailbox.renderers.grant(other)
    #expect(isGranted && mailbox.renderers.holds(other))
    #expect(next(&mailbox, at: 1) == "adopt")
    #expect(next(&mailbox, at: 1) == "show 1")
    let isGrantedTooLate = mailbox.renderers.grant(renderer)
    #expect(!isGrantedTooLate, "the renderer is not wanted any more")
    _ = mailbox.change(to: nil)
    mailbox.isClosed = true
    #expect(next(&mailbox, at: 1) == "retire")
    #expect(next(&mailbox, at: 1) == "end")
  }

  // MARK: - Frames with a time

  @Test func ofTooManyFramesWithATimeTheOldestGoes() {
    var mailbox = adopted()
    let timebase = Timebase(time: .zero, rate: 0)
    mailbox.timebase = timebase
    for number in 1...UInt64(DisplayMailbox.queueLimit) {
      #expect(!put(numbered(number, seconds: Double(number)), into: &mailbox))
    }
    #expect(mailbox.statistics.replaced == 0)
    #expect(put(numbered(9, seconds: 9), into: &mailbox))
    #expect(put(numbered(10, seconds: 10), into: &mailbox))
    #expect(mailbox.statistics.replaced == 2)
    timebase.time = MediaTime(seconds: 2)
    let now = Double(MonotonicTime.now.nanoseconds) / 1e9 + 1000
    #expect(next(&mailbox, at: now) == "wait", "the frames of the first two seconds were dropped")
    timebase.time = MediaTime(seconds: 3)
    #expect(next(&mailbox, at: now) == "show 3")
    timebase.time = MediaTime(seconds: 10)
    #expect(next(&mailbox, at: now) == "show 10")
    #expect(mailbox.statistics == .init(replaced: 2, late: 6))
    #expect(next(&mailbox, at: now) == "wait")
  }

  @Test func aFrameIsShownAtItsMomentAndNotBefore() {
    var mailbox = adopted()
    let begin = MonotonicTime.now
    mailbox.timebase = Timebase(time: .zero, rate: 2)
    let anchor = Double(begin.nanoseconds) / 1e9
    put(numbered(1, seconds: 2000), into: &mailbox)
    put(numbered(2, seconds: 4000), into: &mailbox)
    // The timebase runs at twice the speed, and it started at `begin` or a little later.
    #expect(next(&mailbox, at: anchor + 999.9).hasPrefix("wait until"))
    #expect(next(&mailbox, at: anchor + 1900) == "show 1")
    #expect(next(&mailbox, at: anchor + 1900).hasPrefix("wait until"))
    #expect(next(&mailbox, at: anchor + 3000) == "show 2")
    #expect(mailbox.statistics.late == 0)
  }

  @Test func whichFramesWaitForTheirTime() {
    var mailbox = adopted()
    put(numbered(1, seconds: 100), into: &mailbox)
    #expect(next(&mailbox, at: 1) == "show 1", "there is no timebase")
    mailbox.timebase = Timebase(time: .zero, rate: 0)
    put(numbered(2, seconds: 100), into: &mailbox)
    #expect(next(&mailbox, at: 1) == "wait")
    var frame = numbered(3, seconds: 100)
    frame.attachments.displayImmediately = true
    put(frame, into: &mailbox)
    #expect(next(&mailbox, at: 1) == "show 3")
    frame.timing = .invalid
    frame.attachments.displayImmediately = false
    frame.sequenceNumber = 4
    put(frame, into: &mailbox)
    #expect(next(&mailbox, at: 1) == "show 4", "the frame has no time")
    mailbox.timebase = nil
    #expect(next(&mailbox, at: 1) == "show 2", "without a timebase, no frame waits")
  }

  @Test func framesThatWaitForTheirTimeGoWithTheirStream() {
    var mailbox = adopted()
    mailbox.timebase = Timebase(time: .zero, rate: 0)
    for number in 1...3 as ClosedRange<UInt64> { put(numbered(number, seconds: 100), into: &mailbox) }
    let dropped = mailbox.empty(removingImage: false)
    #expect(dropped?.sequenceNumber == 3, "the newest frame comes back")
    mailbox.timebase = nil
    #expect(next(&mailbox, at: 1) == "wait")
  }

  // MARK: - Pauses after failures

  @Test func afterOneFailureANewFrameIsTriedAtOnceAndAfterTwoItWaits() {
    var mailbox = adopted()
    mailbox.failures.retryAt = moment(10)
    mailbox.failures.count = 1
    put(numbered(1), into: &mailbox)
    #expect(next(&mailbox, at: 5) == "show 1")
    mailbox.failures.count = 2
    put(numbered(2), into: &mailbox)
    #expect(next(&mailbox, at: 5) == "wait until 10.0")
    #expect(put(numbered(3), into: &mailbox), "the waiting frame is replaced during the pause")
    #expect(next(&mailbox, at: 9.999) == "wait until 10.0")
    #expect(next(&mailbox, at: 10) == "show 3")
  }

  @Test func theFrameThatFailedIsTriedAgainAfterItsPauseAndNotBefore() {
    var mailbox = adopted()
    mailbox.latest = numbered(1)
    mailbox.needsDisplay = true
    mailbox.failures.count = 1
    mailbox.failures.retryAt = moment(10)
    for _ in 0..<2 { #expect(next(&mailbox, at: 5) == "wait until 10.0") }
    #expect(next(&mailbox, at: 10) == "show 1")
    #expect(next(&mailbox, at: 10) == "wait")
  }

  @Test func framesWithATimeWaitForTheirTimeAndForThePause() {
    var mailbox = adopted()
    let timebase = Timebase(time: .zero, rate: 0)
    mailbox.timebase = timebase
    let now = Double(MonotonicTime.now.nanoseconds) / 1e9 + 1000
    mailbox.failures.count = 2
    mailbox.failures.retryAt = moment(now + 10)
    put(numbered(1, seconds: 0), into: &mailbox)
    #expect(next(&mailbox, at: now).hasPrefix("wait until"))
    mailbox.failures.count = 1
    #expect(next(&mailbox, at: now) == "show 1")
  }
}
