import CGStreamer

/// How a picture has to be mirrored and rotated to be upright: first mirrored left to right if ``isMirrored`` is set,
/// and then rotated clockwise. There are eight orientations.
public struct VideoOrientation: Hashable, Sendable, CaseIterable {
  /// A clockwise rotation. The raw value is the angle in degrees.
  public enum Rotation: Int, CaseIterable, Sendable {
    /// No rotation.
    case none = 0
    /// 90 degrees clockwise.
    case quarter = 90
    /// 180 degrees.
    case half = 180
    /// 270 degrees clockwise, which is 90 degrees anticlockwise.
    case threeQuarters = 270

    /// Makes a rotation from an angle in degrees. Negative angles are anticlockwise.
    ///
    /// - Returns: nil if the angle is not a multiple of 90.
    public init?(degrees: Int) {
      self.init(rawValue: ((degrees % 360) + 360) % 360)
    }
  }

  /// Whether left and right are exchanged, before the rotation.
  public var isMirrored: Bool
  /// The clockwise rotation, after the mirroring.
  public var rotation: Rotation

  /// Makes an orientation from a rotation, and whether the picture is mirrored before it.
  public init(rotation: Rotation = .none, isMirrored: Bool = false) {
    self.rotation = rotation
    self.isMirrored = isMirrored
  }

  /// The picture is upright already.
  public static let upright = VideoOrientation()
  /// Left and right are exchanged.
  public static let mirrored = VideoOrientation(isMirrored: true)
  /// Top and bottom are exchanged.
  package static let flippedVertically = VideoOrientation(rotation: .half, isMirrored: true)

  /// All eight orientations.
  public static let allCases = [false, true].flatMap { isMirrored in
    Rotation.allCases.map { VideoOrientation(rotation: $0, isMirrored: isMirrored) }
  }

  /// Whether width and height are exchanged.
  package var swapsSides: Bool { rotation == .quarter || rotation == .threeQuarters }

  /// The orientation that has the effect of this one followed by `next`.
  package func followed(by next: VideoOrientation) -> VideoOrientation {
    // Mirroring after a rotation is the same as the opposite rotation after mirroring.
    let own = next.isMirrored ? -rotation.rawValue : rotation.rawValue
    return VideoOrientation(
      rotation: Rotation(degrees: own + next.rotation.rawValue) ?? .none, isMirrored: isMirrored != next.isMirrored)
  }

  /// The orientation that undoes this one.
  package var inverse: VideoOrientation {
    VideoOrientation(
      rotation: isMirrored ? rotation : Rotation(degrees: -rotation.rawValue) ?? .none, isMirrored: isMirrored)
  }

  /// The size of a picture of `size`, in pixels, after this orientation was applied.
  package func applied(to size: PictureSize) -> PictureSize {
    swapsSides ? PictureSize(width: size.height, height: size.width) : size
  }

  /// The place of a rectangle in a picture of `size` after this orientation was applied to the picture.
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
  /// The orientation as text, for instance "upright", "rotated by 90" or "mirrored and rotated by 180".
  public var description: String {
    let text = rotation == .none ? nil : "rotated by \(rotation.rawValue)"
    return switch (isMirrored, text) {
    case (false, nil): "upright"
    case (false, let text?): text
    case (true, nil): "mirrored"
    case (true, let text?): "mirrored and \(text)"
    }
  }
}

extension VideoOrientation {
  /// Makes an orientation from GStreamer's method, with the meaning that videoflip gives it: 90R is clockwise, and
  /// UL_LR keeps the upper left and lower right corners where they are.
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

  /// The value of an `image-orientation` tag for this orientation.
  package var tag: String { (isMirrored ? "flip-rotate-" : "rotate-") + "\(rotation.rawValue)" }

  /// Makes an orientation from the `image-orientation` tag of a list; nil if it has none.
  package init?(tags: UnsafePointer<GstTagList>) {
    var method = GST_VIDEO_ORIENTATION_IDENTITY
    guard gst_video_orientation_from_tag(UnsafeMutablePointer(mutating: tags), &method) != 0 else { return nil }
    self.init(method)
  }

  /// Makes an orientation from a buffer's GstVideoAffineTransformationMeta; nil if it has none, or if the
  /// transformation is not a rotation by a multiple of 90 degrees with or without mirroring.
  ///
  /// The meta's matrix is in OpenGL's order (by column). It moves the picture's corners in coordinates from 0 to 1,
  /// with y upwards. Its effect on directions is the same as in glimagesink's coordinates.
  init?(affineMetaOf buffer: UnsafeMutablePointer<GstBuffer>) {
    guard let meta = gst_buffer_get_meta(buffer, gst_video_affine_transformation_meta_api_get_type()) else {
      return nil
    }
    let matrix = UnsafeRawPointer(meta).assumingMemoryBound(to: GstVideoAffineTransformationMeta.self).pointee.matrix
    self.init(xToX: matrix.0, xToY: matrix.1, yToX: matrix.4, yToY: matrix.5)
  }

  /// Makes an orientation from the directions into which a transformation moves a picture's x and y axes, with y
  /// upwards.
  init?(xToX: Float, xToY: Float, yToX: Float, yToY: Float) {
    let rounded = [xToX, xToY, yToX, yToY].map { $0.rounded() }
    // Transformations that scale or skew the picture are not orientations.
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
