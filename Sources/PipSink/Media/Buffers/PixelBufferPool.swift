import CGStreamer

/// Memory for frames that PipSink or the app makes, used again from frame to frame.
///
/// A frame's memory comes back by itself when nothing refers to the frame any more. The pool keeps buffers by format
/// and size, follows a stream whose size changes, never has more than ``Configuration/maximumBufferCount`` buffers of
/// one format, and gives what was not used for a while back to the system. May be used from every thread.
public final class PixelBufferPool: Sendable {
  public struct Configuration: Sendable {
    /// Buffers of one format and size, used and unused. What is asked for beyond is refused rather than waited for:
    /// a surface that does not keep up must not stop its stream, nor take all memory.
    public var maximumBufferCount = 16
    /// Formats and sizes at once; the one that was not used for longest has to go.
    public var maximumFormatCount = 4
    /// After this time a format's buffers go when none was taken or given back.
    public var idleTime = Duration.seconds(2)

    public init() {}
  }

  public struct Statistics: Equatable, Sendable {
    /// Buffers that exist, of all formats.
    public internal(set) var bufferCount = 0
    /// Those of them that a frame has.
    public internal(set) var inUse = 0
    /// What they take, in bytes.
    public internal(set) var byteCount = 0
    /// Buffers handed out so far.
    public internal(set) var taken: UInt64 = 0
    /// Those of them that had been used before.
    public internal(set) var reused: UInt64 = 0
    /// Requests refused because the bound was reached.
    public internal(set) var refused: UInt64 = 0
    /// Formats given up: idle, too many, or trimmed by hand. What frames still have of them is in no count.
    public internal(set) var formatsTrimmed: UInt64 = 0

    fileprivate mutating func add(_ counts: CountingBufferPool.Counts) {
      taken += counts.taken
      reused += counts.taken - min(counts.taken, counts.made)
    }
  }

  private let shelves: PoolShelves

  public init(configuration: Configuration = Configuration()) {
    shelves = PoolShelves(configuration: configuration)
  }

  deinit {
    shelves.close()
  }

  public var statistics: Statistics { shelves.statistics }

  /// Memory for a frame of a format.
  ///
  /// - Throws: ``PipSinkError/Frame/poolExhausted(limit:)``, ``PipSinkError/Frame/outOfMemory(byteCount:)``.
  public func makePixelBuffer(_ format: VideoFormatDescription) throws(PipSinkError) -> MutablePixelBuffer {
    MutablePixelBuffer(owning: try shelves.take(format), formatDescription: format)
  }

  /// Lets frames of formats that come from now on have as many buffers as they take, for frames that go to an element
  /// that keeps some for itself, as an encoder does that looks ahead.
  package func removeLimit() {
    shelves.removeLimit()
  }

  /// Gives back what no frame uses.
  public func trim() {
    shelves.trim { _ in true }
  }
}

/// The buffers by format. An object of its own, so that ``IdleTrimmer`` need not keep the pool.
final class PoolShelves: Sendable {
  private struct State {
    /// The most recently used last.
    var pools: [CountingBufferPool] = []
    var totals = PixelBufferPool.Statistics()
    var isClosed = false
    /// Of one format; 0 for no limit.
    var maximumBufferCount: Int

    @discardableResult
    mutating func remove(where isUnwanted: (CountingBufferPool) -> Bool) -> [CountingBufferPool] {
      let removed = pools.filter(isUnwanted)
      pools.removeAll { pool in removed.contains { $0 === pool } }
      for pool in removed { totals.add(pool.counts) }
      totals.formatsTrimmed += UInt64(removed.count)
      return removed
    }
  }

  let configuration: PixelBufferPool.Configuration
  private let state: Locked<State>

  init(configuration: PixelBufferPool.Configuration) {
    self.configuration = configuration
    state = Locked(State(maximumBufferCount: configuration.maximumBufferCount))
  }

  func removeLimit() {
    state.withLock { $0.maximumBufferCount = 0 }
  }

  var statistics: PixelBufferPool.Statistics {
    state.withLock { state in
      var result = state.totals
      for pool in state.pools {
        let counts = pool.counts
        result.bufferCount += counts.allocated
        result.inUse += counts.inUse
        result.byteCount += counts.allocated * pool.bufferSize
        result.add(counts)
      }
      return result
    }
  }

  func take(_ format: VideoFormatDescription) throws(PipSinkError) -> UnsafeMutablePointer<GstBuffer> {
    let (pool, isNew) = try pool(for: format)
    if isNew { IdleTrimmer.shared.watch(self) }
    do throws(PipSinkError) {
      return try pool.take()
    } catch {
      if case .frame(.poolExhausted) = error { state.withLock { $0.totals.refused += 1 } }
      throw error
    }
  }

  private func pool(
    for format: VideoFormatDescription
  ) throws(PipSinkError) -> (pool: CountingBufferPool, isNew: Bool) {
    // What is given up is let go outside of the lock.
    var removed: CountingBufferPool?
    defer { _ = removed }
    return try state.withLock { state throws(PipSinkError) in
      if let index = state.pools.lastIndex(where: { $0.formatDescription === format }) {
        let pool = state.pools[index]
        if index != state.pools.count - 1 { state.pools.append(state.pools.remove(at: index)) }
        return (pool, false)
      }
      guard
        let pool = CountingBufferPool(
          formatDescription: format, maximumBufferCount: state.maximumBufferCount)
      else { throw .frame(.outOfMemory(byteCount: Int(format.info.size))) }
      if state.pools.count >= configuration.maximumFormatCount {
        removed = state.pools.first
        state.remove { $0 === removed }
      }
      state.pools.append(pool)
      return (pool, true)
    }
  }

  /// Gives up the pools for which `isUnwanted` holds; buffers in use are freed when they come back.
  func trim(_ isUnwanted: (CountingBufferPool.Counts) -> Bool) {
    let removed = state.withLock { state in
      state.remove { isUnwanted($0.counts) }
    }
    _ = removed
  }

  func close() {
    state.withLock { $0.isClosed = true }
    trim { _ in true }
    IdleTrimmer.shared.lookAgain()
  }

  /// Trims what has been idle for long enough.
  ///
  /// - Returns: when to look again; nil when nothing is left to look after.
  func trimIdle(at now: MonotonicTime) -> MonotonicTime? {
    let limit = configuration.idleTime
    trim { $0.lastUse.advanced(by: limit) <= now }
    return state.withLock { state in
      state.isClosed ? nil : state.pools.map { $0.counts.lastUse.advanced(by: limit) }.min()
    }
  }
}
