import PipSink

/// A window as a display server's back-end makes it, for the classes that say what windows of PipSink's do on every
/// display server. There is a folder for each back-end.
///
/// Places and sizes are in units, of which the desktop makes several pixels on fine screens: X11's pixels divided by the
/// desktop's scale, and Wayland's logical pixels. Sizes of pictures are in pixels.
@MainActor
package protocol NativeWindow: AnyObject {
  /// Pixels for each unit: 1.5, for instance.
  var scale: Double { get }

  /// In pixels, as the server has said; 0 by 0 before that.
  var size: PictureSize { get }

  /// Whether the server has gone, or has taken the window away. Nothing can be done with it any more then.
  var isBroken: Bool { get }

  /// Whether the user wants animations.
  var animates: Bool { get }

  /// Makes a place for pictures in the window, which is hidden at first. It is there as long as the window.
  ///
  /// - Parameter decoration: what lies over the pictures, in pixels of the window.
  func makeTile(decoration: WindowOverlay) throws(PipSinkError) -> any WindowTile

  /// Takes a place for pictures away.
  func remove(_ tile: any WindowTile)

  /// Sends the server what it was asked for.
  func flush()
}

/// A place for pictures in a window.
package protocol WindowTile: VideoRenderer {
  /// Where it is in the window, in pixels; nil hides it. The picture that is shown follows at once.
  var frame: PictureRect? { get set }

  /// Shows what lies over the picture as it is now. From any thread; may wait for the server.
  func redraw()

  /// A copy of the picture that is shown, without what lies over it; nil when there is none.
  func image() -> BGRAImage?

  /// Frames that were converted for it so far.
  var convertedFrameCount: UInt64 { get }

  /// Uses the window no more: no frame is shown from then on. From any thread.
  @discardableResult
  func leaveWindow() -> Bool
}

/// A picture-in-picture window's back-end.
@MainActor
package protocol NativePictureInPictureWindow: NativeWindow {
  /// Where the window is, in units; nil when its server has gone. May wait for the server.
  var frame: PictureRect? { get }

  /// The monitors that the window can be on, the primary one first; none where the display server chooses one itself.
  var monitors: [WindowMonitor] { get }

  /// Takes the monitor that ``snap(to:size:)`` puts the window on. It may be hidden until then.
  func go(to monitor: WindowMonitor)

  /// What panels leave free of the window's monitor, in the coordinates of ``frame``.
  var workArea: PictureRect { get }

  /// What the window cannot do here, such as staying above others; nil where nothing is missing.
  var limitation: String? { get }

  var isMinimized: Bool { get }

  /// Whether what is half transparent can be shown.
  var isComposited: Bool { get }

  /// Says for assistive technology and tools what the window shows.
  func describe(_ description: String)

  func show()
  func hide()
  func setOpacity(_ opacity: Double)

  /// Puts it anywhere; in units, in the coordinates of ``frame``.
  func move(toX x: Int, y: Int)

  /// Puts it where it is held by two edges of the work area of its monitor.
  func snap(to place: WindowPlace, size: PictureSize)

  /// - Parameters:
  ///   - size: in units.
  ///   - aspectRatio: width divided by height, which the window keeps when somebody else resizes it; nil for any.
  func resize(to size: PictureSize, aspectRatio: Double?)

  /// The user has begun to drag the window.
  ///
  /// - Returns: false where the display server moves or resizes the window from here on, and tells the result.
  func beginDrag(_ grip: WindowGrip, at place: WindowEvent.Place) -> Bool

  /// How far the pointer has come since the drag began, in units.
  ///
  /// - Returns: nil where the window is to stay as it is for now.
  func dragDistance(to place: WindowEvent.Place) -> (x: Int, y: Int)?

  /// The drag is over.
  ///
  /// - Returns: how far the pointer came.
  func endDrag(at place: WindowEvent.Place) -> (x: Int, y: Int)
}

/// The back-end of an app's window.
@MainActor
package protocol NativeAppWindow: NativeWindow {
  /// The monitor that most of it is on; nil while it is on none, or where the server does not say.
  var monitor: WindowMonitor? { get }

  func show()
  func hide()

  /// Brings it back from where it was minimised, covered, or on another workspace, because of what the user did last in a
  /// window of the program's.
  func present()

  /// Whether it fills the screen, or is about to; the desktop's own keys change it, too.
  var isFullscreen: Bool { get }

  /// Has it fill the screen, or end that, at once or when it is shown.
  func setFullscreen(_ isFullscreen: Bool)

  /// Whether the user cannot see it; told again by ``WindowEvent/stateChanged``.
  var isInBackground: Bool { get }

  /// Whether ``isInBackground`` is asked for.
  var isBackgroundWatched: Bool { get set }
}
