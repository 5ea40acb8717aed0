import CGStreamer
import PipSink

/// What a filter's processors have changed in a frame, which decides which of its metas are still valid.
struct FilterOutcome {
  /// Whether the pixel format is the same.
  var keepsColors = false
  /// Whether everything in the picture has the same position.
  var keepsPlaces = false
  /// Whether the frame has the same orientation, in which it is to be shown.
  var keepsOrientation = false

  /// Whether a meta of the input frame is valid for the output frame. GStreamer does not ask about metas that describe
  /// memory.
  func keeps(_ meta: UnsafeMutablePointer<GstMeta>) -> Bool {
    guard let api = meta.pointee.info?.pointee.api else { return false }
    // The processors have applied the crop, or attach it again themselves.
    if api == gst_video_crop_meta_api_get_type() { return false }
    if api == gst_video_affine_transformation_meta_api_get_type() { return keepsOrientation }
    var tag = gst_meta_api_type_get_tags(api)
    while let name = tag?.pointee {
      switch String(cString: name) {
      case "video": break
      case "colorspace" where keepsColors: break
      case "size" where keepsPlaces, "orientation" where keepsPlaces: break
      default: return false
      }
      tag = tag?.advanced(by: 1)
    }
    return true
  }
}

/// Receives the output of a filter's chain. The chain calls it on the thread that has passed the frame to the chain.
final class FilterResults: SampleBufferConsumer {
  private let latest = Locked<SampleBuffer?>(nil)

  func consume(_ sampleBuffer: consuming SampleBuffer) {
    let sampleBuffer = sampleBuffer
    latest.withLock { $0 = sampleBuffer }
  }

  func take() -> SampleBuffer? {
    latest.exchange(nil)
  }
}
