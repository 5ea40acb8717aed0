import CGStreamer

extension PipelineRun {
  /// What has become of the run's streams. Three facts are noted separately, each once and in any order: that a stream
  /// has ended or failed (it is not `open`), that it cannot deliver frames any more (it is `broken`), and that its
  /// branch has been removed from the pipeline (it is `isolated`).
  struct Progress {
    /// Streams that have neither ended nor failed.
    var open: Set<StreamID>
    /// Streams that need an element that has failed, or that refuse what they get; possibly after they had ended.
    var broken: Set<StreamID> = []
    /// Broken streams whose branches have been removed from the pipeline.
    var isolated: Set<StreamID> = []
    /// The final states of the streams that are not open.
    var outcomes: [StreamID: StreamPlayState] = [:]
    /// When the first frame of any stream came.
    var playingSince: MonotonicTime?
    /// Why streams refuse what they get. Streaming threads write it, and the run's thread removes it.
    var refusals: [StreamID: PipSinkError] = [:]
    /// Descriptions of plugins that decodebins miss, by the streams that need them.
    var missingPlugins: [StreamID: [String]] = [:]
    /// For each stream, the number of frames that had come, and when that number was first seen.
    var activity: [StreamID: (count: UInt64, since: MonotonicTime)] = [:]
    /// For each stalled stream, the number of frames that it had delivered.
    var stalledAfter: [StreamID: UInt64] = [:]
    /// For each stream, when its `level` element last reported.
    var heardAt: [StreamID: MonotonicTime] = [:]
    /// For each element, the number of frames that it has dropped.
    var lateFrames: [UnsafeMutablePointer<GstObject>: UInt64] = [:]
    /// Streams that end when their sound ends, and why.
    var endings: [StreamID: Ending] = [:]
    var isBuffering = false
  }

  /// The errors of a run whose streams have all failed.
  struct Failure {
    let errors: [StreamID: PipSinkError]
    /// When the first frame of any stream came; nil when none came.
    let playingSince: MonotonicTime?
  }

  /// Why a stream ends when its sound ends.
  enum Ending {
    /// The source has no video for it.
    case hasNoVideo
    /// Its video has ended before its sound.
    case videoHasEnded
  }
}
