import CGStreamer

@testable import PipSink

/// Fuzzes the parsing of caps. The bytes are the text of the caps, and the target checks the format description that is
/// made from them.
@MainActor
enum CapsTarget {
  static func run(_ bytes: [UInt8]) {
    try? PipSink.initialize()
    guard !bytes.contains(0), let caps = gst_caps_from_string(String(decoding: bytes, as: UTF8.self)) else { return }
    defer { gst_caps_unref(caps) }
    // The caps of a stream are always fixed.
    guard gst_caps_is_fixed(caps) != 0, let format = try? VideoFormatDescription.shared(for: caps) else { return }
    let text = format.capsDescription
    require(format.size.isValid, text)
    let (ratio, rate) = (format.pixelAspectRatio, format.frameRate)
    require(ratio.numerator > 0 && ratio.denominator > 0 && rate.denominator > 0, text)
    require(format.displaySize.width > 0 && format.displaySize.width.isFinite && format.displaySize.height > 0, text)
    require((1...4).contains(format.planeCount) && !format.description.isEmpty, text)
    let again = gst_caps_from_string(text)
    require(again != nil, text)
    defer { gst_caps_unref(again) }
    require((try? VideoFormatDescription.shared(for: again!)) === format, "\(text) gives another description")
    for target in PixelFormat.allCases {
      guard let other = try? format.with(pixelFormat: target, size: format.size) else { continue }
      require(other.pixelFormat == target && other.size == format.size, "\(target) of \(text)")
    }
    VideoFormatDescription.forgetUnused()
  }
}
