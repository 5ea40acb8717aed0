@testable import PipSink

extension PictureInPicturePresentation {
  /// Shows the stream "a", without any control that the app handles.
  static func plain(
    aspectRatio: Double? = nil, placeholder: StreamPlaceholder? = nil
  ) -> PictureInPicturePresentation {
    PictureInPicturePresentation(
      layout: .single, places: [PictureInPicturePlace(streamID: "a", placeholder: placeholder)], overflowCount: 0,
      aspectRatio: aspectRatio, controls: [], progress: nil)
  }

  /// Whether the controls show that playback is paused; nil where none shows it.
  var isPaused: Bool? { isOn(.playPause).map { !$0 } }
  /// Whether the controls show that the sound is muted; nil where none shows it.
  var isMuted: Bool? { isOn(.mute) }

  func isOn(_ action: PictureInPictureAction) -> Bool? {
    controls.first { $0.action == action }?.isOn
  }
}
