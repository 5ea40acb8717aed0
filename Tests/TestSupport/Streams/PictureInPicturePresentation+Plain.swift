@testable import PipSink

extension PictureInPicturePresentation {
  /// Shows the stream "a", without any control that the app handles.
  static func plain(
    aspectRatio: Double? = nil, placeholder: StreamPlaceholder? = nil
  ) -> PictureInPicturePresentation {
    PictureInPicturePresentation(
      layout: .single, places: [PictureInPicturePlace(streamID: "a", placeholder: placeholder)], overflowCount: 0,
      aspectRatio: aspectRatio, actions: [], isPaused: false, isMuted: false)
  }
}
