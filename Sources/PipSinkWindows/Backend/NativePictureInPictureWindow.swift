import PipSink

/// The back-end of a picture-in-picture window.
@MainActor
package protocol NativePictureInPictureWindow: NativeWindow {
  /// The window's rectangle, in units, or nil when its server has gone. Reading it may wait for the server.
  var rectangle: PictureRect? { get }

  /// Whether somebody else has moved the window since it came to rest where it was put.
  ///
  /// - Parameter rectangle: the window's rectangle now, in units.
  func hasBeenMoved(to rectangle: PictureRect) -> Bool

  /// The monitors that the window can be on, the primary one first. It is empty where the display server chooses the
  /// monitor itself.
  var monitors: [WindowMonitor] { get }

  /// Chooses the monitor on which ``snap(to:size:)`` then puts the window. The window may be hidden in between.
  func go(to monitor: WindowMonitor)

  /// The part of the window's monitor that panels leave free, in the coordinates of ``rectangle``.
  var workArea: PictureRect { get }

  /// What the window cannot do on this desktop, such as staying above others, in a sentence for people. It is nil where
  /// nothing is missing.
  var limitation: String? { get }

  /// Whether the user cannot see the window because it is minimised or has no monitor.
  var isMinimized: Bool { get }

  /// Whether the desktop can show the window half transparent.
  var isComposited: Bool { get }

  /// Tells assistive technology and other tools what the window shows.
  func describe(_ description: String)

  /// Shows the window.
  func show()

  /// Hides the window. ``show()`` shows it again.
  func hide()

  /// Sets the opacity of the whole window, from 0, which is invisible, to 1. It has no effect where ``isComposited`` is
  /// false.
  func setOpacity(_ opacity: Double)

  /// Whether a part of the window can let the pointer through.
  var canLetPointerThrough: Bool { get }

  /// Sets the part of the window that takes the pointer, in units from its upper left corner; nil for all of it. The rest
  /// lets it through to the windows below.
  func setInputArea(_ area: PictureRect?)

  /// Takes the keyboard from the window that has it, without a press in this one. `WindowEvent.keyboard` tells when it
  /// has come.
  ///
  /// - Returns: false where windows of this kind cannot do that.
  func takeKeyboard() -> Bool

  /// Gives the keyboard back to the window from which ``takeKeyboard()`` has taken it. It does nothing where it has not,
  /// and on desktops where only the user can give it to another window.
  func returnKeyboard()

  /// Whether the window can fill its monitor.
  var canBeFullscreen: Bool { get }

  /// Whether the window fills its monitor. The user may end that through the desktop, which `WindowEvent.stateChanged`
  /// tells.
  var isFullscreen: Bool { get }

  /// Fills the monitor, or stops that, after which the caller gives the window its size and place. A window that fills
  /// its monitor does not move, and takes no other size.
  func setFullscreen(_ isFullscreen: Bool)

  /// Moves the window's upper left corner to a position in units, in the coordinates of ``rectangle``.
  func move(toX x: Int, y: Int)

  /// Moves the window to a position that is measured from two edges of its monitor's work area.
  func snap(to place: WindowPlace, size: PictureSize)

  /// Resizes the window.
  ///
  /// - Parameters:
  ///   - size: the new size, in units.
  ///   - aspectRatio: width divided by height. The window keeps it when the user resizes the window through the window
  ///     manager or compositor; nil allows any shape.
  func resize(to size: PictureSize, aspectRatio: Double?)

  /// Called when the user begins to drag the window.
  ///
  /// - Returns: false where the display server moves or resizes the window from here on and reports only the result.
  func beginDrag(_ grip: WindowGrip, at place: WindowEvent.Place) -> Bool

  /// Returns how far the pointer has moved since the drag began, in units, or nil when the window should stay as it is
  /// for now.
  func dragDistance(to place: WindowEvent.Place) -> (x: Int, y: Int)?

  /// Called when the user ends the drag.
  ///
  /// - Returns: how far the pointer has moved since the drag began, in units.
  func endDrag(at place: WindowEvent.Place) -> (x: Int, y: Int)
}
