import Logging
import Synchronization

/// Runs a stream's frames through processors, in order, and hands what they leave to the next consumer.
///
/// It stands between the engine and the router. The processors may be exchanged from any thread while frames flow; the
/// next frame goes through the new ones.
public final class ProcessorChain: SampleBufferConsumer {
  /// Counts of frames. `received` is `passed + dropped + failed`.
  public struct Statistics: Equatable, Sendable {
    public var received: UInt64 { passed + dropped + failed }
    /// Handed on.
    public internal(set) var passed: UInt64 = 0
    /// Dropped on purpose.
    public internal(set) var dropped: UInt64 = 0
    /// Dropped because a processor threw.
    public internal(set) var failed: UInt64 = 0
  }

  private struct State {
    var links: [Link]
    var statistics = Statistics()
    var error: PipSinkError?
    /// Whether the next frame is the first that is counted, of a chain that let all others through.
    var beginsToCount = false

    /// - Returns: the frame's number for what follows. Frames are counted anew, so that one that was dropped here is
    ///   not taken for one that routing lost.
    mutating func countPassed() -> UInt64 {
      statistics.passed += 1
      return statistics.passed
    }
  }

  private let next: any SampleBufferConsumer
  private let state: Locked<State>
  /// Whether it has had no processors so far, and all frames have gone through with their own numbers.
  private let isTransparent: Atomic<Bool>

  public init(_ processors: [any FrameProcessor] = [], next: any SampleBufferConsumer) {
    self.next = next
    state = Locked(State(links: processors.map(Link.init)))
    isTransparent = Atomic(false)
  }

  /// A chain that costs its frames next to nothing until it is given processors.
  package init(next: any SampleBufferConsumer, isTransparent: Bool) {
    self.next = next
    state = Locked(State(links: []))
    self.isTransparent = Atomic(isTransparent)
  }

  /// Whether it has, or has had, processors.
  package var isInUse: Bool { !isTransparent.load(ordering: .relaxed) }

  /// The processors, first to last. One that stays in the chain keeps its state.
  public var processors: [any FrameProcessor] {
    get { state.withLock { $0.links.map(\.processor) } }
    set {
      state.withLock { state in
        let old = state.links
        state.links = newValue.map { processor in old.first { $0.processor === processor } ?? Link(processor) }
        if !newValue.isEmpty, isTransparent.exchange(false, ordering: .relaxed) { state.beginsToCount = true }
      }
    }
  }

  public var statistics: Statistics { state.withLock { $0.statistics } }

  /// What a processor threw at the newest frame that any threw at.
  public var error: PipSinkError? { state.withLock { $0.error } }

  public var formatSeries: FrameFormatSeries { next.formatSeries }

  public func consume(_ sampleBuffer: consuming SampleBuffer) {
    if isTransparent.load(ordering: .relaxed) { return next.consume(sampleBuffer) }
    let links: [Link] = state.withLock { state in
      if state.beginsToCount {
        state.beginsToCount = false
        state.statistics.passed = max(1, sampleBuffer.sequenceNumber) - 1
      }
      // An empty chain is passed under the one lock.
      if state.links.isEmpty { sampleBuffer.sequenceNumber = state.countPassed() }
      return state.links
    }
    guard !links.isEmpty else { return next.consume(sampleBuffer) }
    let receivedAt = sampleBuffer.receivedAt
    do throws(PipSinkError) {
      var current = sampleBuffer
      for link in links {
        guard let result = try link.process(current) else {
          return state.withLock { $0.statistics.dropped += 1 }
        }
        current = result
      }
      current.sequenceNumber = state.withLock { $0.countPassed() }
      current.receivedAt = receivedAt
      next.consume(current)
    } catch {
      fail(error)
    }
  }

  private func fail(_ error: PipSinkError) {
    let isNew = state.withLock { state in
      state.statistics.failed += 1
      defer { state.error = error }
      return state.error != error
    }
    if isNew { Logger(visible: "pipsink.processing").error("a frame cannot be processed and is dropped: \(error)") }
  }

  /// One processor, and the format that it was last told of.
  ///
  /// `@unchecked Sendable`: `format` belongs to the streaming thread.
  private final class Link: @unchecked Sendable {
    let processor: any FrameProcessor
    private var format: VideoFormatDescription?

    init(_ processor: any FrameProcessor) {
      self.processor = processor
    }

    func process(_ sampleBuffer: SampleBuffer) throws(PipSinkError) -> SampleBuffer? {
      if format !== sampleBuffer.formatDescription {
        format = sampleBuffer.formatDescription
        processor.formatDidChange(to: sampleBuffer.formatDescription)
      }
      return try processor.process(sampleBuffer)
    }
  }
}
