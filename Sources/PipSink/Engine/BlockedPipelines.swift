/// Pipelines of one engine or one player that were given up and have not stopped since.
final class BlockedPipelines: Sendable {
  private struct State {
    var count = 0
    var everCount = 0
    var observer: (@Sendable () -> Void)?
  }

  private static let total = Locked(0)
  /// Of the whole process.
  static var totalCount: Int { total.withLock { $0 } }

  private let state = Locked(State())

  var count: Int { state.withLock { $0.count } }

  /// Also those that have stopped since.
  var everCount: Int { state.withLock { $0.everCount } }

  func add() {
    Self.total.withLock { $0 += 1 }
    state.withLock { state in
      state.count += 1
      state.everCount += 1
    }
  }

  func remove() {
    Self.total.withLock { $0 -= 1 }
    state.withLock { state in
      state.count -= 1
      return state.observer
    }?()
  }

  /// Calls `observer` whenever one has stopped after all, on its thread.
  func observe(_ observer: @escaping @Sendable () -> Void) { state.withLock { $0.observer = observer } }
}

extension PipSink {
  /// How many pipelines of this process were given up (``EngineEvent/abandoned(_:)``) and still block. While there are
  /// any, their threads are inside of GStreamer and its plugins, so that a program had better end by `_exit`: `exit` runs
  /// the clean-up of libraries that those threads use.
  public static var blockedPipelineCount: Int { BlockedPipelines.totalCount }
}
