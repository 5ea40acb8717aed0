import Logging
import Synchronization

/// Passes a stream's frames through processors, in order, and then to the next consumer.
///
/// It is placed between the engine and the router. The processors may be replaced from any thread while frames flow;
/// the next frame goes through the new ones.
public final class ProcessorChain: SampleBufferConsumer {
  /// The counts of a chain's frames.
  package struct Statistics: Equatable, Sendable {
    /// The number of frames that the chain has received, which is `passed + dropped + failed`.
    package var received: UInt64 { passed + dropped + failed }
    /// The number of frames passed to the next consumer.
    package internal(set) var passed: UInt64 = 0
    /// The number of frames that processors have dropped on purpose.
    package internal(set) var dropped: UInt64 = 0
    /// The number of frames that were dropped because a processor threw an error.
    package internal(set) var failed: UInt64 = 0
  }

  private struct State {
    var links: [Link]
    var statistics = Statistics()
    var error: PipSinkError?
    /// Whether the next frame is the first one that a formerly transparent chain counts.
    var beginsToCount = false

    /// Counts a frame that passes.
    ///
    /// - Returns: the frame's new number. Frames are renumbered, so that the router does not count frames as lost that
    ///   processors have dropped.
    mutating func countPassed() -> UInt64 {
      statistics.passed += 1
      return statistics.passed
    }
  }

  private let next: any SampleBufferConsumer
  private let state: Locked<State>
  /// Whether a transparent chain has had no processors so far, so that frames have kept their numbers.
  private let isTransparent: Atomic<Bool>

  /// Makes a chain.
  ///
  /// - Parameters:
  ///   - processors: the processors, first to last.
  ///   - next: gets the processed frames.
  public init(_ processors: [any FrameProcessor] = [], next: any SampleBufferConsumer) {
    self.next = next
    state = Locked(State(links: processors.map(Link.init)))
    isTransparent = Atomic(false)
  }

  /// Makes a chain without processors. If it is transparent, frames pass at almost no cost until it gets processors.
  package init(next: any SampleBufferConsumer, isTransparent: Bool) {
    self.next = next
    state = Locked(State(links: []))
    self.isTransparent = Atomic(isTransparent)
  }

  /// Whether a transparent chain has or had processors; always true for a chain that is not transparent.
  package var isInUse: Bool { !isTransparent.load(ordering: .relaxed) }

  /// The processors, first to last. It may be changed from any thread. A processor that stays in the chain keeps its
  /// state.
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

  /// The counts of the chain's frames so far.
  package var statistics: Statistics { state.withLock { $0.statistics } }

  /// The last error that a processor has thrown; nil if none has.
  package var error: PipSinkError? { state.withLock { $0.error } }

  /// The kind of pixels that the next consumer prefers.
  public var formatSeries: FrameFormatSeries { next.formatSeries }

  /// Passes a frame through the processors and on to the next consumer, on the caller's thread. It must be called for
  /// one frame at a time.
  public func consume(_ sampleBuffer: consuming SampleBuffer) {
    if isTransparent.load(ordering: .relaxed) { return next.consume(sampleBuffer) }
    let links: [Link] = state.withLock { state in
      if state.beginsToCount {
        state.beginsToCount = false
        state.statistics.passed = max(1, sampleBuffer.sequenceNumber) - 1
      }
      // For an empty chain, one lock is enough.
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

  /// A processor, and the format that it was last told.
  ///
  /// `@unchecked Sendable`: `format` is used on the streaming thread alone.
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
