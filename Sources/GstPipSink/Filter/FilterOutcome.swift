import CGStreamer
import PipSink

/// What a filter's processors have made of a frame, which decides what still holds of what was said about it.
struct FilterOutcome {
  /// Whether its pixels have the format that they had.
  var keepsColors = false
  /// Whether everything in the picture is where it was.
  var keepsPlaces = false
  /// Whether it is to be turned, when it is shown, as it was to be.
  var keepsOrientation = false

  /// Whether a meta of the frame holds for what became of it. Those about its memory are not asked for.
  func keeps(_ meta: UnsafeMutablePointer<GstMeta>) -> Bool {
    guard let api = meta.pointee.info?.pointee.api else { return false }
    // A crop is carried out, or kept by the processor.
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

/// Where a filter's chain leaves its frames. The chain calls it on the thread that has given the chain the frame.
final class FilterResults: SampleBufferConsumer {
  private let latest = Locked<SampleBuffer?>(nil)

  func consume(_ sampleBuffer: consuming SampleBuffer) {
    let sampleBuffer = sampleBuffer
    latest.withLock { $0 = sampleBuffer }
  }

  func take() -> SampleBuffer? {
    latest.withLock { latest in
      defer { latest = nil }
      return latest
    }
  }
}
