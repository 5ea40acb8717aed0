import PipSink

extension WaylandTile {
  /// A picture that waits until the compositor wants it.
  struct Next {
    let picture: WaylandPicture
    /// The size at which it is shown, in pixels.
    let size: PictureSize
    /// The times of the frame that it shows; nil when only the decoration is new.
    let times: ScreenTime.Frame?

    init(picture: WaylandPicture, size: PictureSize, times: ScreenTime.Frame?) {
      (self.picture, self.size, self.times) = (picture, size, times)
    }

    init(_ frame: WaylandFrame, at size: PictureSize) {
      self.init(picture: .frame(frame), size: size, times: ScreenTime.Frame(frame.sampleBuffer))
    }
  }

  struct State {
    var surface: WaylandTileSurface?
    /// The compositor's answer that is awaited, and the time when it was requested.
    var callback: WaylandProxy?
    var calledAt = MonotonicTime.now
    var rectangle: PictureRect?
    var place: Place?
    /// The number of pixels in a unit of the window.
    var scale = 1.0
    /// The position in units of the tile's window in the surface that it is attached to.
    var origin = (x: 0, y: 0)
    var opacity: UInt32 = .max
    /// The picture that the compositor got last.
    var shown: WaylandPicture?
    /// The picture that the compositor gets next.
    var next: Next?
    /// The frame that it gets when it has said that it can read the frame's memory.
    var asked: (frame: WaylandFrame, size: PictureSize)?
    /// What was last drawn over such a frame.
    var decoration: DecorationLayer?
    /// The questions when pictures are on the screen, by their numbers.
    var questions: [UInt: WaylandProxy] = [:]
    var questionCount: UInt = 0
    var isRevoked = false
    /// What draws frames with OpenGL on the surface, if that was chosen. It stays when the surface has gone.
    var graphics: GLTileSurface?
    /// The same while it draws. Nobody else attaches pictures to the surface then, or commits it.
    var drawing: GLTileSurface?
    /// Whether OpenGL has to draw the newest frame when the compositor wants it.
    var isOwed = false
    /// Whether a picture could not be drawn because the compositor reads all images.
    var isStarved = false
    var frameShown: (@Sendable () -> Void)?
  }
}
