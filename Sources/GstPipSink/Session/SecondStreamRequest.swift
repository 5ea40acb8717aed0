import CGStreamer
import PipSink

/// Keeps which stream the elements request for the second half of the picture-in-picture window, and whether the
/// session shows it.
///
/// A request is applied once. Afterwards the session may change the second stream: other processes may choose another
/// one, and the two streams change places when the second becomes the window's source.
@MainActor
struct SecondStreamRequest {
  private var streamID: StreamID?
  private var isAwaited = false
  private var isRefusalReported = false

  /// Applies the request if it is open. Call it when the elements' settings, the session's streams or the window's
  /// first stream may have changed.
  mutating func apply(_ members: [SessionMember], to session: PictureInPictureSession) {
    let asking = members.first { $0.settings.secondStreamID != nil }
    let wanted = asking?.settings.secondStreamID
    if wanted != streamID {
      streamID = wanted
      isAwaited = true
      isRefusalReported = false
    }
    guard isAwaited else { return }
    do throws(PipSinkError) {
      try session.setSecondPictureInPictureStream(wanted)
      isAwaited = false
    } catch {
      // Before the window opens, the stream may still start, and another stream may become the window's first.
      guard session.controller.isActive, !isRefusalReported else { return }
      isRefusalReported = true
      try? session.setSecondPictureInPictureStream(nil)
      asking?.element.post(
        "Picture-in-picture has no second stream.", error.description, code: GST_RESOURCE_ERROR_NOT_FOUND,
        isWarning: true)
    }
  }
}
