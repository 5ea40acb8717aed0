import CGStreamer
import PipSink

/// Which stream the elements want in the other half of the picture-in-picture window, and whether it is there.
///
/// What is done once stays the session's to change: other processes may choose another stream, and when the window goes
/// to the second one, the two change places.
@MainActor
struct SecondStreamRequest {
  private var streamID: StreamID?
  private var isAwaited = false
  private var isRefusalReported = false

  /// To be called when the elements' settings, the session's streams or the window's first stream may have changed.
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
      // Before the window opens, the stream may be yet to come, and another one may become the window's first.
      guard session.controller.isActive, !isRefusalReported else { return }
      isRefusalReported = true
      try? session.setSecondPictureInPictureStream(nil)
      asking?.element.post(
        "Picture-in-picture has no second stream.", error.description, code: GST_RESOURCE_ERROR_NOT_FOUND,
        isWarning: true)
    }
  }

  /// A stream has gone; it has its half again when it comes back.
  mutating func noteRemoval(of id: StreamID) {
    guard id == streamID else { return }
    isAwaited = true
    isRefusalReported = true
  }
}
