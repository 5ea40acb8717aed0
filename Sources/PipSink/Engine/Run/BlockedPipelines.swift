/// Pipelines of one engine or one player that were given up and have not stopped since.
final class BlockedPipelines: Sendable {
  private static let total = Locked(0)
  /// Of the whole process.
  static var totalCount: Int { total.withLock { $0 } }

  private let counts = Locked((now: 0, ever: 0))
  private let removed: @Sendable () -> Void

  /// - Parameter removed: called whenever one has stopped after all, on its thread.
  init(removed: @escaping @Sendable () -> Void = {}) {
    self.removed = removed
  }

  var count: Int { counts.withLock { $0.now } }

  /// Also those that have stopped since.
  var everCount: Int { counts.withLock { $0.ever } }

  func add() {
    Self.total.withLock { $0 += 1 }
    counts.withLock { $0 = ($0.now + 1, $0.ever + 1) }
  }

  func remove() {
    Self.total.withLock { $0 -= 1 }
    counts.withLock { $0.now -= 1 }
    removed()
  }
}

extension PipSink {
  /// How many pipelines of this process were given up (``EngineEvent/abandoned(_:)``) and still block. While there are
  /// any, their threads are inside of GStreamer and its plugins, so that a program had better end by `_exit`: `exit`
  /// runs the clean-up of libraries that those threads use.
  public static var blockedPipelineCount: Int { BlockedPipelines.totalCount }
}
