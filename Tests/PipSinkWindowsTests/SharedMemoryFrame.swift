import CGStreamer
import CWindows
import Foundation
import Testing

@testable import PipSink

/// The memory of frames that GStreamer takes for a DMABuf. It is anonymous memory, which every program can map.
final class SharedMemoryFrame {
  let format: VideoFormatDescription
  private let memory: UnsafeMutablePointer<GstMemory>
  /// The number of bytes before the first plane.
  private let start: Int

  /// - Parameters:
  ///   - format: the frames' format.
  ///   - value: what every byte is.
  ///   - start: the number of bytes before the first plane.
  init(_ format: VideoFormatDescription, value: UInt8, start: Int = 0) throws {
    (self.format, self.start) = (format, start)
    let byteCount = Int(format.info.size) + start
    let descriptor = pipsink_shareable_memory(byteCount)
    try #require(descriptor >= 0)
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
    try file.write(contentsOf: Data(repeating: value, count: byteCount))
    let allocator = try #require(gst_dmabuf_allocator_new())
    defer { gst_object_unref(allocator) }
    // The memory closes the descriptor.
    memory = try #require(gst_dmabuf_allocator_alloc(allocator, descriptor, gsize(byteCount)))
  }

  deinit { gst_memory_unref(memory) }

  /// Makes a frame in the memory.
  ///
  /// - Parameter crop: the part of it that is shown; nil for all of it.
  func frame(crop: PictureRect? = nil) throws -> SampleBuffer {
    let buffer = try #require(gst_buffer_new())
    gst_buffer_append_memory(buffer, gst_memory_ref(memory))
    var info = format.info
    withUnsafeMutableBytes(of: &info.offset) { offsets in
      for index in 0..<4 { offsets.bindMemory(to: gsize.self)[index] += gsize(start) }
    }
    withUnsafePointer(to: &info.offset.0) { offsets in
      withUnsafePointer(to: &info.stride.0) { strides in
        _ = gst_buffer_add_video_meta_full(
          buffer, GST_VIDEO_FRAME_FLAG_NONE, format.pixelFormat.gstFormat, guint(format.size.width),
          guint(format.size.height), guint(format.planeCount), UnsafeMutablePointer(mutating: offsets),
          UnsafeMutablePointer(mutating: strides))
      }
    }
    if let crop {
      let meta = gst_buffer_add_meta(buffer, gst_video_crop_meta_get_info(), nil)
      try #require(meta).withMemoryRebound(to: GstVideoCropMeta.self, capacity: 1) {
        ($0.pointee.x, $0.pointee.y) = (guint(crop.x), guint(crop.y))
        ($0.pointee.width, $0.pointee.height) = (guint(crop.width), guint(crop.height))
      }
    }
    return SampleBuffer(pixelBuffer: PixelBuffer(owning: buffer, formatDescription: format))
  }
}
