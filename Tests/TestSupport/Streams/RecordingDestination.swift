@testable import PipSink

/// A destination that records its calls and shows nothing.
final class RecordingDestination: SampleBufferDestination {
  enum Event: Equatable {
    case frame(size: PictureSize, sequence: UInt64)
    case begin(size: PictureSize?, sequence: UInt64?)
    case relinquish(removingImage: Bool)
  }

  private let log = Locked<[Event]>([])

  var events: [Event] { log.withLock { $0 } }

  /// Returns the sequence numbers of the frames of the given size that were routed here.
  func sequences(of size: PictureSize) -> [UInt64] {
    events.compactMap { event in
      if case .frame(size, let sequence) = event { sequence } else { nil }
    }
  }

  func enqueue(_ sampleBuffer: SampleBuffer) -> Bool {
    log.withLock {
      $0.append(.frame(size: sampleBuffer.pixelBuffer.size, sequence: sampleBuffer.sequenceNumber))
    }
    return false
  }

  func begin(with latest: SampleBuffer?, isFresh: Bool, presented: (@Sendable (MonotonicTime) -> Void)?) {
    log.withLock { $0.append(.begin(size: latest?.pixelBuffer.size, sequence: latest?.sequenceNumber)) }
  }

  func relinquish(removingImage: Bool) -> SampleBuffer? {
    log.withLock { $0.append(.relinquish(removingImage: removingImage)) }
    return nil
  }
}

extension SampleBufferDestination {
  func report(to tally: PresentationTally?, sharing conversions: FrameConversions, notifying notice: DemandNotice) {}
  func demand(countingHidden: Bool) -> StreamDemand { .hidden }
  func redraw() {}
  var bounds: PictureSize? { nil }
}

extension FrameRouter {
  convenience init(table: RoutingTable = RoutingTable(), pictureInPicture: some SampleBufferDestination) {
    self.init(table: table, destination: pictureInPicture)
  }

  func addPictureInPictureSurface(_ destination: some SampleBufferDestination) -> PictureInPictureSurfaceID {
    addSurface(destination)
  }

  /// Adds a stream that is shown by the given destination, and returns the consumer for its frames.
  @discardableResult
  func addStream(_ streamID: StreamID, inApp: (any SampleBufferDestination)?) -> any SampleBufferConsumer {
    setDestination(inApp, for: streamID)
    return input(for: streamID)
  }
}
