import PipSink

/// What became of a frame that was to be shown without an image.
enum FrameOutcome: Equatable {
  /// It is shown, or will be as soon as the display server wants it.
  case shown(by: FrameDrawer)
  /// It is not shown: the window has been left, or the newest frame will be asked for when the server wants one.
  case leftOut
  /// It has to be drawn on an image.
  case needsImage
}
