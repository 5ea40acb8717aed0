import PipSink

/// What the streams of a session are shown on.
@MainActor
protocol SessionSurfaces: AnyObject {
  var pictureInPictureWindow: any PictureInPictureHost { get }

  /// Shows a stream in the app as its settings say.
  ///
  /// - Parameter isInPictureInPicture: whether its frames go there instead, or will.
  /// - Throws: ``PipSinkError/displayUnavailable(reason:)``, ``PipSinkError/invalidSize(width:height:)``.
  func show(_ member: SessionMember, isInPictureInPicture: Bool) throws(PipSinkError)

  /// The stream has gone.
  func remove(_ member: SessionMember)

  /// Brings the app's window back.
  func present()

  /// Calls `changed` with whether nobody can see the app's window; nil to watch no more.
  func watchBackground(_ changed: ((Bool) -> Void)?)
}

/// Pictures in memory.
final class OffscreenSurfaces: SessionSurfaces {
  private static let size = PictureSize(width: 640, height: 360)
  let pictureInPictureWindow: any PictureInPictureHost

  init() throws(PipSinkError) {
    pictureInPictureWindow = try OffscreenPictureInPictureWindow()
  }

  func show(_ member: SessionMember, isInPictureInPicture: Bool) throws(PipSinkError) {
    if member.layer.renderer == nil { member.layer.attach(to: try OffscreenRenderer(size: Self.size)) }
  }

  func remove(_ member: SessionMember) { member.layer.detach() }
  func present() {}
  func watchBackground(_ changed: ((Bool) -> Void)?) {}
}
