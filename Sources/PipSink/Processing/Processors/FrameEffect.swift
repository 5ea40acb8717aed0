/// How a processor changes the format of its stream. A filter element needs this to negotiate its output before it has
/// a frame.
public struct FrameEffect: Hashable, Sendable {
  /// How the processor rotates and mirrors pixels.
  public enum OrientationChange: Hashable, Sendable {
    /// The pixels stay where they are.
    case none
    /// Every frame is rotated and mirrored in the same way.
    case fixed(VideoOrientation)
    /// Each frame is rotated and mirrored as its ``SampleBuffer/orientation`` says, and is upright afterwards.
    case automatic
  }

  /// The pixel format of the processed frames; nil if each frame keeps its format.
  package var pixelFormat: PixelFormat?
  /// How pixels are rotated and mirrored.
  package var orientationChange: OrientationChange
  /// The number N if only every Nth frame passes; 1 if all do.
  package var interval: Int
  /// The maximum number of frames per second that pass; nil if there is no limit.
  package var maximumRate: Double?

  /// Makes an effect. By default nothing changes.
  public init(
    pixelFormat: PixelFormat? = nil, orientationChange: OrientationChange = .none, interval: Int = 1,
    maximumRate: Double? = nil
  ) {
    self.pixelFormat = pixelFormat
    self.orientationChange = orientationChange
    self.interval = interval
    self.maximumRate = maximumRate
  }

  /// The effect of a processor that changes neither the format, size and frame rate nor the place of the pixels.
  package static let none = FrameEffect()

  /// Whether width and height of a picture with this orientation are exchanged.
  package func swapsSides(of orientation: VideoOrientation) -> Bool {
    switch orientationChange {
    case .none: false
    case .fixed(let change): change.swapsSides
    case .automatic: orientation.swapsSides
    }
  }

  /// The format of the processed frames, without a change of their frame rate.
  ///
  /// - Parameters:
  ///   - format: the format of the frames.
  ///   - orientation: the orientation of the frames; on return that of the processed ones.
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
    if orientationChange == .automatic { orientation = .upright }
    guard let pixelFormat, pixelFormat != result.pixelFormat else { return result }
    return try result.with(pixelFormat: pixelFormat, size: result.size)
  }
}
