import CGStreamer

/// The sound of a stream outside of the engine's pipelines. Its volume follows an ``AudioSession``, and it is muted while
/// an interruption pauses the streams.
package final class StreamSound: AudioOutput {
  let interruptionChanged: @Sendable () -> Void = {}
  private let session: AudioSession
  private let streamID: StreamID
  private let element = Locked<AudioElement?>(nil)

  /// Makes the sound of a stream. It counts until ``close()``.
  ///
  /// - Parameter element: an element with a volume. Ownership of one reference passes to the sound.
  package init(of streamID: StreamID, owning element: UnsafeMutablePointer<GstElement>, in session: AudioSession) {
    (self.streamID, self.session) = (streamID, session)
    self.element.withLock { $0 = AudioElement(owning: element) }
    session.attach(self)
  }

  /// Ends the session's control of the element. A second call does nothing.
  package func close() {
    session.detach(self)
    element.withLock { $0 = nil }
  }

  func hasVolume(_ id: StreamID) -> Bool? {
    id == streamID ? element.withLock { $0?.hasVolume } ?? false : nil
  }

  func apply() {
    var settings = session.settings(for: streamID, takesOverall: true)
    if session.interruption == .pause { settings.isMutedByAll = true }
    element.withLock { $0?.take(settings) }
  }
}
