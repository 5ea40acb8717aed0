@testable import PipSink

extension PictureInPicturePresentation {
  /// Shows the stream "a", without any control that the app handles.
  static func plain(
    aspectRatio: Double? = nil, placeholder: StreamPlaceholder? = nil
  ) -> PictureInPicturePresentation {
    PictureInPicturePresentation(
      places: [PictureInPicturePlace(streamID: "a", placeholder: placeholder)], aspectRatio: aspectRatio, actions: [],
      isPaused: false, isMuted: false)
  }
}
