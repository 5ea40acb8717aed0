import CGStreamer

/// A pool of memory for frames that PipSink or the app makes, so that memory is reused from frame to frame.
///
/// A frame's memory returns to the pool when the last reference to the frame is gone. The pool keeps buffers for
/// several formats and sizes, and so follows a stream whose size changes. It never has more than
/// ``Configuration/maximumBufferCount`` buffers of one format, and frees memory that has not been used for
/// some time. Any thread may use it.
public final class PixelBufferPool: Sendable {
  /// The limits of a pool.
  public struct Configuration: Sendable {
    /// The maximum number of buffers of one format and size, used and unused; 0 for no limit. A request beyond it is
    /// refused at once, so that a slow consumer of frames neither blocks its stream nor takes all memory.
    public var maximumBufferCount = 16
    /// The maximum number of formats and sizes. For another one, the buffers of the least recently used one are freed.
    package var maximumFormatCount = 4
    /// The time after which the buffers of a format are freed if none of them was taken or returned.
    package var idleTime = Duration.seconds(2)

    /// Makes a configuration with the default values.
    public init() {}
  }

  /// The counts of a pool.
  package struct Statistics: Equatable, Sendable {
    /// The number of buffers that exist, of all formats.
    package internal(set) var bufferCount = 0
    /// The number of existing buffers that frames use.
    package internal(set) var inUse = 0
    /// The memory of all existing buffers, in bytes.
    package internal(set) var byteCount = 0
    /// The number of times that a buffer was handed out.
    package internal(set) var taken: UInt64 = 0
    /// The number of times that a handed out buffer had been used before.
    package internal(set) var reused: UInt64 = 0
    /// The number of requests that were refused because the maximum number of buffers existed.
    package internal(set) var refused: UInt64 = 0
    /// The number of times that the buffers of a format were freed: because they were idle, because there were too many
    /// formats, or by ``PixelBufferPool/trim()``. Buffers of such a format that frames still use are no longer counted.
    package internal(set) var formatsTrimmed: UInt64 = 0

    fileprivate mutating func add(_ counts: CountingBufferPool.Counts) {
      taken += counts.taken
      reused += counts.taken - min(counts.taken, counts.made)
    }
  }

  private let shelves: PoolShelves

  /// Makes an empty pool.
  public init(configuration: Configuration = Configuration()) {
    shelves = PoolShelves(configuration: configuration)
  }

  deinit {
    shelves.close()
  }

  /// The current counts.
  package var statistics: Statistics { shelves.statistics }

  /// Takes memory for a frame, without waiting.
  ///
  /// - Throws: ``PipSinkError/Frame/poolExhausted(limit:)``, ``PipSinkError/Frame/outOfMemory(byteCount:)``.
  public func makePixelBuffer(_ format: VideoFormatDescription) throws(PipSinkError) -> MutablePixelBuffer {
    MutablePixelBuffer(owning: try shelves.take(format), formatDescription: format)
  }

  /// Removes the limit on the number of buffers for formats that are used for the first time from now on. This is for
  /// frames that go to an element which holds several of them, such as an encoder with look-ahead.
  package func removeLimit() {
    shelves.removeLimit()
  }

  /// Frees all memory that no frame uses.
  package func trim() {
    shelves.trim { _ in true }
  }
}

/// The buffers of a pool, by format. It is a separate object, so that ``IdleTrimmer`` does not retain the pool.
final class PoolShelves: Sendable {
  private struct State {
    /// The pools of the formats, with the most recently used last.
    var pools: [CountingBufferPool] = []
    var totals = PixelBufferPool.Statistics()
    var isClosed = false
    /// The maximum number of buffers of one format; 0 for no limit.
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
    // A removed pool is released outside of the lock.
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

  /// Removes the pools for which `isUnwanted` is true. Buffers in use are freed when they are returned.
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

  /// Frees what has been idle for long enough.
  ///
  /// - Returns: when to check again; nil when no memory is left.
  func trimIdle(at now: MonotonicTime) -> MonotonicTime? {
    let limit = configuration.idleTime
    trim { $0.lastUse.advanced(by: limit) <= now }
    return state.withLock { state in
      state.isClosed ? nil : state.pools.map { $0.counts.lastUse.advanced(by: limit) }.min()
    }
  }
}
