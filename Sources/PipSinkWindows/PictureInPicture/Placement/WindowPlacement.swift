import CWindows
import PipSink

/// Where a picture-in-picture window was left: its corner of the monitor and its size. Kept in a file for each monitor,
/// so that it is there after a restart.
public struct WindowPlacement: Hashable, Sendable {
  public var corner: WindowCorner
  /// In the desktop's units, of which a scale factor makes several of the screen's pixels.
  public var width: Int
  public var height: Int

  public init(corner: WindowCorner = .bottomRight, width: Int = 320, height: Int = 180) {
    self.corner = corner
    self.width = width
    self.height = height
  }

  /// `pipsink/picture-in-picture.ini` in the user's state folder: `XDG_STATE_HOME`, or `~/.local/state`.
  public static var defaultPath: String {
    let base = g_getenv("XDG_STATE_HOME").map { String(cString: $0) } ?? ""
    let home = g_get_home_dir().map { String(cString: $0) } ?? "."
    return (base.utf8.first == UInt8(ascii: "/") ? base : home + "/.local/state") + "/pipsink/picture-in-picture.ini"
  }

  /// What was remembered last, on whichever monitor.
  ///
  /// - Returns: nil when there is no such file, or nothing useful in it.
  public static func load(from path: String) -> WindowPlacement? { WindowPlaces(from: path)?.last }

  /// Has it remembered for every monitor. Which one the window was on last stays as it is.
  ///
  /// - Returns: false when the file cannot be written, which costs no more than the memory of the place.
  @discardableResult
  public func save(to path: String) -> Bool {
    var places = WindowPlaces(from: path) ?? WindowPlaces()
    places.noteEverywhere(self)
    return places.save(to: path)
  }
}

/// How a window is resized.
extension WindowPlacement {
  /// Distance from the edges of the screen, in the desktop's units.
  package static let margin = 16
  package static let minimumWidth = 96

  package var size: PictureSize { PictureSize(width: width, height: height) }

  /// Takes a width, and the height that goes with it by the picture's shape, as far as both fit between the edges of
  /// the screen. No window is narrower than ``minimumWidth``, whatever its height is then.
  ///
  /// - Parameters:
  ///   - aspectRatio: width divided by height; nil leaves the height as it is.
  ///   - area: the work area.
  package mutating func resize(toWidth wanted: Int, aspectRatio: Double?, in area: PictureRect) {
    var widest = area.width - 2 * Self.margin
    if let aspectRatio { widest = min(widest, Int(nearest: Double(area.height - 2 * Self.margin) * aspectRatio)) }
    width = max(Self.minimumWidth, min(wanted, widest))
    if let aspectRatio { height = Self.height(ofWidth: width, aspectRatio) }
  }

  /// Within what a window can have: a stream may say that its pixels are two thousand million times as wide as high.
  package static func height(ofWidth width: Int, _ aspectRatio: Double) -> Int {
    max(1, min(Int(nearest: Double(width) / aspectRatio), PictureSize.maximumDimension))
  }

  /// The width after steps of the scroll wheel, each of which is a tenth: larger ones are positive.
  package func width(scrolledBy steps: Int) -> Int { width + steps * max(8, width / 10) }
}
