import CGL
import Glibc
import PipSink

/// The functions of EGL and OpenGL ES 3, in libraries that are opened when they are first needed.
///
/// `@unchecked Sendable`: the addresses are constant, and the functions may be called on every thread.
struct GLLibrary: @unchecked Sendable {
  private let address: PFNEGLGETPROCADDRESSPROC
  let eglError: PFNEGLGETERRORPROC
  let eglString: PFNEGLQUERYSTRINGPROC
  let platformDisplay: PFNEGLGETPLATFORMDISPLAYPROC
  let initialize: PFNEGLINITIALIZEPROC
  let terminate: PFNEGLTERMINATEPROC
  let chooseConfig: PFNEGLCHOOSECONFIGPROC
  let configAttribute: PFNEGLGETCONFIGATTRIBPROC
  let makeContext: PFNEGLCREATECONTEXTPROC
  let destroyContext: PFNEGLDESTROYCONTEXTPROC
  let makeCurrent: PFNEGLMAKECURRENTPROC
  let makeWindowSurface: PFNEGLCREATEPLATFORMWINDOWSURFACEPROC
  let destroySurface: PFNEGLDESTROYSURFACEPROC
  let swapInterval: PFNEGLSWAPINTERVALPROC
  let swapBuffers: PFNEGLSWAPBUFFERSPROC

  let error: PFNGLGETERRORPROC
  let string: PFNGLGETSTRINGPROC
  let integer: PFNGLGETINTEGERVPROC
  let makeShader: PFNGLCREATESHADERPROC
  let shaderSource: PFNGLSHADERSOURCEPROC
  let compileShader: PFNGLCOMPILESHADERPROC
  let deleteShader: PFNGLDELETESHADERPROC
  let makeProgram: PFNGLCREATEPROGRAMPROC
  let attachShader: PFNGLATTACHSHADERPROC
  let linkProgram: PFNGLLINKPROGRAMPROC
  let programValue: PFNGLGETPROGRAMIVPROC
  let useProgram: PFNGLUSEPROGRAMPROC
  let uniformLocation: PFNGLGETUNIFORMLOCATIONPROC
  let setIntegers: PFNGLUNIFORM1IVPROC
  let setVectors: PFNGLUNIFORM4FVPROC
  let makeTextures: PFNGLGENTEXTURESPROC
  let deleteTextures: PFNGLDELETETEXTURESPROC
  let activeTexture: PFNGLACTIVETEXTUREPROC
  let bindTexture: PFNGLBINDTEXTUREPROC
  let textureParameter: PFNGLTEXPARAMETERIPROC
  let allocateTexture: PFNGLTEXSTORAGE2DPROC
  let writeTexture: PFNGLTEXSUBIMAGE2DPROC
  let pixelStore: PFNGLPIXELSTOREIPROC
  let viewport: PFNGLVIEWPORTPROC
  let clearColor: PFNGLCLEARCOLORPROC
  let clear: PFNGLCLEARPROC
  let enable: PFNGLENABLEPROC
  let disable: PFNGLDISABLEPROC
  let blendFunction: PFNGLBLENDFUNCPROC
  let drawArrays: PFNGLDRAWARRAYSPROC
  /// It has the type of glGetError. It must be called only where there is the extension GL_EXT_robustness.
  let resetStatus: PFNGLGETERRORPROC?

  /// Finds a function of OpenGL ES that few callers need.
  ///
  /// - Throws: ``PipSinkError/System/toolkitUnavailable(_:reason:)``.
  func find<Function>(_ name: String) throws(PipSinkError) -> Function { try Self.find(name, address) }

  private static func find<Function>(
    _ name: String, _ address: PFNEGLGETPROCADDRESSPROC
  ) throws(PipSinkError) -> Function {
    guard let function = address(name) else { throw unavailable("the driver has no function \(name)") }
    return unsafeBitCast(function, to: Function.self)
  }

  private static let result = Result { () throws(PipSinkError) in try load() }

  /// Opens the libraries, where that has not been done.
  ///
  /// - Throws: ``PipSinkError/System/toolkitUnavailable(_:reason:)``.
  static func open() throws(PipSinkError) -> GLLibrary { try result.get() }

  static func unavailable(_ reason: String) -> PipSinkError {
    .system(.toolkitUnavailable("OpenGL ES", reason: reason))
  }

  private static func load() throws(PipSinkError) -> GLLibrary {
    let egl = try GLSymbols("libEGL.so.1")
    // Since EGL 1.5, which eglGetPlatformDisplay is a part of, this function also finds those that are no extensions.
    let address: PFNEGLGETPROCADDRESSPROC = try egl.require("eglGetProcAddress")
    func gl<Function>(_ name: String) throws(PipSinkError) -> Function { try find(name, address) }
    return try GLLibrary(
      address: address, eglError: egl.require("eglGetError"), eglString: egl.require("eglQueryString"),
      platformDisplay: egl.require("eglGetPlatformDisplay"), initialize: egl.require("eglInitialize"),
      terminate: egl.require("eglTerminate"), chooseConfig: egl.require("eglChooseConfig"),
      configAttribute: egl.require("eglGetConfigAttrib"), makeContext: egl.require("eglCreateContext"),
      destroyContext: egl.require("eglDestroyContext"), makeCurrent: egl.require("eglMakeCurrent"),
      makeWindowSurface: egl.require("eglCreatePlatformWindowSurface"),
      destroySurface: egl.require("eglDestroySurface"), swapInterval: egl.require("eglSwapInterval"),
      swapBuffers: egl.require("eglSwapBuffers"), error: gl("glGetError"), string: gl("glGetString"),
      integer: gl("glGetIntegerv"), makeShader: gl("glCreateShader"),
      shaderSource: gl("glShaderSource"), compileShader: gl("glCompileShader"), deleteShader: gl("glDeleteShader"),
      makeProgram: gl("glCreateProgram"), attachShader: gl("glAttachShader"), linkProgram: gl("glLinkProgram"),
      programValue: gl("glGetProgramiv"), useProgram: gl("glUseProgram"), uniformLocation: gl("glGetUniformLocation"),
      setIntegers: gl("glUniform1iv"), setVectors: gl("glUniform4fv"), makeTextures: gl("glGenTextures"),
      deleteTextures: gl("glDeleteTextures"), activeTexture: gl("glActiveTexture"), bindTexture: gl("glBindTexture"),
      textureParameter: gl("glTexParameteri"), allocateTexture: gl("glTexStorage2D"),
      writeTexture: gl("glTexSubImage2D"), pixelStore: gl("glPixelStorei"), viewport: gl("glViewport"),
      clearColor: gl("glClearColor"), clear: gl("glClear"), enable: gl("glEnable"), disable: gl("glDisable"),
      blendFunction: gl("glBlendFunc"), drawArrays: gl("glDrawArrays"),
      resetStatus: try? gl("glGetGraphicsResetStatusEXT"))
  }
}

/// The functions of a library that is opened here.
struct GLSymbols {
  private let file: String
  private let library: LoadedLibrary

  /// - Throws: ``PipSinkError/System/toolkitUnavailable(_:reason:)``.
  init(_ file: String) throws(PipSinkError) {
    guard let library = LoadedLibrary(file, loads: true) else {
      throw GLLibrary.unavailable(dlerror().map { String(cString: $0) } ?? "\(file) cannot be opened")
    }
    (self.file, self.library) = (file, library)
  }

  /// The function with a name, which has to exist.
  func require<Function>(_ name: String) throws(PipSinkError) -> Function {
    guard let function: Function = library.find(name) else {
      throw GLLibrary.unavailable("\(file) has no function \(name)")
    }
    return function
  }
}
