import CGStreamer

/// Divides the work on a picture's rows among several threads.
///
/// The whole process shares the helper threads, which are started at the first use and kept. While they work for
/// another caller, a caller does all work itself, so that it never waits for another caller's picture.
final class RowBands: Sendable {
  /// The bands of the process, with up to three helper threads.
  static let shared = RowBands(helperCount: min(3, max(0, Int(g_get_num_processors()) - 1)))

  /// Bands without helper threads: the caller does all work.
  static let none = RowBands(helperCount: 0)

  /// The number of threads that can work at the same time, including the caller's.
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

    /// Takes the next band; nil when all have been taken.
    mutating func takeBand() -> (number: Int, work: Work)? {
      guard let work, nextBand < bandCount else { return nil }
      defer { nextBand += 1 }
      return (nextBand, work)
    }
  }

  /// The caller's closure, by its address. It is not used after the last band.
  ///
  /// `@unchecked Sendable`: the address is valid until the caller has seen the end of every band, and the closure is
  /// Sendable.
  private struct Work: @unchecked Sendable {
    let closure: UnsafePointer<@Sendable (Int) -> Void>

    /// Calls the closure. This is a separate function, so that the reference that the call takes is released when it
    /// returns.
    @inline(never)
    func callAsFunction(_ band: Int) { closure.pointee(band) }
  }

  init(helperCount: Int) {
    self.helperCount = helperCount
    bandLimit = helperCount + 1
  }

  /// Calls `work` once for each number below `bandCount`, on the caller's thread and the helper threads, and returns
  /// when all calls have returned.
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

  /// Reserves the helper threads for the caller, and starts them at the first use; false if they are busy.
  private func claim() -> Bool {
    let (isMine, mustStart) = state.withLock { state in
      guard !state.isBusy, helperCount > 0 else { return (false, false) }
      state.isBusy = true
      defer { state.hasStarted = true }
      return (true, !state.hasStarted)
    }
    if mustStart {
      for number in 1...helperCount {
        // If the system refuses the thread, the caller does its part of the work.
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
