import CWindows
import PipSink

/// How the pixels of a window are in the memory that an X server reads. Each has 32 bits, with the lowest byte first.
/// PipSink draws BGRx; screens with ten bits for each colour get what it has drawn, converted.
enum X11PixelLayout: Equatable {
  /// Eight bits for each of blue, green and red, from the lowest byte, and eight that are unused.
  case bgrx
  /// Ten bits for each colour, green in the middle, and two that are unused. Red is above or below the others.
  case tenBits(isRedHigh: Bool)

  /// The layout for windows of this depth, in bits.
  ///
  /// - Returns: nil when the server has other pixels.
  init?(_ connection: X11Connection, depth: UInt8) {
    guard let setup = xcb_get_setup(connection.pointer), Self.bitsPerPixel(setup, depth) == 32,
      setup.pointee.image_byte_order == XCB_IMAGE_ORDER_LSB_FIRST.rawValue
    else { return nil }
    switch (depth, Self.redMask(setup, depth)) {
    case (24, _), (32, _): self = .bgrx
    case (30, 0x3FF0_0000): self = .tenBits(isRedHigh: true)
    case (30, 0x3FF): self = .tenBits(isRedHigh: false)
    default: return nil
    }
  }

  private static func bitsPerPixel(_ setup: UnsafePointer<xcb_setup_t>, _ depth: UInt8) -> UInt8? {
    var formats = xcb_setup_pixmap_formats_iterator(setup)
    while formats.rem > 0, let format = formats.data?.pointee {
      if format.depth == depth { return format.bits_per_pixel }
      xcb_format_next(&formats)
    }
    return nil
  }

  /// The bits of red in the first visual of a depth. A server uses the same ones in all of them.
  private static func redMask(_ setup: UnsafePointer<xcb_setup_t>, _ wanted: UInt8) -> UInt32? {
    var screens = xcb_setup_roots_iterator(setup)
    while screens.rem > 0 {
      var depths = xcb_screen_allowed_depths_iterator(screens.data)
      while depths.rem > 0 {
        if depths.data?.pointee.depth == wanted, let visual = xcb_depth_visuals(depths.data)?.pointee,
          xcb_depth_visuals_length(depths.data) > 0
        {
          return visual.red_mask
        }
        xcb_depth_next(&depths)
      }
      xcb_screen_next(&screens)
    }
    return nil
  }

  /// Converts pixels from BGRx. Ten bits repeat the upper two of eight below them, so that white stays white.
  ///
  /// - Parameters:
  ///   - source: the first of the pixels that were drawn.
  ///   - target: the first of the pixels that the server reads.
  ///   - count: the number of pixels.
  func convert(
    _ source: UnsafePointer<UInt32>, to target: UnsafeMutablePointer<UInt32>, count: Int
  ) {
    guard case .tenBits(let isRedHigh) = self else { return target.update(from: source, count: count) }
    let (redShift, blueShift): (UInt32, UInt32) = isRedHigh ? (20, 0) : (0, 20)
    for index in 0..<count {
      let (blue, green, red) = (source[index] & 0xFF, source[index] >> 8 & 0xFF, source[index] >> 16 & 0xFF)
      target[index] =
        Self.widen(red) &<< redShift | Self.widen(green) &<< 10 | Self.widen(blue) &<< blueShift
    }
  }

  private static func widen(_ value: UInt32) -> UInt32 { value &<< 2 | value &>> 6 }
}
