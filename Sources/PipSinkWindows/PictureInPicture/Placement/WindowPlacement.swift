import CWindows
import PipSink

/// The corner and the size in which the user has left a picture-in-picture window. It is saved in a file for each
/// monitor, so that it is remembered after a restart.
public struct WindowPlacement: Hashable, Sendable {
  /// The corner of the monitor.
  public var corner: WindowCorner
  /// The width in logical pixels, which the desktop multiplies by its scale factor.
  public var width: Int { didSet { fitted = nil } }
  /// The height in logical pixels, which the desktop multiplies by its scale factor.
  public var height: Int { didSet { fitted = nil } }
  /// The size that a picture of another shape has left of it; nil where that is the same. It is not what the user wants,
  /// so it is not saved.
  private var fitted: PictureSize?

  /// Creates a placement.
  ///
  /// - Parameters:
  ///   - corner: the corner of the monitor.
  ///   - width: the width in logical pixels.
  ///   - height: the height in logical pixels. The window changes it to keep the shape of its picture.
  public init(corner: WindowCorner = .bottomRight, width: Int = 320, height: Int = 180) {
    self.corner = corner
    self.width = width
    self.height = height
  }

  /// The path of the file in which placements are saved by default: `pipsink/picture-in-picture.ini` in the user's
  /// state folder, which is `XDG_STATE_HOME` or, where that is not set, `~/.local/state`.
  public static var defaultPath: String {
    let base = g_getenv("XDG_STATE_HOME").map { String(cString: $0) } ?? ""
    let home = g_get_home_dir().map { String(cString: $0) } ?? "."
    return (base.utf8.first == UInt8(ascii: "/") ? base : home + "/.local/state") + "/pipsink/picture-in-picture.ini"
  }

  /// Loads the placement that was saved last, on whichever monitor that was.
  ///
  /// - Parameter path: the path of the file.
  /// - Returns: nil when the file does not exist or contains no placement.
  public static func load(from path: String) -> WindowPlacement? { WindowPlaces(from: path)?.last }

  /// Saves the placement for every monitor. The monitor that the file names as the last one stays the same.
  ///
  /// - Parameter path: the path of the file. Its folder is created if necessary.
  /// - Returns: false when the file cannot be written. The only consequence is that the placement is not remembered.
  @discardableResult
  public func save(to path: String) -> Bool {
    var places = WindowPlaces(from: path) ?? WindowPlaces()
    places.noteEverywhere(self)
    return places.save(to: path)
  }
}

/// Rules for resizing a window.
extension WindowPlacement {
  /// The window's distance from the edges of the work area, in units.
  package static let margin = 16
  /// The smallest width of a window, in units.
  package static let minimumWidth = 96
  /// The smallest height of a window, in units, with room for the controls.
  package static let minimumHeight = 48

  /// The size that the window has, in units.
  package var size: PictureSize { fitted ?? PictureSize(width: width, height: height) }

  /// Changes the width, as far as it fits into the work area, and the size that the window has with the picture's shape.
  /// Where that does not fit, or would be too small, the window has another shape, with bars beside the picture.
  ///
  /// - Parameters:
  ///   - wanted: the wanted width, in units.
  ///   - aspectRatio: width divided by height; nil leaves the height as it is.
  ///   - area: the work area, in units.
  package mutating func resize(toWidth wanted: Int, aspectRatio: Double?, in area: PictureRect) {
    width = max(Self.minimumWidth, min(wanted, area.width - 2 * Self.margin))
    guard let aspectRatio else { return }
    height = Self.height(ofWidth: width, aspectRatio)
    let highest = max(Self.minimumHeight, area.height - 2 * Self.margin)
    if height > highest {
      let narrower = max(Self.minimumWidth, Int(nearest: Double(highest) * aspectRatio))
      fitted = PictureSize(width: narrower, height: highest)
    } else if height < Self.minimumHeight {
      fitted = PictureSize(width: width, height: Self.minimumHeight)
    }
  }

  /// Returns the smallest height that the desktop may give to a window for a picture of this shape, in units.
  package static func minimumHeight(_ aspectRatio: Double?) -> Int {
    aspectRatio.map { max(minimumHeight, min(height(ofWidth: minimumWidth, $0), minimumWidth)) } ?? 54
  }

  /// Returns the height that goes with a width, limited to what a window can have: a stream may claim that its pixels
  /// are two thousand million times as wide as they are high.
  package static func height(ofWidth width: Int, _ aspectRatio: Double) -> Int {
    max(1, min(Int(nearest: Double(width) / aspectRatio), PictureSize.maximumDimension))
  }

  /// Whether a size that a window has got through the desktop may be one that the user has chosen. It is not where the
  /// desktop has maximised or tiled the window: then the window fills the work area or a quarter of it, or has not the
  /// shape that the desktop was told.
  package static func isChosen(_ size: PictureSize, aspectRatio: Double?, in area: PictureRect) -> Bool {
    let fits = size.width <= area.width - 2 * margin && size.height <= area.height - 2 * margin
    let isQuarter = abs(2 * size.width - area.width) <= 4 && abs(2 * size.height - area.height) <= 4
    // Rounding to units and to pixels may change each side.
    let isInShape = aspectRatio.map { abs(height(ofWidth: size.width, $0) - size.height) <= 2 } ?? true
    return size.width > 1 && size.height > 1 && fits && !isQuarter && isInShape
  }

  /// The widths of a small, a medium and a large window, in units: a sixth, a quarter and two fifths of the work area's.
  private static func widths(in area: PictureRect) -> [Int] {
    [area.width / 6, area.width / 4, area.width * 2 / 5].map { max(minimumWidth, $0) }
  }

  /// Returns the next of the widths of a small, a medium and a large window that is larger than `width`, or that of a
  /// small one.
  package static func width(after width: Int, in area: PictureRect) -> Int {
    let widths = widths(in: area)
    return widths.first { $0 > width } ?? widths[0]
  }

  /// Returns the width after steps of the scroll wheel, each of which changes it by a tenth. Positive steps enlarge the
  /// window.
  package func width(scrolledBy steps: Int) -> Int { size.width + steps * max(8, size.width / 10) }
}
