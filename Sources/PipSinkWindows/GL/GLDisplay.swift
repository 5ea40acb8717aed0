import CGL
import PipSink

/// EGL's connection to what draws and shows pictures, such as an X server.
///
/// EGL has one for each native display, which it ends for all users at once, so they are counted. It must end before its
/// native display is closed. The contexts and surfaces that are made with it keep it.
///
/// `@unchecked Sendable`: the fields are constant, and EGL may be used on every thread.
final class GLDisplay: @unchecked Sendable {
  /// What a display draws for.
  enum Platform {
    /// Nothing that is shown: pictures are drawn into framebuffer objects.
    case surfaceless
    /// An X server, by an `xcb_connection_t` and the number of its screen.
    case x11(OpaquePointer, screen: Int32)
    /// A Wayland compositor, by its connection's event loop, which the display keeps.
    case wayland(WaylandEventLoop)
  }

  let library: GLLibrary
  let handle: EGLDisplay
  private let extensions: Set<Substring>
  /// What has to exist until the display has ended.
  private let owner: AnyObject?

  /// The number of users of each handle.
  private static let useCounts = Locked<[Int: Int]>([:])

  /// Opens EGL, where that has not been done, and connects it. It waits for the answers of an X server or a compositor
  /// without a limit.
  ///
  /// - Throws: ``PipSinkError/System/toolkitUnavailable(_:reason:)``.
  init(_ platform: Platform) throws(PipSinkError) {
    library = try GLLibrary.open()
    let (number, native, attributes, wanted): (Int32, OpaquePointer?, [Int], String) =
      switch platform {
      case .surfaceless: (EGL_PLATFORM_SURFACELESS_MESA, nil, [], "EGL_MESA_platform_surfaceless")
      case .x11(let connection, let screen):
        (EGL_PLATFORM_XCB_EXT, connection, [Int(EGL_PLATFORM_XCB_SCREEN_EXT), Int(screen)], "EGL_EXT_platform_xcb")
      case .wayland(let loop): (EGL_PLATFORM_WAYLAND_EXT, loop.display, [], "EGL_EXT_platform_wayland")
      }
    owner = if case .wayland(let loop) = platform { loop } else { nil }
    guard Self.extensions(of: nil, library).contains(wanted[...]) else {
      throw GLLibrary.unavailable("this EGL has no \(wanted)")
    }
    let display = library.platformDisplay(
      EGLenum(number), native.map { UnsafeMutableRawPointer($0) }, attributes + [Int(EGL_NONE)])
    guard let display else { throw GLLibrary.unavailable("EGL does not know the display (\(library.eglErrorName))") }
    // Nobody else ends the display from now on. The lock is not held while the display server is waited for.
    Self.useCounts.withLock { $0[Int(bitPattern: display), default: 0] += 1 }
    guard library.initialize(display, nil, nil) != 0 else {
      let error = library.eglErrorName
      Self.release(display, library)
      throw GLLibrary.unavailable("EGL cannot use the display (\(error))")
    }
    handle = display
    extensions = Self.extensions(of: display, library)
  }

  deinit { Self.release(handle, library) }

  /// Ends a display after its last use. Nobody begins to use it meanwhile.
  private static func release(_ handle: EGLDisplay, _ library: GLLibrary) {
    let key = Int(bitPattern: handle)
    useCounts.withLock { counts in
      counts[key, default: 1] -= 1
      guard counts[key] == 0 else { return }
      counts[key] = nil
      _ = library.terminate(handle)
    }
  }

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
