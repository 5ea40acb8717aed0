@testable import GstPipSink
@testable import PipSink

extension SessionMember {
  /// The counts of the stream's frames in its session's router.
  var statistics: StreamStatistics? { session.router.statistics(of: streamID) }
}
