import CGStreamer

/// The pixel formats that PipSink supports. The raw value is GStreamer's name of the format in caps.
public enum PixelFormat: String, CaseIterable, Sendable {
  /// YUV 4:2:0 in three planes: Y, U, V.
  case i420 = "I420"
  /// YUV 4:2:0 in three planes: Y, V, U.
  case yv12 = "YV12"
  /// YUV 4:2:0 in two planes: Y, and interleaved U and V.
  case nv12 = "NV12"
  /// YUV 4:2:0 in two planes: Y, and interleaved V and U.
  case nv21 = "NV21"
  /// YUV 4:2:2 in one plane, in the byte order Y, U, Y, V.
  case yuy2 = "YUY2"
  /// YUV 4:2:2 in one plane, in the byte order U, Y, V, Y.
  case uyvy = "UYVY"
  /// YUV 4:4:4 in three planes: Y, U, V.
  case y444 = "Y444"
  /// YUV 4:2:2 in three planes: Y, U, V. GStreamer calls it Y42B.
  case i422 = "Y42B"
  /// Luma alone, one byte per pixel.
  case gray8 = "GRAY8"
  /// RGB with alpha, four bytes per pixel in the order B, G, R, A.
  case bgra = "BGRA"
  /// RGB, four bytes per pixel in the order B, G, R and padding.
  case bgrx = "BGRx"
  /// RGB with alpha, four bytes per pixel in the order R, G, B, A.
  case rgba = "RGBA"
  /// RGB, four bytes per pixel in the order R, G, B and padding.
  case rgbx = "RGBx"
  /// RGB with alpha, four bytes per pixel in the order A, R, G, B.
  case argb = "ARGB"
  /// RGB, four bytes per pixel in the order padding, R, G, B.
  case xrgb = "xRGB"
  /// RGB, three bytes per pixel in the order R, G, B.
  case rgb = "RGB"
  /// RGB, three bytes per pixel in the order B, G, R.
  case bgr = "BGR"
  /// YUV 4:2:0 in two planes as NV12, with ten bits in the upper part of each 16-bit little-endian sample.
  case p010 = "P010_10LE"
  /// YUV 4:2:0 in three planes as I420, with ten bits in the lower part of each 16-bit little-endian sample.
  case i420Ten = "I420_10LE"
  /// YUV 4:2:2 in three planes as Y42B, with ten bits in the lower part of each 16-bit little-endian sample.
  case i422Ten = "I422_10LE"
  /// YUV 4:2:2 in one plane as YUY2, with ten bits in the upper part of each 16-bit little-endian sample.
  case y210 = "Y210"

  /// GStreamer's number for the format.
  ///
  /// This does not use `gst_video_format_from_string`: GStreamer's header declares that the function reads no memory,
  /// so an optimizing compiler may call it after the C string that Swift makes for the call was freed.
  package var gstFormat: GstVideoFormat {
    switch self {
    case .i420: GST_VIDEO_FORMAT_I420
    case .yv12: GST_VIDEO_FORMAT_YV12
    case .nv12: GST_VIDEO_FORMAT_NV12
    case .nv21: GST_VIDEO_FORMAT_NV21
    case .yuy2: GST_VIDEO_FORMAT_YUY2
    case .uyvy: GST_VIDEO_FORMAT_UYVY
    case .y444: GST_VIDEO_FORMAT_Y444
    case .i422: GST_VIDEO_FORMAT_Y42B
    case .gray8: GST_VIDEO_FORMAT_GRAY8
    case .bgra: GST_VIDEO_FORMAT_BGRA
    case .bgrx: GST_VIDEO_FORMAT_BGRx
    case .rgba: GST_VIDEO_FORMAT_RGBA
    case .rgbx: GST_VIDEO_FORMAT_RGBx
    case .argb: GST_VIDEO_FORMAT_ARGB
    case .xrgb: GST_VIDEO_FORMAT_xRGB
    case .rgb: GST_VIDEO_FORMAT_RGB
    case .bgr: GST_VIDEO_FORMAT_BGR
    case .p010: GST_VIDEO_FORMAT_P010_10LE
    case .i420Ten: GST_VIDEO_FORMAT_I420_10LE
    case .i422Ten: GST_VIDEO_FORMAT_I422_10LE
    case .y210: GST_VIDEO_FORMAT_Y210
    }
  }

  /// Makes a pixel format from GStreamer's number; nil for a format that PipSink does not support.
  init?(_ format: GstVideoFormat) {
    guard let known = Self.allCases.first(where: { $0.gstFormat == format }) else { return nil }
    self = known
  }

  /// The caps of raw video in some formats.
  ///
  /// - Parameters:
  ///   - formats: the formats; all by default.
  ///   - features: the caps features; empty for system memory.
  package static func capsString(_ formats: [PixelFormat] = allCases, features: String = "") -> String {
    "video/x-raw\(features.isEmpty ? "" : "(\(features))"), format=(string){ \(formats.map(\.rawValue).joined(separator: ", ")) }"
  }
}
