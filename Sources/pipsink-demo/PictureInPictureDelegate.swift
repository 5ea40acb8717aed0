import PipSink

/// What the demo does about picture-in-picture.
final class PictureInPictureDelegate: PictureInPictureControllerDelegate {
  static let handledActions: Set<PictureInPictureAction> = [.playPause, .mute]

  private let engine: VideoEngine
  private let surfaces: any Surfaces

  init(engine: VideoEngine, surfaces: any Surfaces) {
    self.engine = engine
    self.surfaces = surfaces
  }

  func pictureInPictureControllerRestoreUserInterface(_ controller: PictureInPictureController) async -> Bool {
    (surfaces as? WindowSurfaces)?.present()
    return true
  }

  func pictureInPictureController(
    _ controller: PictureInPictureController, didReceive action: PictureInPictureAction
  ) {
    switch action {
    case .playPause:
      engine.isPaused.toggle()
      controller.isPaused = engine.isPaused
    case .mute:
      engine.audioSession.isMuted.toggle()
      controller.isMuted = engine.audioSession.isMuted
    default: break
    }
  }
}
