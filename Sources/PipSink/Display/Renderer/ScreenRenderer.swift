/// A renderer that shows pictures on a screen, through a display server.
package protocol ScreenRenderer: VideoRenderer {
  /// Shows a frame, as ``VideoRenderer/render(_:gravity:)`` does.
  ///
  /// - Returns: who makes the picture; nil when none is shown.
  func present(_ sampleBuffer: SampleBuffer, gravity: VideoGravity) throws(RenderingError) -> FrameDrawer?

  /// Sets the handler that is called, on any thread, when a frame's picture has been on the screen; nil removes it. It
  /// is called in the order of the frames, not for every one of them, and never where the server does not know. The
  /// display layer sets it.
  func setScreenTimeHandler(_ handler: (@Sendable (ScreenTime) -> Void)?)
}

extension ScreenRenderer {
  package func render(_ sampleBuffer: SampleBuffer, gravity: VideoGravity) throws(RenderingError) {
    _ = try present(sampleBuffer, gravity: gravity)
  }
}
