/// Draws frames on pixels in memory that a surface owns: turned, fitted by gravity, black where no picture is.
///
/// For ``OffscreenRenderer`` and the windows. One thread uses it at a time; it keeps the
/// converter's memory from frame to frame.
package struct FrameCanvas: ~Copyable {
  private var converter = PictureConverter()
  private var overlay = OverlayBlender()
  package var scalingFilter: ScalingFilter

  package init(scalingFilter: ScalingFilter = .automatic) {
    self.scalingFilter = scalingFilter
  }

  /// Draws a frame as BGRA.
  ///
  /// - Parameters:
  ///   - pixels: `stride` bytes a row, from the top; valid for the time of the call.
  ///   - stride: bytes from one row to the next, at least four times the width.
  ///   - kept: where the last picture lies that was drawn on these pixels. When the new one lies there too, what is
  ///     around it is left as it is.
  /// - Returns: where the picture lies.
  /// - Throws: ``PipSinkError``: an unreadable frame, an impossible size, no memory.
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

  /// Sets the alpha byte of every pixel to 255, for surfaces that would see through what a frame with an alpha channel
  /// left there.
  package static func makeOpaque(_ pixels: UnsafeMutablePointer<UInt8>, stride: Int, size: PictureSize) {
    guard size.isValid else { return }
    ColorConversion.makeOpaque(Picture(packed: .bgra, size: size, data: pixels, stride: Int32(stride)))
  }
}
