import CGStreamer

/// Works on a picture's rows on several threads, when there are enough of them to be worth it.
///
/// The helping threads are shared by the whole process, made at the first use and kept. When they are busy for somebody
/// else the caller does everything itself: nobody waits for anybody else's picture.
final class RowBands: Sendable {
  static let shared = RowBands(helperCount: min(3, max(0, Int(g_get_num_processors()) - 1)))

  /// The caller's thread alone.
  static let none = RowBands(helperCount: 0)

  /// Bands that ``forEachBand(_:_:)`` makes at most.
  let bandLimit: Int
  private let helperCount: Int
  private let state = Locked(State())

  private struct State {
    var hasStarted = false
    var isBusy = false
    var nextBand = 0
    var openBands = 0
    var bandCount = 0
    var work: Work?

    /// A band that nobody works on yet.
    mutating func takeBand() -> (number: Int, work: Work)? {
      guard let work, nextBand < bandCount else { return nil }
      defer { nextBand += 1 }
      return (nextBand, work)
    }
  }

  /// The caller's closure, by its address: nobody keeps it beyond the call of its last band.
  ///
  /// `@unchecked Sendable`: the address is valid until the caller has seen every band end, and the closure is Sendable.
  private struct Work: @unchecked Sendable {
    let closure: UnsafePointer<@Sendable (Int) -> Void>

    /// A function of its own, so that the reference that the call takes is gone when it returns.
    @inline(never)
    func callAsFunction(_ band: Int) { closure.pointee(band) }
  }

  init(helperCount: Int) {
    self.helperCount = helperCount
    bandLimit = helperCount + 1
  }

  /// Calls `work` once for each number below `bandCount`, on this thread and the helpers, and returns when all calls
  /// have.
  func forEachBand(_ bandCount: Int, _ work: @Sendable (Int) -> Void) {
    guard bandCount > 1, claim() else {
      for band in 0..<bandCount { work(band) }
      return
    }
    withoutActuallyEscaping(work) { work in
      withUnsafePointer(to: work) { closure in
        state.withLock { state in
          state.work = Work(closure: closure)
          state.bandCount = bandCount
          state.nextBand = 0
          state.openBands = bandCount
        }
        state.wakeAll()
        while let band = state.withLock({ $0.takeBand() }) { finish(band) }
        state.wait { $0.openBands == 0 ? () : nil }
        state.withLock { $0.work = nil }
      }
    }
    state.withLock { $0.isBusy = false }
  }

  private func claim() -> Bool {
    let (isMine, mustStart) = state.withLock { state in
      guard !state.isBusy, helperCount > 0 else { return (false, false) }
      state.isBusy = true
      defer { state.hasStarted = true }
      return (true, !state.hasStarted)
    }
    if mustStart {
      for number in 1...helperCount {
        // Without the thread the caller does its part.
        _ = WorkerThread(name: "pip-rows-\(number)") { [self] in help() }
      }
    }
    return isMine
  }

  private func help() {
    while true { finish(state.wait { $0.takeBand() }) }
  }

  private func finish(_ band: (number: Int, work: Work)) {
    band.work(band.number)
    let isLast = state.withLock { state in
      state.openBands -= 1
      return state.openBands == 0
    }
    if isLast { state.wakeAll() }
  }
}
