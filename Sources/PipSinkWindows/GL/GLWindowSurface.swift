import CGL
import PipSink

/// An X11 window that frames are drawn on with OpenGL ES 3.
///
/// One thread at a time may use it, whichever it is. It has to be destroyed before its window, and before the
/// connection to the server is closed.
final class GLWindowSurface {
  let context: GLContext
  private var painter: GLPainter
  private var surface: EGLSurface?

  /// Makes a surface. The X server is waited for, without a limit.
  ///
  /// - Parameters:
  ///   - display: the X server, which the surface keeps.
  ///   - window: the XID of the window, which must have no other surface.
  ///   - visual: the ID of the window's visual.
  /// - Throws: ``PipSinkError/System/toolkitUnavailable(_:reason:)``.
  init(_ display: GLDisplay, window: UInt32, visual: UInt32) throws(PipSinkError) {
    let library = display.library
    context = try GLContext(display, visual: visual)
    painter = GLPainter(library)
    // Unlike Xlib's, XCB's numbers of windows have 32 bits.
    let config = context.config
    surface = withUnsafePointer(to: window) {
      library.makeWindowSurface(display.handle, config, UnsafeMutableRawPointer(mutating: $0), nil)
    }
    guard surface != nil else {
      throw GLLibrary.unavailable("the window cannot be drawn on (\(library.eglErrorName))")
    }
  }

  deinit { destroy() }

  /// Stops drawing on the window. Nothing is shown from then on.
  func destroy() {
    if let surface { _ = context.library.destroySurface(context.display.handle, surface) }
    surface = nil
  }

  /// Whether ``show(_:gravity:size:under:)`` can draw a frame; otherwise the processor has to.
  func canShow(_ sampleBuffer: SampleBuffer) -> Bool {
    GLPainter.canPaint(sampleBuffer, textureLimit: context.textureLimit)
  }

  /// Draws a frame and shows it, without waiting for the screen's refresh.
  ///
  /// It waits for the graphics processor where that is behind by several frames, and without a limit for an X server that
  /// does not go on: one that is asked for the window's size, or that still reads all buffers of the window. When the
  /// window or the server has gone, a software rasteriser says nothing, so the connection has to be looked at.
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
