import PipSink
import PipSinkWindows

/// A window of an application in which a stream is shown: an X11 window, or a surface of the application's connection
/// to a Wayland compositor.
struct ForeignWindow {
  let handle: WindowHandle
  let renderer: CoveredRenderer
  /// Whether a change of the pictures' place takes effect only with the application's next drawing of the window.
  let isDrawnByApplication: Bool
  /// - Returns: whether the rectangle has changed.
  let setRenderRectangle: (PictureRect?) -> Bool
  private let access: WindowAccess

  /// Whether the application has not taken the window back.
  var mayBeUsed: Bool { !access.isRevoked }

  /// Opens the window for drawing, and waits for the display server.
  ///
  /// - Parameter access: the right to draw in the window. When it is revoked, no further requests about the window are
  ///   sent to the server.
  /// - Returns: nil when the application has taken the window back meanwhile.
  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
  init?(_ handle: WindowHandle, _ access: WindowAccess, _ rectangle: PictureRect?) throws(PipSinkError) {
    self.handle = handle
    self.access = access
    guard let display = OpaquePointer(bitPattern: handle.waylandDisplay) else {
      let renderer = try X11WindowRenderer(windowID: handle.number, access: access)
      renderer.renderRectangle = rectangle
      self.renderer = CoveredRenderer(renderer) { _ in 1 }
      isDrawnByApplication = false
      setRenderRectangle = { rectangle in
        defer { renderer.renderRectangle = rectangle }
        return renderer.renderRectangle != rectangle
      }
      return
    }
    guard let surface = OpaquePointer(bitPattern: handle.number) else { return nil }
    let made = try access.use { () throws(PipSinkError) in
      let renderer = try WaylandSurfaceRenderer(display: display, surface: surface)
      access.whenRevoked { renderer.leaveWindow() }
      return renderer
    }
    guard let renderer = made else { return nil }
    renderer.renderRectangle = rectangle
    self.renderer = CoveredRenderer(renderer) { pixels in
      Double(pixels.width) / Double(renderer.renderRectangle?.width ?? pixels.width)
    }
    isDrawnByApplication = true
    setRenderRectangle = { rectangle in
      defer { renderer.renderRectangle = rectangle }
      return renderer.renderRectangle != rectangle
    }
  }

  /// Shows a placeholder instead of the picture, but only that the camera is off or that the stream is in
  /// picture-in-picture. What to show at a stream's beginning and end is for the application to decide.
  func show(_ placeholder: StreamPlaceholder?) {
    renderer.text = placeholder == .cameraOff || placeholder == .inPictureInPicture ? placeholder?.text : nil
  }
}
