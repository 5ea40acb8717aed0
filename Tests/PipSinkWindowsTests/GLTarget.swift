import CGL
import Testing

@testable import PipSink
@testable import PipSinkWindows

/// A context without a window, and a framebuffer object to draw on.
final class GLTarget {
  let context: GLContext
  private var painter: GLPainter
  private let address: @convention(c) (UnsafePointer<CChar>) -> UnsafeMutableRawPointer?

  /// Whether OpenGL ES can be used. Where it is not installed, tests report that they are skipped.
  static let isInstalled = (try? GLTarget()) != nil

  init() throws {
    context = try GLContext(GLDisplay(.surfaceless), drawsOnWindows: false)
    painter = GLPainter(context.library)
    address = try GLSymbols("libEGL.so.1").require("eglGetProcAddress")
  }

  private func find<Function>(_ name: String, as type: Function.Type = Function.self) -> Function {
    unsafeBitCast(address(name)!, to: type)
  }

  /// Draws a frame on a target that was green, and returns the pixels.
  func paint(_ sampleBuffer: SampleBuffer, gravity: VideoGravity, size: PictureSize) throws -> BGRAImage {
    let makeFramebuffers: @convention(c) (GLsizei, UnsafeMutablePointer<GLuint>) -> Void = find("glGenFramebuffers")
    let deleteFramebuffers: @convention(c) (GLsizei, UnsafePointer<GLuint>) -> Void = find("glDeleteFramebuffers")
    let makeRenderbuffers: @convention(c) (GLsizei, UnsafeMutablePointer<GLuint>) -> Void = find("glGenRenderbuffers")
    let deleteRenderbuffers: @convention(c) (GLsizei, UnsafePointer<GLuint>) -> Void = find("glDeleteRenderbuffers")
    let bindFramebuffer: @convention(c) (GLenum, GLuint) -> Void = find("glBindFramebuffer")
    let bindRenderbuffer: @convention(c) (GLenum, GLuint) -> Void = find("glBindRenderbuffer")
    let store: @convention(c) (GLenum, GLenum, GLsizei, GLsizei) -> Void = find("glRenderbufferStorage")
    let attach: @convention(c) (GLenum, GLenum, GLenum, GLuint) -> Void = find("glFramebufferRenderbuffer")
    let read: @convention(c) (GLint, GLint, GLsizei, GLsizei, GLenum, GLenum, UnsafeMutableRawPointer) -> Void =
      find("glReadPixels")
    var bytes = [UInt8](repeating: 0, count: size.width * size.height * 4)
    try context.withCurrent(nil) { () throws(RenderingError) in
      var (frame, storage): (GLuint, GLuint) = (0, 0)
      makeFramebuffers(1, &frame)
      makeRenderbuffers(1, &storage)
      defer {
        deleteFramebuffers(1, [frame])
        deleteRenderbuffers(1, [storage])
      }
      bindFramebuffer(GLenum(GL_FRAMEBUFFER), frame)
      bindRenderbuffer(GLenum(GL_RENDERBUFFER), storage)
      store(GLenum(GL_RENDERBUFFER), GLenum(GL_RGBA8), GLsizei(size.width), GLsizei(size.height))
      attach(GLenum(GL_FRAMEBUFFER), GLenum(GL_COLOR_ATTACHMENT0), GLenum(GL_RENDERBUFFER), storage)
      context.library.clearColor(0, 1, 0, 0)
      context.library.clear(GLbitfield(GL_COLOR_BUFFER_BIT))
      try painter.paint(sampleBuffer, gravity: gravity, size: size)
      read(
        0, 0, GLsizei(size.width), GLsizei(size.height), GLenum(GL_RGBA), GLenum(GL_UNSIGNED_BYTE), &bytes)
    }
    // The lowest row comes first, and red.
    let rowByteCount = size.width * 4
    var image: [UInt8] = []
    for row in (0..<size.height).reversed() { image += bytes[row * rowByteCount..<(row + 1) * rowByteCount] }
    for pixel in stride(from: 0, to: image.count, by: 4) { image.swapAt(pixel, pixel + 2) }
    return BGRAImage(size: size, bytes: image)
  }
}
