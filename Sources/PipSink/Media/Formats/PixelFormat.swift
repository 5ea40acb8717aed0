import CGStreamer

/// The pixel formats that PipSink takes, under GStreamer's names. The raw value is the name in caps.
public enum PixelFormat: String, CaseIterable, Sendable {
  case i420 = "I420"
  case yv12 = "YV12"
  case nv12 = "NV12"
  case nv21 = "NV21"
  case yuy2 = "YUY2"
  case uyvy = "UYVY"
  case y444 = "Y444"
  case i422 = "Y42B"
  case gray8 = "GRAY8"
  case bgra = "BGRA"
  case bgrx = "BGRx"
  case rgba = "RGBA"
  case rgbx = "RGBx"
  case argb = "ARGB"
  case xrgb = "xRGB"
  case rgb = "RGB"
  case bgr = "BGR"
  case p010 = "P010_10LE"
  case i420Ten = "I420_10LE"

  /// GStreamer's number for the format.
  ///
  /// Not by `gst_video_format_from_string`: GStreamer's header declares that it reads no memory, so an optimizing
  /// compiler may call it when the C string that Swift makes for the call is gone.
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
    }
  }

  /// - Returns: nil for a format that PipSink does not take.
  init?(_ format: GstVideoFormat) {
    guard let known = Self.allCases.first(where: { $0.gstFormat == format }) else { return nil }
    self = known
  }

  /// The caps of formats in system memory.
  ///
  /// - Parameter features: the caps' features; empty for those that they have by themselves.
  package static func capsString(_ formats: [PixelFormat] = allCases, features: String = "") -> String {
    "video/x-raw\(features.isEmpty ? "" : "(\(features))"), format=(string){ \(formats.map(\.rawValue).joined(separator: ", ")) }"
  }
}
