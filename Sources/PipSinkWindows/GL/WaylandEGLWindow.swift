import CGL
import PipSink

/// A `wl_egl_window`: the size of a `wl_surface` on which OpenGL draws.
struct WaylandEGLWindow {
  /// The functions of libwayland-egl, which is opened when the first Wayland window is drawn on.
  ///
  /// `@unchecked Sendable`: the addresses are constant, and the functions may be called on every thread.
  private struct Library: @unchecked Sendable {
    let make: @convention(c) (_ surface: OpaquePointer, _ width: Int32, _ height: Int32) -> OpaquePointer?
    let resize: @convention(c) (OpaquePointer, _ width: Int32, _ height: Int32, _ x: Int32, _ y: Int32) -> Void
    let destroy: @convention(c) (OpaquePointer) -> Void

    static let result = Result { () throws(PipSinkError) in
      let library = try GLSymbols("libwayland-egl.so.1")
      return try Library(
        make: library.require("wl_egl_window_create"), resize: library.require("wl_egl_window_resize"),
        destroy: library.require("wl_egl_window_destroy"))
    }
  }

  let pointer: OpaquePointer
  private let library: Library
  private var size: PictureSize

  /// - Parameters:
  ///   - surface: the `wl_surface`, which has to exist until ``destroy()`` has returned.
  ///   - size: the size in pixels.
  /// - Throws: ``PipSinkError/System/toolkitUnavailable(_:reason:)``.
  init(_ surface: OpaquePointer, _ size: PictureSize) throws(PipSinkError) {
    library = try Library.result.get()
    guard let pointer = library.make(surface, Int32(size.width), Int32(size.height)) else {
      throw GLLibrary.unavailable("there is no memory for the window")
    }
    (self.pointer, self.size) = (pointer, size)
  }

  /// Sets the size of the next picture, in pixels.
  mutating func resize(to size: PictureSize) {
    guard size != self.size else { return }
    library.resize(pointer, Int32(size.width), Int32(size.height), 0, 0)
    self.size = size
  }

  /// Destroys it, after the EGLSurface that was made from it.
  func destroy() { library.destroy(pointer) }
}
