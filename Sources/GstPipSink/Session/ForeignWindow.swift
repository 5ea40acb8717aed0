import PipSink
import PipSinkWindows

/// A window of an application in which a stream is shown: an X11 window, or a surface of the application's connection
/// to a Wayland compositor.
struct ForeignWindow {
  let handle: WindowHandle
  let renderer: any ForeignRenderer
  /// Whether a change of the pictures' place takes effect only with the application's next drawing of the window.
  let isDrawnByApplication: Bool
  private let access: WindowAccess

  /// Whether the application has not taken the window back.
  var mayBeUsed: Bool { !access.isRevoked }

  /// Opens the window for drawing, and waits for the display server.
  ///
  /// - Parameters:
  ///   - settings: the window, where pictures are in it, and who draws them.
  ///   - access: the right to draw in the window. When it is revoked, no further requests about the window are sent to
  ///     the server.
  /// - Returns: nil when the application has taken the window back meanwhile.
  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
  init?(_ settings: ElementSettings, _ access: WindowAccess) throws(PipSinkError) {
    let handle = settings.window
    let display = OpaquePointer(bitPattern: handle.waylandDisplay)
    let made = try access.use { () throws(PipSinkError) -> (any ForeignRenderer)? in
      let renderer: any ForeignRenderer
      if let display {
        guard let surface = OpaquePointer(bitPattern: handle.number) else { return nil }
        renderer = try WaylandSurfaceRenderer(display: display, surface: surface, renderer: settings.renderer)
      } else {
        renderer = try X11WindowRenderer(windowID: handle.number, renderer: settings.renderer)
      }
      access.whenRevoked { renderer.leaveWindow() }
      return renderer
    }
    guard let renderer = made ?? nil else { return nil }
    (self.handle, self.access, self.renderer, isDrawnByApplication) = (handle, access, renderer, display != nil)
    renderer.renderRectangle = settings.renderRectangle
  }

  /// Moves the pictures to another part of the window; nil means all of an X11 window.
  ///
  /// - Returns: whether the rectangle has changed.
  func setRenderRectangle(_ rectangle: PictureRect?) -> Bool {
    defer { renderer.renderRectangle = rectangle }
    return renderer.renderRectangle != rectangle
  }

  /// Shows a placeholder instead of the picture, but only that the camera is off or that the stream is in
  /// picture-in-picture. What to show at a stream's beginning and end is for the application to decide.
  func show(_ placeholder: StreamPlaceholder?) {
    renderer.text = placeholder == .cameraOff || placeholder == .inPictureInPicture ? placeholder?.text : nil
  }
}
