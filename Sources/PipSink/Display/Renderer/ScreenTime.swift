import Synchronization

/// When a picture was on the screen, as the display server says.
package struct ScreenTime: Sendable {
  /// The times of the frame that the picture shows.
  package struct Frame: Sendable {
    /// When the frame arrived from its stream.
    package let receivedAt: MonotonicTime
    /// The frame's presentation time in its stream.
    package let presentationTimeStamp: MediaTime

    /// - Returns: nil for a frame that no stream has delivered, such as one that an app has put into a layer itself.
    package init?(_ sampleBuffer: SampleBuffer) {
      guard let receivedAt = sampleBuffer.receivedAt else { return nil }
      self.init(receivedAt: receivedAt, presentationTimeStamp: sampleBuffer.timing.presentationTimeStamp)
    }

    init(receivedAt: MonotonicTime, presentationTimeStamp: MediaTime) {
      (self.receivedAt, self.presentationTimeStamp) = (receivedAt, presentationTimeStamp)
    }
  }

  package let frame: Frame
  /// When the server was given the picture.
  package let handedOverAt: MonotonicTime
  /// When the refresh of the screen began that showed the picture first.
  package let shownAt: MonotonicTime
  /// The time from one refresh of the screen to the next one, in nanoseconds; 0 where it is not known, or not constant.
  /// Screens have from 1 to 1000 refreshes a second; other times count as unknown.
  package let refreshInterval: UInt64

  package init(frame: Frame, handedOverAt: MonotonicTime, shownAt: MonotonicTime, refreshInterval: UInt64) {
    (self.frame, self.handedOverAt) = (frame, handedOverAt)
    (self.shownAt, self.refreshInterval) = (shownAt, refreshInterval)
  }

  /// Whether the picture was on the screen after its hand-over, and less than a minute later. Servers that tell
  /// something else are wrong: some versions of Xwayland tell of the refresh before. A millisecond is for servers with
  /// another clock.
  var isPlausible: Bool {
    shownAt >= handedOverAt.advanced(by: .milliseconds(-1)) && shownAt <= handedOverAt.advanced(by: .seconds(60))
  }
}

/// The handler that a renderer tells when pictures are on the screen, as in
/// ``ScreenRenderer/setScreenTimeHandler(_:)``. All its members can be used on any thread.
package final class ScreenTimeHandler: Sendable {
  private let handler = Locked<(@Sendable (ScreenTime) -> Void)?>(nil)
  private let hasHandler = Atomic(false)

  package init() {}

  /// Whether somebody wants to know. The server need not be asked otherwise.
  package var isWanted: Bool { hasHandler.load(ordering: .relaxed) }

  /// Replaces the handler; nil removes it.
  package func set(_ handler: (@Sendable (ScreenTime) -> Void)?) {
    self.handler.withLock { $0 = handler }
    hasHandler.store(handler != nil, ordering: .relaxed)
  }

  /// Calls the handler, if there is one. The caller may hold the lock under which it draws, which no handler takes.
  package func callAsFunction(_ time: ScreenTime) { handler.withLock { $0 }?(time) }
}
