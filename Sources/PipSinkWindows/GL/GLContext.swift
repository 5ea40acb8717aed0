import CGL
import PipSink

/// A context of OpenGL ES 3, with which one surface, or a framebuffer object, is drawn on.
///
/// `@unchecked Sendable`: the fields are constant. Only one thread at a time may use the context, whichever it is.
final class GLContext: @unchecked Sendable {
  let display: GLDisplay
  let config: EGLConfig
  /// The name of what draws, such as "llvmpipe (LLVM 15.0.6, 256 bits)".
  let rendererName: String
  /// The version of OpenGL ES, and what the driver says of its own.
  let version: String
  /// The largest width and height of a frame, in pixels.
  let textureLimit: Int
  private let handle: EGLContext
  private let tellsReset: Bool

  var library: GLLibrary { display.library }

  /// Whether the processor draws, so that nothing is gained by drawing with OpenGL.
  var isSoftware: Bool { ["llvmpipe", "softpipe", "swrast", "Software"].contains { rendererName.contains($0) } }

  /// Makes a context.
  ///
  /// - Parameters:
  ///   - display: what the context draws for.
  ///   - visual: the ID of the visual that a window of an X server has; nil for other platforms.
  ///   - drawsOnWindows: whether there will be a surface of a window.
  /// - Throws: ``PipSinkError/System/toolkitUnavailable(_:reason:)``.
  init(_ display: GLDisplay, visual: UInt32? = nil, drawsOnWindows: Bool = true) throws(PipSinkError) {
    let library = display.library
    guard display.has("EGL_KHR_surfaceless_context") else {
      throw GLLibrary.unavailable("this EGL has no EGL_KHR_surfaceless_context")
    }
    config = try Self.config(display, visual, surfaces: drawsOnWindows ? EGL_WINDOW_BIT : EGL_PBUFFER_BIT)
    var attributes = [EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 0]
    let canBeLost = display.has("EGL_EXT_create_context_robustness")
    if canBeLost {
      attributes += [EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY_EXT, EGL_LOSE_CONTEXT_ON_RESET_EXT]
    }
    guard let handle = library.makeContext(display.handle, config, nil, attributes + [EGL_NONE]) else {
      throw GLLibrary.unavailable("there is no OpenGL ES 3 (\(library.eglErrorName))")
    }
    guard library.makeCurrent(display.handle, nil, nil, handle) != 0 else {
      _ = library.destroyContext(display.handle, handle)
      throw GLLibrary.unavailable("the context cannot be used (\(library.eglErrorName))")
    }
    (self.display, self.handle) = (display, handle)
    let text = { (name: Int32) in library.string(GLenum(name)).map { String(cString: $0) } ?? "" }
    (rendererName, version) = (text(GL_RENDERER), text(GL_VERSION))
    tellsReset = canBeLost && text(GL_EXTENSIONS).contains("GL_EXT_robustness")
    var limit: GLint = 0
    library.integer(GLenum(GL_MAX_TEXTURE_SIZE), &limit)
    textureLimit = Int(limit)
    _ = library.makeCurrent(display.handle, nil, nil, nil)
  }

  deinit { _ = library.destroyContext(display.handle, handle) }

  /// Chooses a configuration without alpha where there is one, since windows would show what is behind them.
  private static func config(
    _ display: GLDisplay, _ visual: UInt32?, surfaces: Int32
  ) throws(PipSinkError) -> EGLConfig {
    let library = display.library
    let wanted = [
      EGL_RENDERABLE_TYPE, EGL_OPENGL_ES3_BIT, EGL_SURFACE_TYPE, surfaces, EGL_RED_SIZE, 8, EGL_GREEN_SIZE, 8,
      EGL_BLUE_SIZE, 8, EGL_NONE,
    ]
    var (count, configs): (EGLint, [EGLConfig?]) = (0, [EGLConfig?](repeating: nil, count: 256))
    _ = library.chooseConfig(display.handle, wanted, &configs, EGLint(configs.count), &count)
    let value = { (config: EGLConfig, attribute: Int32) in
      var value: EGLint = 0
      _ = library.configAttribute(display.handle, config, attribute, &value)
      return value
    }
    let fitting = configs.prefix(Int(count)).compactMap { $0 }.filter { config in
      visual.map { UInt32(bitPattern: value(config, EGL_NATIVE_VISUAL_ID)) == $0 } ?? (value(config, EGL_RED_SIZE) == 8)
    }
    guard let config = fitting.first(where: { value($0, EGL_ALPHA_SIZE) == 0 }) ?? fitting.first else {
      throw GLLibrary.unavailable("EGL has no configuration for such a window")
    }
    return config
  }

  /// Calls `body` while the calling thread draws with the context.
  ///
  /// - Parameter surface: the surface to draw on; nil where a framebuffer object is drawn on.
  /// - Throws: ``PipSink/RenderingError`` when the context or the surface is lost, or there is no memory, and what
  ///   `body` throws.
  func withCurrent<Result>(
    _ surface: EGLSurface?, _ body: () throws(RenderingError) -> Result
  ) throws(RenderingError) -> Result {
    guard library.makeCurrent(display.handle, surface, surface, handle) != 0 else {
      throw Self.loss("the window cannot be drawn on (\(library.eglErrorName))")
    }
    // The next frame may come on another thread.
    defer { _ = library.makeCurrent(display.handle, nil, nil, nil) }
    let result = try body()
    let error = library.error()
    if tellsReset, let status = library.resetStatus?(), status != GLenum(GL_NO_ERROR) {
      throw Self.loss("the graphics processor was reset")
    }
    guard error == GLenum(GL_NO_ERROR) else {
      throw Self.loss(
        error == GLenum(GL_OUT_OF_MEMORY)
          ? "the graphics processor has no memory" : "OpenGL error 0x\(String(error, radix: 16))")
    }
    return result
  }

  /// The error after which a layer has its renderer rebuilt.
  static func loss(_ reason: String) -> RenderingError { RenderingError(code: .invalidPixelFormat, reason: reason) }
}
