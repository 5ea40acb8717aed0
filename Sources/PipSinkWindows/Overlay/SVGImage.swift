import CWindows
import PipSink

/// A picture that the app gives as SVG, which librsvg draws. The library is loaded when it is needed for the first time.
struct SVGImage {
  private let handle: GObjectHandle
  private let isSymbolic: Bool

  /// - Throws: ``PipSink/PipSinkError/System/invalidArgument(_:reason:)`` for an icon that is not there, cannot be read, or
  ///   is no SVG document.
  init(_ icon: PictureInPictureControl.Icon) throws(PipSinkError) {
    switch icon {
    case .svg(let text):
      handle = try Self.read(Array(text.utf8), name: "the SVG document")
      isSymbolic = false
    case .named(let name):
      let path = name.utf8.first == UInt8(ascii: "/") ? name : IconTheme.path(ofIcon: name)
      guard let path else {
        throw Self.refusal(
          "icon \"\(name)\"", "it is not an SVG file of the icon theme; install the theme, or give the path of a file")
      }
      guard let bytes = smallFile(at: path, limit: Self.maximumLength) else {
        throw Self.refusal(
          "icon \"\(name)\"", "\(path) is not a file that can be read, or has more than \(Self.maximumLength) bytes")
      }
      handle = try Self.read(bytes, name: "icon \"\(name)\"")
      isSymbolic = name.hasSuffix("-symbolic") || name.hasSuffix("-symbolic.svg")
    }
  }

  /// Draws the picture into a square whose upper left corner is at the origin.
  ///
  /// - Parameters:
  ///   - context: a `cairo_t`.
  ///   - side: the length of the square's sides.
  func draw(_ context: OpaquePointer, side: Double) {
    // The colours of a symbolic icon are for a bright background.
    if isSymbolic { cairo_push_group(context) }
    var place = Library.Rectangle(x: 0, y: 0, width: side, height: side)
    _ = Library.shared?.render(handle.pointer, context, &place, nil)
    guard isSymbolic, let shape = cairo_pop_group(context) else { return }
    cairo_set_source_rgb(context, 1, 1, 1)
    cairo_mask(context, shape)
    cairo_pattern_destroy(shape)
  }

  private static func refusal(_ name: String, _ reason: String) -> PipSinkError {
    .system(.invalidArgument(name, reason: reason))
  }

  /// The longest file that is read, in bytes.
  private static let maximumLength = 1 << 20

  private static func read(_ bytes: [UInt8], name: String) throws(PipSinkError) -> GObjectHandle {
    guard let library = Library.shared else {
      throw refusal(name, "\(Library.file) is not installed, and it draws SVG; install librsvg")
    }
    var failure: UnsafeMutablePointer<GError>?
    defer { g_clear_error(&failure) }
    guard let pointer = library.new(bytes, gsize(bytes.count), &failure) else {
      throw refusal(name, "it is not SVG: \(failure.map { String(cString: $0.pointee.message) } ?? "unknown error")")
    }
    return GObjectHandle(pointer)
  }

  /// Owns a reference to a GObject.
  private final class GObjectHandle {
    let pointer: UnsafeMutableRawPointer

    init(_ pointer: UnsafeMutableRawPointer) { self.pointer = pointer }

    deinit { g_object_unref(pointer) }
  }

  /// The functions of librsvg, as its documentation declares them since version 2.46.
  private struct Library: Sendable {
    struct Rectangle {
      var (x, y, width, height): (Double, Double, Double, Double)
    }

    static let file = "librsvg-2.so.2"
    static let shared = Library()

    typealias Failure = UnsafeMutablePointer<UnsafeMutablePointer<GError>?>
    typealias New = @convention(c) (UnsafePointer<UInt8>?, gsize, Failure?) -> UnsafeMutableRawPointer?
    typealias Render =
      @convention(c) (
        UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutableRawPointer?, Failure?
      ) -> gboolean

    let new: New
    let render: Render

    private init?() {
      guard let library = LoadedLibrary(Self.file, loads: true),
        let new = library.find("rsvg_handle_new_from_data", as: New.self),
        let render = library.find("rsvg_handle_render_document", as: Render.self)
      else { return nil }
      (self.new, self.render) = (new, render)
    }
  }
}

/// Finds SVG files in icon themes, as the Icon Theme Specification says. The theme is that of GNOME's settings, and where
/// there is none, or it lacks the icon, Adwaita and hicolor.
private enum IconTheme {
  /// The path of an icon's file; nil where no theme has it as SVG.
  static func path(ofIcon name: String) -> String? {
    guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "/")) else { return nil }
    var visited: Set<String> = []
    for theme in [DesktopSettings.iconTheme, "Adwaita", "hicolor"].compactMap(\.self) {
      if let path = path(ofIcon: name, in: theme, &visited) { return path }
    }
    return nil
  }

  /// The folders with themes.
  private static let folders = DataFolders.all.map { "\($0)/icons" }

  /// Looks in a theme, and then in those that have what it lacks.
  private static func path(ofIcon name: String, in theme: String, _ visited: inout Set<String>) -> String? {
    guard visited.insert(theme).inserted else { return nil }
    var parents: [String] = []
    for folder in folders {
      guard let description = Description("\(folder)/\(theme)") else { continue }
      for part in description.folders {
        let path = "\(folder)/\(theme)/\(part)/\(name).svg"
        if g_file_test(path, G_FILE_TEST_IS_REGULAR) != 0 { return path }
      }
      parents += description.parents
    }
    // The last theme is that of all programs, after Adwaita.
    for parent in parents where parent != "hicolor" {
      if let path = path(ofIcon: name, in: parent, &visited) { return path }
    }
    return nil
  }

  /// The file that describes a theme.
  private struct Description {
    /// The folders with icons; those for any size come first.
    let folders: [String]
    /// The themes that have what this one lacks.
    let parents: [String]

    init?(_ path: String) {
      guard let file = KeyFile(from: "\(path)/index.theme") else { return nil }
      let all = file.list("Icon Theme", "Directories") + file.list("Icon Theme", "ScaledDirectories")
      let isScalable = { (folder: String) in file.text(folder, "Type") == "Scalable" }
      folders = all.filter(isScalable) + all.filter { !isScalable($0) }
      parents = file.list("Icon Theme", "Inherits")
    }
  }
}
