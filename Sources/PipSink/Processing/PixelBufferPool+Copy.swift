extension PixelBufferPool {
  /// A copy of a frame's visible part that may be written to.
  ///
  /// - Throws: ``PipSinkError/Frame/poolExhausted(limit:)``, ``PipSinkError/Frame/outOfMemory(byteCount:)``,
  ///   ``PipSinkError/Frame/unreadable(reason:)``.
  public func mutableCopy(of pixelBuffer: PixelBuffer) throws(PipSinkError) -> MutablePixelBuffer {
    try pixelBuffer.withMappedFrame { source throws(PipSinkError) in
      let format = try pixelBuffer.formatDescription.with(size: source.visible.size)
      var copy = try makePixelBuffer(format)
      try copy.withMappedFrame { target throws(PipSinkError) in
        Picture(source).copy(into: Picture(target))
      }
      return copy
    }
  }
}
