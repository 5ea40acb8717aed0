import CGStreamer

/// How a picture has to be turned to be upright: mirrored at its vertical axis first, where it is mirrored, then turned
/// clockwise. The eight values are all that there are.
public struct VideoOrientation: Hashable, Sendable, CaseIterable {
  /// Clockwise. The raw value is in degrees.
  public enum Rotation: Int, CaseIterable, Sendable {
    case none = 0
    case quarter = 90
    case half = 180
    case threeQuarters = 270

    /// Any multiple of 90 degrees; negative ones are anticlockwise.
    ///
    /// - Returns: nil for other angles.
    public init?(degrees: Int) {
      self.init(rawValue: ((degrees % 360) + 360) % 360)
    }
  }

  /// Left and right exchanged, before the rotation.
  public var isMirrored: Bool
  public var rotation: Rotation

  public init(rotation: Rotation = .none, isMirrored: Bool = false) {
    self.rotation = rotation
    self.isMirrored = isMirrored
  }

  /// Nothing is to be done.
  public static let upright = VideoOrientation()
  /// Left and right exchanged.
  public static let mirrored = VideoOrientation(isMirrored: true)
  /// Top and bottom exchanged.
  public static let flippedVertically = VideoOrientation(rotation: .half, isMirrored: true)

  public static let allCases = [false, true].flatMap { isMirrored in
    Rotation.allCases.map { VideoOrientation(rotation: $0, isMirrored: isMirrored) }
  }

  /// Whether width and height change places.
  public var swapsSides: Bool { rotation == .quarter || rotation == .threeQuarters }

  /// This one first, then `next`.
  public func followed(by next: VideoOrientation) -> VideoOrientation {
    // A mirror after a turn is the same as the opposite turn after the mirror.
    let own = next.isMirrored ? -rotation.rawValue : rotation.rawValue
    return VideoOrientation(
      rotation: Rotation(degrees: own + next.rotation.rawValue) ?? .none, isMirrored: isMirrored != next.isMirrored)
  }

  /// What undoes this one.
  public var inverse: VideoOrientation {
    VideoOrientation(
      rotation: isMirrored ? rotation : Rotation(degrees: -rotation.rawValue) ?? .none, isMirrored: isMirrored)
  }

  /// The size of a picture of `size` after it was turned.
  public func applied(to size: PictureSize) -> PictureSize {
    swapsSides ? PictureSize(width: size.height, height: size.width) : size
  }

  /// Where a rectangle of a picture of `size` lies after the picture was turned.
  func applied(to rect: PictureRect, in size: PictureSize) -> PictureRect {
    let x = isMirrored ? size.width - rect.x - rect.width : rect.x
    let right = size.width - x - rect.width
    let below = size.height - rect.y - rect.height
    return switch rotation {
    case .none: PictureRect(x: x, y: rect.y, width: rect.width, height: rect.height)
    case .quarter: PictureRect(x: below, y: x, width: rect.height, height: rect.width)
    case .half: PictureRect(x: right, y: below, width: rect.width, height: rect.height)
    case .threeQuarters: PictureRect(x: rect.y, y: right, width: rect.height, height: rect.width)
    }
  }
}

extension VideoOrientation: CustomStringConvertible {
  /// "upright", "rotated by 90", "mirrored and rotated by 180".
  public var description: String {
    let turn = rotation == .none ? nil : "rotated by \(rotation.rawValue)"
    return switch (isMirrored, turn) {
    case (false, nil): "upright"
    case (false, let turn?): turn
    case (true, nil): "mirrored"
    case (true, let turn?): "mirrored and \(turn)"
    }
  }
}

extension VideoOrientation {
  /// GStreamer's methods, as videoflip carries them out: 90R is clockwise, UL_LR keeps the upper left and lower right
  /// corners where they are.
  package init?(_ method: GstVideoOrientationMethod) {
    switch method {
    case GST_VIDEO_ORIENTATION_IDENTITY: self.init()
    case GST_VIDEO_ORIENTATION_90R: self.init(rotation: .quarter)
    case GST_VIDEO_ORIENTATION_180: self.init(rotation: .half)
    case GST_VIDEO_ORIENTATION_90L: self.init(rotation: .threeQuarters)
    case GST_VIDEO_ORIENTATION_HORIZ: self.init(isMirrored: true)
    case GST_VIDEO_ORIENTATION_VERT: self.init(rotation: .half, isMirrored: true)
    case GST_VIDEO_ORIENTATION_UL_LR: self.init(rotation: .threeQuarters, isMirrored: true)
    case GST_VIDEO_ORIENTATION_UR_LL: self.init(rotation: .quarter, isMirrored: true)
    default: return nil
    }
  }

  /// As an `image-orientation` tag has it.
  package var tag: String { (isMirrored ? "flip-rotate-" : "rotate-") + "\(rotation.rawValue)" }

  /// From the `image-orientation` of a tag list; nil when it has none.
  package init?(tags: UnsafePointer<GstTagList>) {
    var method = GST_VIDEO_ORIENTATION_IDENTITY
    guard gst_video_orientation_from_tag(UnsafeMutablePointer(mutating: tags), &method) != 0 else { return nil }
    self.init(method)
  }

  /// From a buffer's GstVideoAffineTransformationMeta; nil when it has none, or one that is no turn by a multiple of 90
  /// degrees.
  ///
  /// The meta's matrix is OpenGL's (by column) and moves the picture's corners, with y upwards, between 0 and 1; what
  /// it does to directions is the same as in glimagesink's coordinates.
  init?(affineMetaOf buffer: UnsafeMutablePointer<GstBuffer>) {
    guard let meta = gst_buffer_get_meta(buffer, gst_video_affine_transformation_meta_api_get_type()) else {
      return nil
    }
    let matrix = UnsafeRawPointer(meta).assumingMemoryBound(to: GstVideoAffineTransformationMeta.self).pointee.matrix
    self.init(xToX: matrix.0, xToY: matrix.1, yToX: matrix.4, yToY: matrix.5)
  }

  /// From where the directions right and up of a picture go, with y upwards.
  init?(xToX: Float, xToY: Float, yToX: Float, yToY: Float) {
    let rounded = [xToX, xToY, yToX, yToY].map { $0.rounded() }
    // Scaled or skewed pictures are not turned ones.
    guard zip(rounded, [xToX, xToY, yToX, yToY]).allSatisfy({ abs($0 - $1) < 0.01 }) else { return nil }
    switch rounded {
    case [1, 0, 0, 1]: self.init()
    case [0, -1, 1, 0]: self.init(rotation: .quarter)
    case [-1, 0, 0, -1]: self.init(rotation: .half)
    case [0, 1, -1, 0]: self.init(rotation: .threeQuarters)
    case [-1, 0, 0, 1]: self.init(isMirrored: true)
    case [1, 0, 0, -1]: self.init(rotation: .half, isMirrored: true)
    case [0, 1, 1, 0]: self.init(rotation: .quarter, isMirrored: true)
    case [0, -1, -1, 0]: self.init(rotation: .threeQuarters, isMirrored: true)
    default: return nil
    }
  }
}
