import CGL
import PipSink

/// A window that frames are drawn on with OpenGL ES 3.
///
/// One thread at a time may use it, whichever it is. It has to be destroyed before its window, and before the
/// connection to the display server is closed.
final class GLWindowSurface {
  /// A window of a display server.
  enum Window {
    /// A window of the display's X server, by its XID, and the ID of its visual.
    case x11(UInt32, visual: UInt32)
    /// A `wl_surface` of the display's compositor, which has no size of its own.
    case wayland(OpaquePointer, size: PictureSize)
  }

  let context: GLContext
  private var painter: GLPainter
  private var surface: EGLSurface?
  private var wayland: WaylandEGLWindow?

  /// Makes a surface. An X server is waited for, without a limit.
  ///
  /// - Parameters:
  ///   - display: the display server, which the surface keeps.
  ///   - window: the window, which must have no other surface.
  /// - Throws: ``PipSinkError/System/toolkitUnavailable(_:reason:)``.
  init(_ display: GLDisplay, _ window: Window) throws(PipSinkError) {
    let library = display.library
    switch window {
    case .x11(let id, let visual):
      let context = try GLContext(display, visual: visual)
      // Unlike Xlib's, XCB's numbers of windows have 32 bits.
      surface = withUnsafePointer(to: id) {
        library.makeWindowSurface(display.handle, context.config, UnsafeMutableRawPointer(mutating: $0), nil)
      }
      self.context = context
    case .wayland(let native, let size):
      context = try GLContext(display)
      let made = try WaylandEGLWindow(native, size)
      surface = library.makeWindowSurface(
        display.handle, context.config, UnsafeMutableRawPointer(made.pointer), nil)
      wayland = made
    }
    painter = GLPainter(library)
    guard surface != nil else {
      let error = library.eglErrorName
      destroy()
      throw GLLibrary.unavailable("the window cannot be drawn on (\(error))")
    }
  }

  deinit { destroy() }

  /// Stops drawing on the window. Nothing is shown from then on.
  func destroy() {
    if let surface { _ = context.library.destroySurface(context.display.handle, surface) }
    surface = nil
    wayland?.destroy()
    wayland = nil
  }

  /// Whether ``show(_:gravity:size:under:)`` can draw a frame; otherwise the processor has to.
  func canShow(_ sampleBuffer: SampleBuffer) -> Bool {
    GLPainter.canPaint(sampleBuffer, textureLimit: context.textureLimit)
  }

  /// Draws a frame and shows it, without waiting for the screen's refresh.
  ///
  /// It waits for the graphics processor where that is behind by several frames, and without a limit for an X server that
  /// does not go on: one that is asked for the window's size, or that still reads all buffers of the window. The latter
  /// is true of compositors, too. When the window or the server has gone, a software rasteriser says nothing, so the
  /// connection has to be looked at.
  ///
  /// - Parameters:
  ///   - sampleBuffer: a frame that ``canShow(_:)`` allows.
  ///   - gravity: how the frame is placed in the window.
  ///   - size: the size of the window in pixels.
  ///   - decoration: what is drawn over the frame; nil for nothing.
  /// - Throws: ``PipSink/RenderingError`` for an unreadable frame, and when the window or the graphics processor is lost
  ///   or has no memory. Then the surface has to be replaced by another one.
  func show(
    _ sampleBuffer: SampleBuffer, gravity: VideoGravity, size: PictureSize, under decoration: DecorationLayer? = nil
  ) throws(RenderingError) {
    guard let surface else { throw GLContext.loss("the window is no longer drawn on") }
    wayland?.resize(to: size)
    try context.withCurrent(surface) { () throws(RenderingError) in
      let library = context.library
      _ = library.swapInterval(context.display.handle, 0)
      try painter.paint(sampleBuffer, gravity: gravity, size: size)
      if let decoration { try painter.paint(decoration, size: size) }
      guard library.swapBuffers(context.display.handle, surface) != 0 else {
        throw GLContext.loss("the window cannot show the frame (\(library.eglErrorName))")
      }
    }
  }
}
