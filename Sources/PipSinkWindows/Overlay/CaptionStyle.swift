import PipSink

/// How captions (``PipSink/PictureInPictureSession/setCaption(_:for:)``) look in the windows of this program.
public struct CaptionStyle: Hashable, Sendable {
  /// By what factor the text is larger than usual, from 0.5 to 4. Other values count as the nearest one. The usual
  /// font has 0.075 of the picture's height, but no fewer than 11 units and no more than 48.
  public var scale = 1.0
  /// Whether captions are at the top of the picture, and not at the bottom.
  public var isAtTop = false

  /// Makes the usual style.
  public init() {}

  /// The style of all captions. Another one applies to captions that are drawn from then on. It may be read and set on
  /// any thread.
  public static var current: CaptionStyle {
    get { shared.withLock { $0 } }
    set { shared.withLock { $0 = newValue } }
  }

  private static let shared = Locked(CaptionStyle())

  /// The size of the font, in units.
  ///
  /// - Parameter height: the picture's height, in units.
  func fontSize(inHeight height: Double) -> Double {
    let usual = max(11, min(height * 0.075, 48))
    return usual * (scale.isFinite ? max(0.5, min(scale, 4)) : 1)
  }
}
