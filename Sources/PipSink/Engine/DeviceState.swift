/// What is known of the camera or the microphone behind a stream.
public enum DeviceState: String, CaseIterable, Sendable {
  /// Nothing has come of it yet, or nothing comes any more, and nobody has said anything.
  case unknown
  case on
  case off
}
