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
  var gstFormat: GstVideoFormat { gst_video_format_from_string(rawValue) }

  /// - Returns: nil for a format that PipSink does not take.
  init?(_ format: GstVideoFormat) {
    guard let name = gst_video_format_to_string(format) else { return nil }
    self.init(rawValue: String(cString: name))
  }

  /// The caps of formats in system memory.
  package static func capsString(_ formats: [PixelFormat] = allCases) -> String {
    "video/x-raw, format=(string){ \(formats.map(\.rawValue).joined(separator: ", ")) }"
  }
}
