import CGStreamer
import PipSink

/// The functions of GTK 4, looked up in a program that has loaded the library.
///
/// Nothing here links or loads GTK 4. A program without it, or with another GTK, is not affected, and PipSink is built
/// without GTK 4's headers. All functions are exported functions of GTK's stable interface. They exist since GTK 4.0,
/// except where a comment says otherwise.
struct GTK4Library: Sendable {
  typealias Object = UnsafeMutableRawPointer

  let paintableType: @convention(c) @Sendable () -> GType
  let invalidateContents: @convention(c) @Sendable (Object) -> Void
  let invalidateSize: @convention(c) @Sendable (Object) -> Void
  let snapshot: @convention(c) @Sendable (Object, _ snapshot: Object, _ width: Double, _ height: Double) -> Void
  let makeEmptyPaintable: @convention(c) @Sendable (_ width: gint, _ height: gint) -> Object?
  private let makeMemoryTexture:
    @convention(c) @Sendable (_ width: gint, _ height: gint, _ format: guint, OpaquePointer, _ stride: gsize) -> Object?
  private let makeSnapshot: @convention(c) @Sendable () -> Object?
  /// The size is a graphene_size_t, which consists of two floats.
  private let endSnapshot: @convention(c) @Sendable (Object, UnsafePointer<Float>) -> Object?
  private let toplevels: @convention(c) @Sendable () -> Object?
  private let itemCount: @convention(c) @Sendable (Object) -> guint
  private let item: @convention(c) @Sendable (Object, guint) -> Object?
  private let surface: @convention(c) @Sendable (_ native: Object) -> Object?
  private let isMapped: @convention(c) @Sendable (_ surface: Object) -> gboolean
  private let scaleFactor: @convention(c) @Sendable (_ surface: Object) -> gint
  /// It exists since GTK 4.12.
  private let scale: (@convention(c) @Sendable (_ surface: Object) -> Double)?

  static let name = "GTK 4"
  private static let file = "libgtk-4.so.1"
  private static let found = Locked<GTK4Library?>(nil)

  /// The functions of the GTK 4 in this process. A program that has not loaded it yet may do so later, so every call
  /// looks again.
  ///
  /// - Throws: ``PipSinkError/System/toolkitUnavailable(_:reason:)``.
  static func inProcess() throws(PipSinkError) -> GTK4Library {
    try found.withLock { found throws(PipSinkError) in
      if let found { return found }
      guard let loaded = LoadedLibrary(file, loads: false) else {
        throw .system(.toolkitUnavailable(name, reason: "the program has not loaded \(file)"))
      }
      let library = try GTK4Library(Symbols(library: loaded))
      found = library
      return library
    }
  }

  /// The functions of the library that the process has.
  private struct Symbols {
    let library: LoadedLibrary

    /// The function with a name, which has to exist.
    func require<Function>(_ name: String, as type: Function.Type = Function.self) throws(PipSinkError) -> Function {
      guard let function = library.find(name, as: type) else {
        throw .system(.toolkitUnavailable(GTK4Library.name, reason: "\(GTK4Library.file) has no function \(name)"))
      }
      return function
    }
  }

  private init(_ symbols: Symbols) throws(PipSinkError) {
    paintableType = try symbols.require("gdk_paintable_get_type")
    invalidateContents = try symbols.require("gdk_paintable_invalidate_contents")
    invalidateSize = try symbols.require("gdk_paintable_invalidate_size")
    snapshot = try symbols.require("gdk_paintable_snapshot")
    makeEmptyPaintable = try symbols.require("gdk_paintable_new_empty")
    makeMemoryTexture = try symbols.require("gdk_memory_texture_new")
    makeSnapshot = try symbols.require("gtk_snapshot_new")
    endSnapshot = try symbols.require("gtk_snapshot_free_to_paintable")
    toplevels = try symbols.require("gtk_window_get_toplevels")
    itemCount = try symbols.require("g_list_model_get_n_items")
    item = try symbols.require("g_list_model_get_item")
    surface = try symbols.require("gtk_native_get_surface")
    isMapped = try symbols.require("gdk_surface_get_mapped")
    scaleFactor = try symbols.require("gdk_surface_get_scale_factor")
    scale = symbols.library.find("gdk_surface_get_scale")
  }

  // MARK: - Textures

  /// GDK_MEMORY_B8G8R8A8_PREMULTIPLIED, which is GTK's internal format on little-endian machines. It is copied, where
  /// other formats are converted.
  private static let format: guint = 0

  /// Makes a texture from opaque BGRA pixels. GdkTextures are immutable, so any thread may do it.
  ///
  /// - Parameter bytes: the pixels, `4 * size.width` bytes for each row. The texture takes a reference.
  func makeTexture(_ size: PictureSize, _ bytes: OpaquePointer) -> PaintableTexture? {
    makeMemoryTexture(gint(size.width), gint(size.height), Self.format, bytes, gsize(4 * size.width))
      .map { PaintableTexture($0, size) }
  }

  /// Makes a paintable that always shows the same texture, at a given size. It must be called on GTK's thread.
  ///
  /// - Returns: a new reference.
  func makeStill(_ texture: PaintableTexture, size: (width: Double, height: Double)) -> Object? {
    guard let recorded = makeSnapshot() else { return nil }
    snapshot(texture.object, recorded, size.width, size.height)
    return endSnapshot(recorded, [Float(size.width), Float(size.height)])
  }

  // MARK: - Screens

  /// Pixels for each of GTK's units, for example 1.5 (before GTK 4.12 it is a whole number). It is the largest scale of
  /// all windows that the program shows, because a paintable is not told in which of them it is drawn. It must be
  /// called on GTK's thread.
  func largestScale() -> Double {
    guard let windows = toplevels() else { return 1 }
    var largest = 0.0
    for index in 0..<itemCount(windows) {
      guard let window = item(windows, index) else { continue }
      defer { g_object_unref(window) }
      guard let surface = surface(window), isMapped(surface) != 0 else { continue }
      largest = max(largest, scale?(surface) ?? Double(scaleFactor(surface)))
    }
    return largest > 0 ? largest : 1
  }
}

/// A GdkTexture with its size in pixels. It owns a reference to the texture.
///
/// `@unchecked Sendable`: a GdkTexture never changes, and may be used and released on every thread.
final class PaintableTexture: @unchecked Sendable {
  let object: UnsafeMutableRawPointer
  let size: PictureSize

  /// Takes over a reference.
  init(_ object: UnsafeMutableRawPointer, _ size: PictureSize) {
    self.object = object
    self.size = size
  }

  deinit { g_object_unref(object) }
}
