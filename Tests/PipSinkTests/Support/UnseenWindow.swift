@testable import PipSink

/// A picture-in-picture window in which no picture is ever shown.
@MainActor
final class UnseenWindow: PictureInPictureHost {
  let window: OffscreenPictureInPictureWindow
  init() throws { window = try OffscreenPictureInPictureWindow() }
  var renderer: any VideoRenderer { window.renderer }
  var unsupportedReason: String? { nil }
  var eventHandler: (@MainActor (PictureInPictureWindowEvent) -> Void)?
  func open(_ presentation: PictureInPicturePresentation) {}
  func update(_ presentation: PictureInPicturePresentation) {}
  func close() {}
}
