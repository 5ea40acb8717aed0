import CGStreamer

extension PipelineRun {
  /// That a stream has ended or failed (it is not `open`), that nothing can come of it any more (it is `broken`), and
  /// that its branch has been taken out (it is `isolated`) are three facts, each noted once, in any order.
  struct Progress {
    /// Streams that have neither ended nor failed.
    var open: Set<StreamID>
    /// Streams that an element has failed for, or that refuse what they get: also one that had ended before.
    var broken: Set<StreamID> = []
    /// Broken streams that are not in the pipeline any more.
    var isolated: Set<StreamID> = []
    /// How those ended or failed that are not open.
    var outcomes: [StreamID: StreamPlayState] = [:]
    /// When the first frame of all came.
    var playingSince: MonotonicTime?
    /// Why streams refuse what they get, from their streaming threads, until the bus thread has seen to it.
    var refusals: [StreamID: PipSinkError] = [:]
    /// What decodebins said they have no plugin for, by the streams that need it.
    var missingPlugins: [StreamID: [String]] = [:]
    /// By stream: how many frames had come, and when that was seen first.
    var activity: [StreamID: (count: UInt64, since: MonotonicTime)] = [:]
    /// By stream that has stalled: how many frames it had delivered by then.
    var stalledAfter: [StreamID: UInt64] = [:]
    /// By stream: when its `level` element has reported last.
    var heardAt: [StreamID: MonotonicTime] = [:]
    /// By element: how many frames it has dropped.
    var lateFrames: [UnsafeMutablePointer<GstObject>: UInt64] = [:]
    /// Streams whose end is that of their sound.
    var endings: [StreamID: Ending] = [:]
    var isBuffering = false
  }

  /// All streams of a run have failed.
  struct Failure {
    let errors: [StreamID: PipSinkError]
    /// When the first frame of all came; nil where none did.
    let playingSince: MonotonicTime?
  }

  /// Why a stream's end is that of its sound.
  enum Ending {
    case hasNoVideo
    case videoHasEnded
  }
}
