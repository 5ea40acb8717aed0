/// What a processor does to the format of its stream, for whoever has to know it before there is a frame: a filter
/// element says what it will deliver before it delivers anything.
public struct FrameEffect: Hashable, Sendable {
  /// How pixels are turned.
  public enum Turn: Hashable, Sendable {
    case none
    /// The same for every frame.
    case fixed(VideoOrientation)
    /// As the frame says (``SampleBuffer/orientation``), which is upright afterwards.
    case automatic
  }

  /// The pixel format of all frames that are made; nil where each frame keeps its own.
  public var pixelFormat: PixelFormat?
  public var turn: Turn
  /// One of so many frames is let through.
  public var interval: Int
  /// Frames a second that are let through at most; nil for all.
  public var maximumRate: Double?

  public init(pixelFormat: PixelFormat? = nil, turn: Turn = .none, interval: Int = 1, maximumRate: Double? = nil) {
    self.pixelFormat = pixelFormat
    self.turn = turn
    self.interval = interval
    self.maximumRate = maximumRate
  }

  /// Format, size and rate stay, and everything in the picture stays where it is.
  public static let none = FrameEffect()

  /// Whether width and height of a picture with this orientation change places.
  package func swapsSides(of orientation: VideoOrientation) -> Bool {
    switch turn {
    case .none: false
    case .fixed(let turn): turn.swapsSides
    case .automatic: orientation.swapsSides
    }
  }

  /// The format of what becomes of frames, apart from their rate.
  ///
  /// - Parameter orientation: what the frames say; afterwards what the new ones say.
  /// - Throws: ``PipSinkError/Frame/invalidCaps(_:)``, ``PipSinkError/Frame/invalidSize(width:height:)``.
  package func applied(
    to format: VideoFormatDescription, orientation: inout VideoOrientation
  ) throws(PipSinkError) -> VideoFormatDescription {
    var result = format
    if swapsSides(of: orientation) {
      result = try result.with(
        size: PictureSize(width: format.size.height, height: format.size.width),
        pixelAspectRatio: (format.pixelAspectRatio.denominator, format.pixelAspectRatio.numerator), isInterlaced: false)
    }
    if turn == .automatic { orientation = .upright }
    guard let pixelFormat, pixelFormat != result.pixelFormat else { return result }
    return try result.with(pixelFormat: pixelFormat, size: result.size)
  }
}
