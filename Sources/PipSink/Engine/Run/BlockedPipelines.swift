/// The number of abandoned pipelines in this process that have not stopped yet.
let blockedPipelines = Locked(0)

extension PipSink {
  /// The number of pipelines in this process that were abandoned (``EngineEvent/abandoned(_:)``) and still block.
  ///
  /// While it is not zero, threads are still inside of GStreamer and its plugins. A program should then end with
  /// `_exit` rather than `exit`, which runs the clean-up of libraries that those threads still use.
  public static var blockedPipelineCount: Int { blockedPipelines.withLock { $0 } }
}
