import CGStreamer

@testable import PipSink
@testable import PipSinkCalls

/// Notes which pictures pass a pad.
///
/// `@unchecked Sendable`: the pointer is constant, and GStreamer's pads may be used from every thread.
final class PictureLog: @unchecked Sendable {
  private let log = Locked<[Int]>([])
  private let pad: Pad
  private let probe: gulong

  /// A hash of the pixels of each picture so far.
  var pictures: [Int] { log.withLock { $0 } }

  /// Whether a picture has passed here that has not passed there so far.
  func hasOthers(than log: PictureLog) -> Bool { !Set(pictures).isSubset(of: log.pictures) }

  /// - Parameter name: of an element with a pad "sink".
  init?(atElement name: String, in pipeline: Element) {
    guard let element = gst_bin_get_by_name(pipeline.asBin, name) else { return nil }
    defer { gst_object_unref(element) }
    guard let pad = gst_element_get_static_pad(element, "sink") else { return nil }
    self.pad = pad
    probe = gst_pad_add_probe(
      pad, GST_PAD_PROBE_TYPE_BUFFER,
      { pad, info, log in
        guard let log, let buffer = gst_pad_probe_info_get_buffer(info), let caps = gst_pad_get_current_caps(pad),
          let sample = gst_sample_new(buffer, caps, nil, nil)
        else { return GST_PAD_PROBE_OK }
        defer {
          gst_sample_unref(sample)
          gst_caps_unref(caps)
        }
        guard let picture = (try? PixelBuffer(unsafeGstSample: sample)).flatMap(PictureLog.hash) else {
          return GST_PAD_PROBE_OK
        }
        Unmanaged<Locked<[Int]>>.fromOpaque(log).takeUnretainedValue().withLock { $0.append(picture) }
        return GST_PAD_PROBE_OK
      }, Unmanaged.passRetained(log).toOpaque(),
      { $0.map { Unmanaged<Locked<[Int]>>.fromOpaque($0).release() } })
  }

  deinit {
    gst_pad_remove_probe(pad, probe)
    gst_object_unref(pad)
  }

  private static func hash(_ buffer: PixelBuffer) -> Int? {
    try? buffer.withMappedFrame { frame in
      var hasher = Hasher()
      for index in 0..<buffer.planeCount {
        let plane = frame.plane(index)
        for row in 0..<plane.layout.height {
          let width = plane.layout.width * plane.layout.pixelStride
          hasher.combine(bytes: UnsafeRawBufferPointer(start: plane.data + row * plane.stride, count: width))
        }
      }
      return hasher.finalize()
    }
  }
}
