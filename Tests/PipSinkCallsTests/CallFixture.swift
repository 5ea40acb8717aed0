@testable import PipSink
@testable import PipSinkCalls

/// What the tests of calls begin with.
enum CallFixture {
  static var isUsable: Bool {
    ["webrtcbin", "nicesrc", "dtlssrtpenc", "opusenc"].allSatisfy(ElementInspection.exists)
  }

  /// A configuration without a sound card and without new attempts.
  static var configuration: WebRTCConnection.Configuration {
    var configuration = WebRTCConnection.Configuration()
    configuration.audioSink = "fakesink sync=true"
    configuration.retryPolicy = RetryPolicy(limit: 0)
    return configuration
  }

  @MainActor static func makeSession() throws -> PictureInPictureSession {
    var settings = PictureInPictureSession.Configuration()
    // Nobody sees the streams of a display that shows none.
    settings.isBackgroundDecodingEnabled = true
    return try PictureInPictureSession(display: NoDisplay(), configuration: settings)
  }
}
