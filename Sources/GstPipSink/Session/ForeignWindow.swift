import PipSink
import PipSinkWindows

/// A window of an application's in which a stream is shown: an X11 window, or a surface of the application's own connection
/// to a Wayland compositor.
struct ForeignWindow {
  let handle: WindowHandle
  let renderer: CoveredRenderer
  /// Whether pictures come to a new place with the application's next drawing of the window.
  let isDrawnByApplication: Bool
  /// - Returns: whether it is another one than before.
  let setRenderRectangle: (PictureRect?) -> Bool
  private let access: WindowAccess

  /// Whether the application has not taken it back.
  var mayBeUsed: Bool { !access.isRevoked }

  /// Waits for the display server.
  ///
  /// - Parameter access: without which nothing is asked of the server about the window.
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

  /// Shows what stands instead of the picture, where that is more than that no frame comes: what an application does about
  /// a stream's beginning and end is its own business.
  func show(_ placeholder: StreamPlaceholder?) {
    renderer.text = placeholder == .cameraOff || placeholder == .inPictureInPicture ? placeholder?.text : nil
  }
}
