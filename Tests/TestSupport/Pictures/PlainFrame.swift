import Testing

@testable import PipSink

/// Frames of one colour, made without a pipeline.
enum PlainFrame {
  /// - Parameter color: the values of blue, green and red.
  static func make(_ color: [UInt8], _ width: Int = 32, _ height: Int = 18) throws -> SampleBuffer {
    try PipSink.initialize()
    let rows = UnsafeMutableRawBufferPointer.allocate(byteCount: width * height * 4, alignment: 16)
    for index in rows.indices { rows[index] = (color + [255])[index % 4] }
    let address = try #require(UnsafeRawPointer(rows.baseAddress))
    let block = UInt(bitPattern: address)
    let format = try VideoFormatDescription.make(.bgrx, size: .init(width: width, height: height), frameRate: (30, 1))
    return SampleBuffer(
      pixelBuffer: try PixelBuffer(unsafeLending: [.init(address: address, bytesPerRow: width * 4)], format) {
        UnsafeMutableRawPointer(bitPattern: block)?.deallocate()
      })
  }
}
