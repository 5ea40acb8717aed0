import CGStreamer

/// An image in memory: rows of BGRA pixels from the top, without padding.
public struct BGRAImage: Equatable, Sendable, CustomStringConvertible {
  /// The size in pixels.
  public let size: PictureSize
  /// The pixels: `size.width * size.height * 4` bytes, four for each pixel in the order blue, green, red, alpha.
  public let bytes: [UInt8]

  /// The size, such as "BGRA 320x180".
  public var description: String { "BGRA \(size.width)x\(size.height)" }

  /// Makes an image from pixels.
  ///
  /// - Parameter bytes: the pixels in the format of ``bytes``.
  package init(size: PictureSize, bytes: [UInt8]) {
    self.size = size
    self.bytes = bytes
  }

  /// Copies pixels.
  ///
  /// - Parameters:
  ///   - pixels: the first row, of pixels as in ``bytes``.
  ///   - stride: the number of bytes from one row to the next.
  init(size: PictureSize, copying pixels: UnsafePointer<UInt8>, stride: Int) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(size.width * size.height * 4)
    for row in 0..<size.height { bytes += UnsafeBufferPointer(start: pixels + row * stride, count: size.width * 4) }
    self.init(size: size, bytes: bytes)
  }

  /// Makes an image from pixels whose alpha is undefined.
  ///
  /// - Parameter opaque: the pixels in the format of ``bytes``, of which the fourth byte of each is ignored.
  package init(size: PictureSize, opaque: [UInt8]) {
    var bytes = opaque
    bytes.withUnsafeMutableBufferPointer { bytes in
      guard let pixels = bytes.baseAddress else { return }
      FrameCanvas.makeOpaque(pixels, stride: size.width * 4, size: size)
    }
    self.init(size: size, bytes: bytes)
  }

  /// Composes images on a black background.
  ///
  /// - Parameter parts: the images and their places. An image whose size differs from its place, as while the layout
  ///   changes, is left out.
  package init(size: PictureSize, parts: [(image: BGRAImage, place: PictureRect)]) {
    var bytes = BGRAImage(size: size, opaque: [UInt8](repeating: 0, count: size.width * size.height * 4)).bytes
    for (image, place) in parts where image.size == place.size {
      for row in 0..<place.height {
        let start = ((place.y + row) * size.width + place.x) * 4
        bytes.replaceSubrange(
          start..<start + place.width * 4, with: image.bytes[row * place.width * 4..<(row + 1) * place.width * 4])
      }
    }
    self.init(size: size, bytes: bytes)
  }

  /// The blue, green, red and alpha values of a pixel.
  ///
  /// - Parameters:
  ///   - x: the column, which must be inside of the image.
  ///   - y: the row from the top, which must be inside of the image.
  package func pixel(_ x: Int, _ y: Int) -> [UInt8] {
    let start = (y * size.width + x) * 4
    return Array(bytes[start..<start + 4])
  }

  /// Encodes the image as a PNG file with GStreamer's `pngenc`.
  ///
  /// - Throws: ``PipSinkError/Frame/notWritten(path:reason:)`` with an empty path, or
  ///   ``PipSinkError/System/gstreamerUnavailable(reason:)``.
  func pngBytes() throws(PipSinkError) -> [UInt8] {
    try PipSink.initialize()
    let caps = gst_caps_from_string(
      "video/x-raw, format=BGRA, width=\(size.width), height=\(size.height), framerate=1/1")
    let target = gst_caps_from_string("image/png")
    let buffer = bytes.withUnsafeBytes { gst_buffer_new_memdup($0.baseAddress, gsize($0.count)) }
    let source = gst_sample_new(buffer, caps, nil, nil)
    defer {
      gst_sample_unref(source)
      gst_buffer_unref(buffer)
      gst_caps_unref(target)
      gst_caps_unref(caps)
    }
    var error: UnsafeMutablePointer<GError>?
    guard let encoded = gst_video_convert_sample(source, target, 30 * 1_000_000_000, &error) else {
      defer { g_clear_error(&error) }
      let reason = error.map { String(cString: $0.pointee.message) } ?? "the encoder gave no picture"
      throw .frame(.notWritten(path: "", reason: reason))
    }
    defer { gst_sample_unref(encoded) }
    var map = GstMapInfo()
    guard let png = gst_sample_get_buffer(encoded), gst_buffer_map(png, &map, GST_MAP_READ) != 0 else {
      throw .frame(.notWritten(path: "", reason: "the encoder gave no data"))
    }
    defer { gst_buffer_unmap(png, &map) }
    return Array(UnsafeBufferPointer(start: map.data, count: Int(map.size)))
  }

  /// Writes the image to a PNG file, as a whole or not at all. An existing file is replaced, and a symbolic link is
  /// followed.
  ///
  /// - Throws: ``PipSinkError/Frame/notWritten(path:reason:)``, or
  ///   ``PipSinkError/System/gstreamerUnavailable(reason:)``.
  public func writePNG(to path: String) throws(PipSinkError) {
    let png: [UInt8]
    do throws(PipSinkError) {
      png = try pngBytes()
    } catch .frame(.notWritten(_, let reason)) {
      throw .frame(.notWritten(path: path, reason: reason))
    } catch {
      throw error
    }
    do throws(OutputFileError) {
      try OutputFile.write(png, to: path)
    } catch {
      throw .frame(.notWritten(path: path, reason: error.description))
    }
  }
}
