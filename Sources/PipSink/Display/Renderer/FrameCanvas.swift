/// Draws frames into pixels in memory: rotated, fitted by gravity, and black where there is no picture.
///
/// ``OffscreenRenderer`` and the windows use it. Only one thread at a time may use a canvas. It keeps the converter's
/// memory from frame to frame.
package struct FrameCanvas: ~Copyable {
  private var converter = PictureConverter()
  private var overlay = OverlayBlender()
  /// How frames are scaled.
  package var scalingFilter: ScalingFilter

  /// Makes a canvas.
  package init(scalingFilter: ScalingFilter = .automatic) {
    self.scalingFilter = scalingFilter
  }

  /// Draws a frame as BGRA.
  ///
  /// - Parameters:
  ///   - pixels: the first row; valid for the duration of the call.
  ///   - stride: bytes from one row to the next, at least four times the width.
  ///   - size: the size in pixels.
  ///   - kept: where the last picture is that was drawn into these pixels. If the new one has the same place, what is
  ///     around it stays as it is.
  /// - Returns: where the picture is.
  /// - Throws: ``PipSinkError`` for an unreadable frame, an impossible size, or a lack of memory.
  package mutating func draw(
    _ sampleBuffer: SampleBuffer, gravity: VideoGravity, on pixels: UnsafeMutablePointer<UInt8>, stride: Int,
    size: PictureSize, keeping kept: PictureRect? = nil
  ) throws(PipSinkError) -> PictureRect {
    guard size.isValid else { throw .frame(.invalidSize(width: size.width, height: size.height)) }
    let filter = scalingFilter
    return try sampleBuffer.pixelBuffer.withMappedFrame { frame throws(PipSinkError) in
      let placement = gravity.placement(of: frame, orientation: sampleBuffer.orientation, in: size)
      let picture = Picture(packed: .bgra, size: size, data: pixels, stride: Int32(stride))
      if placement.target != kept, placement.target.size != size { picture.fillBlack() }
      try converter.convert(
        frame, crop: placement.source, into: picture.cropped(to: placement.target),
        orientation: sampleBuffer.orientation, filter: filter, balance: sampleBuffer.colorBalance)
      if let composition = OverlayComposition(of: sampleBuffer.pixelBuffer) {
        try overlay.blend(
          composition, on: picture, placement, orientation: sampleBuffer.orientation, frameSize: frame.visible.size)
      } else {
        overlay.forget()
      }
      return placement.target
    }
  }

  /// Makes all pixels black.
  package static func clear(_ pixels: UnsafeMutablePointer<UInt8>, stride: Int, size: PictureSize) {
    guard size.isValid else { return }
    Picture(packed: .bgra, size: size, data: pixels, stride: Int32(stride)).fillBlack()
  }

  /// Sets the alpha byte of every pixel to 255. It is for renderers that would otherwise show what is behind a frame
  /// with an alpha channel.
  package static func makeOpaque(_ pixels: UnsafeMutablePointer<UInt8>, stride: Int, size: PictureSize) {
    guard size.isValid else { return }
    ColorConversion.makeOpaque(Picture(packed: .bgra, size: size, data: pixels, stride: Int32(stride)))
  }
}
