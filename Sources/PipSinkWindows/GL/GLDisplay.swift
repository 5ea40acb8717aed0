import CGL
import PipSink

/// EGL's connection to what draws and shows pictures, such as an X server.
///
/// There must be only one at a time for a native display, since EGL ends what all of them have made when the first one
/// ends. It must end before its native display is closed. The contexts and surfaces that are made with it keep it.
///
/// `@unchecked Sendable`: the fields are constant, and EGL may be used on every thread.
final class GLDisplay: @unchecked Sendable {
  /// What a display draws for.
  enum Platform {
    /// Nothing that is shown: pictures are drawn into framebuffer objects.
    case surfaceless
    /// An X server, by an `xcb_connection_t` and the number of its screen.
    case x11(OpaquePointer, screen: Int32)
  }

  let library: GLLibrary
  let handle: EGLDisplay
  private let extensions: Set<Substring>

  /// Opens EGL, where that has not been done, and connects it. It waits for the answers of an X server without a limit.
  ///
  /// - Throws: ``PipSinkError/System/toolkitUnavailable(_:reason:)``.
  init(_ platform: Platform) throws(PipSinkError) {
    library = try GLLibrary.open()
    let (number, native, attributes, wanted): (Int32, OpaquePointer?, [Int], String) =
      switch platform {
      case .surfaceless: (EGL_PLATFORM_SURFACELESS_MESA, nil, [], "EGL_MESA_platform_surfaceless")
      case .x11(let connection, let screen):
        (EGL_PLATFORM_XCB_EXT, connection, [Int(EGL_PLATFORM_XCB_SCREEN_EXT), Int(screen)], "EGL_EXT_platform_xcb")
      }
    guard Self.extensions(of: nil, library).contains(wanted[...]) else {
      throw GLLibrary.unavailable("this EGL has no \(wanted)")
    }
    let display = library.platformDisplay(
      EGLenum(number), native.map { UnsafeMutableRawPointer($0) }, attributes + [Int(EGL_NONE)])
    guard let display, library.initialize(display, nil, nil) != 0 else {
      throw GLLibrary.unavailable("EGL cannot use the display (\(library.eglErrorName))")
    }
    handle = display
    extensions = Self.extensions(of: display, library)
  }

  deinit { _ = library.terminate(handle) }

  /// Whether there is an extension with a name.
  func has(_ name: String) -> Bool { extensions.contains(name[...]) }

  private static func extensions(of display: EGLDisplay?, _ library: GLLibrary) -> Set<Substring> {
    Set(library.eglString(display, EGL_EXTENSIONS).map { String(cString: $0).split(separator: " ") } ?? [])
  }
}

extension GLLibrary {
  /// The last error of EGL on this thread, for messages.
  var eglErrorName: String { "EGL error 0x\(String(eglError(), radix: 16))" }
}
