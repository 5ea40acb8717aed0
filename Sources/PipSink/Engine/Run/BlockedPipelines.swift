/// Counts the abandoned pipelines of one engine or one player that have not stopped yet.
final class BlockedPipelines: Sendable {
  private static let total = Locked(0)
  /// The number of blocked pipelines in the whole process.
  static var totalCount: Int { total.withLock { $0 } }

  private let counts = Locked((now: 0, ever: 0))
  private let removed: @Sendable () -> Void

  /// - Parameter removed: is called whenever an abandoned pipeline has stopped after all, on that pipeline's thread.
  init(removed: @escaping @Sendable () -> Void = {}) {
    self.removed = removed
  }

  var count: Int { counts.withLock { $0.now } }

  /// The number of abandoned pipelines, including those that have stopped since.
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
  /// The number of pipelines in this process that were abandoned (``EngineEvent/abandoned(_:)``) and still block.
  ///
  /// While it is not zero, threads are still inside of GStreamer and its plugins. A program should then end with
  /// `_exit` rather than `exit`, which runs the clean-up of libraries that those threads still use.
  public static var blockedPipelineCount: Int { BlockedPipelines.totalCount }
}
