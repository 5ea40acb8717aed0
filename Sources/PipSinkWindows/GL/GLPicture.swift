import CGL
import CLibYUV
import PipSink

/// Draws frames with OpenGL ES 3 into memory, without a window and without a display.
///
/// One thread at a time may use it, whichever it is.
final class GLPicture {
  let context: GLContext
  private let functions: Functions
  private var painter: GLPainter

  /// The functions that windows do not need.
  private struct Functions {
    let makeFramebuffers: PFNGLGENFRAMEBUFFERSPROC
    let deleteFramebuffers: PFNGLDELETEFRAMEBUFFERSPROC
    let bindFramebuffer: PFNGLBINDFRAMEBUFFERPROC
    let makeRenderbuffers: PFNGLGENRENDERBUFFERSPROC
    let deleteRenderbuffers: PFNGLDELETERENDERBUFFERSPROC
    let bindRenderbuffer: PFNGLBINDRENDERBUFFERPROC
    let allocate: PFNGLRENDERBUFFERSTORAGEPROC
    let attach: PFNGLFRAMEBUFFERRENDERBUFFERPROC
    let read: PFNGLREADPIXELSPROC
    let finish: PFNGLFINISHPROC

    init(_ library: GLLibrary) throws(PipSinkError) {
      makeFramebuffers = try library.find("glGenFramebuffers")
      deleteFramebuffers = try library.find("glDeleteFramebuffers")
      bindFramebuffer = try library.find("glBindFramebuffer")
      makeRenderbuffers = try library.find("glGenRenderbuffers")
      deleteRenderbuffers = try library.find("glDeleteRenderbuffers")
      bindRenderbuffer = try library.find("glBindRenderbuffer")
      allocate = try library.find("glRenderbufferStorage")
      attach = try library.find("glFramebufferRenderbuffer")
      read = try library.find("glReadPixels")
      finish = try library.find("glFinish")
    }
  }

  /// - Throws: ``PipSinkError/System/toolkitUnavailable(_:reason:)``.
  init() throws(PipSinkError) {
    context = try GLContext(GLDisplay(.surfaceless), drawsOnWindows: false)
    functions = try Functions(context.library)
    painter = GLPainter(context.library)
  }

  /// Draws a frame on a picture that was green, and returns the picture.
  ///
  /// - Parameters:
  ///   - sampleBuffer: a frame that ``GLPainter/canPaint(_:textureLimit:)`` allows.
  ///   - gravity: how the frame is placed in the picture.
  ///   - size: the size of the picture in pixels.
  ///   - time: called with a closure that draws the frame once more and waits for the end; nil for no such call.
  /// - Throws: as ``GLPainter/paint(_:gravity:size:)``.
  func paint(
    _ sampleBuffer: SampleBuffer, gravity: VideoGravity, size: PictureSize,
    time: ((() throws(RenderingError) -> Void) throws(RenderingError) -> Void)? = nil
  ) throws(RenderingError) -> BGRAImage {
    var bytes = [UInt8](repeating: 0, count: size.width * size.height * 4)
    let (width, height) = (GLsizei(size.width), GLsizei(size.height))
    try context.withCurrent(nil) { () throws(RenderingError) in
      var (frame, storage): (GLuint, GLuint) = (0, 0)
      functions.makeFramebuffers(1, &frame)
      functions.makeRenderbuffers(1, &storage)
      defer {
        functions.deleteFramebuffers(1, &frame)
        functions.deleteRenderbuffers(1, &storage)
      }
      functions.bindFramebuffer(GLenum(GL_FRAMEBUFFER), frame)
      functions.bindRenderbuffer(GLenum(GL_RENDERBUFFER), storage)
      functions.allocate(GLenum(GL_RENDERBUFFER), GLenum(GL_RGBA8), width, height)
      functions.attach(GLenum(GL_FRAMEBUFFER), GLenum(GL_COLOR_ATTACHMENT0), GLenum(GL_RENDERBUFFER), storage)
      context.library.clearColor(0, 1, 0, 0)
      context.library.clear(GLbitfield(GL_COLOR_BUFFER_BIT))
      try painter.paint(sampleBuffer, gravity: gravity, size: size)
      functions.read(0, 0, width, height, GLenum(GL_RGBA), GLenum(GL_UNSIGNED_BYTE), &bytes)
      try time? { () throws(RenderingError) in
        try painter.paint(sampleBuffer, gravity: gravity, size: size)
        functions.finish()
      }
    }
    // The lowest row comes first, and red. A negative height turns the picture over.
    let image = [UInt8](unsafeUninitializedCapacity: bytes.count) { image, count in
      ABGRToARGB(bytes, width * 4, image.baseAddress, width * 4, width, -height)
      count = bytes.count
    }
    return BGRAImage(size: size, bytes: image)
  }
}
