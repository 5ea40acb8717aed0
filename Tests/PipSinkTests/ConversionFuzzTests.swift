import CGStreamer
import Glibc
import Testing

@testable import PipSink
@testable import TestSupport

/// Random formats, sizes, strides, crops, gravities, rotations and destinations. Sources and destinations end at a page
/// that may not be accessed. A kernel that reads or writes beyond them therefore ends the test, even if it is one of
/// libyuv's, which no sanitizer checks.
@Suite struct ConversionFuzzTests {
  @Test func tenThousandRandomConversionsStayInTheirMemory() throws {
    try PipSink.initialize()
    var random = SeededGenerator(seed: 20_261_121)
    let (from, to) = (GuardedMemory(byteCount: 32 << 20), GuardedMemory(byteCount: 32 << 20))
    var converter = PictureConverter()
    for number in 0..<10_000 {
      let request = Request(&random)
      let source = try frame(request.source, in: from, random: &random)
      let target = try frame(request.target, in: to, random: &random)
      try #require(source.size.isValid && target.size.isValid)
      memset(to.base, 0xA5, to.used)
      do throws(PipSinkError) {
        try source.withMappedFrame { source throws(PipSinkError) in
          try MappedFrame.withMapped(target.buffer, formatDescription: target.formatDescription, isWritable: true) {
            target throws(PipSinkError) in
            try converter.draw(source, request.output, into: Picture(target))
          }
        }
      } catch {
        Issue.record("number \(number), \(request): \(error)")
      }
      try expectPaddingUntouched(target, "number \(number), \(request)")
    }
  }

  private struct Layout {
    let format: PixelFormat
    let size: PictureSize
    let crop: PictureRect?
    let padding: Int
    let isInterlaced: Bool
  }

  private struct Request: CustomStringConvertible {
    let source: Layout
    let target: Layout
    let output: PixelConverter.Output

    init(_ random: inout SeededGenerator) {
      let format = PixelFormat.allCases.randomElement(using: &random)!
      let size = PictureSize(width: Self.side(&random), height: Self.side(&random))
      var crop: PictureRect?
      if Int.random(in: 0..<3, using: &random) == 0 {
        let (x, y) = (Int.random(in: 0..<size.width, using: &random), Int.random(in: 0..<size.height, using: &random))
        crop = PictureRect(
          x: x, y: y, width: Int.random(in: 1...size.width - x, using: &random),
          height: Int.random(in: 1...size.height - y, using: &random))
      }
      source = Layout(
        format: format, size: size, crop: crop, padding: Self.padding(&random),
        isInterlaced: Int.random(in: 0..<6, using: &random) == 0)
      // A ten-bit destination must have the same format as its source.
      let isTenBitTarget = format.isTenBit && Bool.random(using: &random)
      let target = isTenBitTarget ? format : PixelFormat.allCases.filter { !$0.isTenBit }.randomElement(using: &random)!
      let keepsSize = Int.random(in: 0..<4, using: &random) == 0
      let orientation = VideoOrientation.allCases.randomElement(using: &random)!
      self.target = Layout(
        format: target,
        size: keepsSize
          ? orientation.applied(to: crop?.size ?? size)
          : PictureSize(width: Self.side(&random), height: Self.side(&random)),
        crop: nil, padding: Self.padding(&random), isInterlaced: false)
      output = PixelConverter.Output(
        gravity: VideoGravity.allCases.randomElement(using: &random)!, orientation: orientation,
        scalingFilter: ScalingFilter.allCases.randomElement(using: &random)!)
    }

    private static func side(_ random: inout SeededGenerator) -> Int {
      switch Int.random(in: 0..<20, using: &random) {
      case 0: Int.random(in: 300...1300, using: &random)
      case 1...5: Int.random(in: 64...300, using: &random)
      default: Int.random(in: 1...64, using: &random)
      }
    }

    private static func padding(_ random: inout SeededGenerator) -> Int {
      Bool.random(using: &random) ? 0 : Int.random(in: 1...70, using: &random)
    }

    var description: String { "\(source) to \(target), \(output)" }
  }

  /// Makes a frame whose last plane ends exactly where the memory ends.
  private func frame(_ layout: Layout, in memory: GuardedMemory, random: inout SeededGenerator) throws -> PixelBuffer {
    let mode = layout.isInterlaced ? ",interlace-mode=interleaved" : ""
    let caps = try #require(
      gst_caps_from_string(
        "video/x-raw,format=\(layout.format.rawValue),width=\(layout.size.width),height=\(layout.size.height)"
          + ",framerate=30/1\(mode)"))
    defer { gst_caps_unref(caps) }
    var (offsets, strides): ([gsize], [gint]) = ([0, 0, 0, 0], [0, 0, 0, 0])
    var byteCount = 0
    for plane in 0..<layout.format.planeCount {
      let dimensions = layout.format.planeSize(plane, of: layout.size)
      let row = layout.format.rowByteCount(plane, width: Int(dimensions.width))
      offsets[plane] = gsize(byteCount)
      strides[plane] = gint(row + layout.padding)
      byteCount += (row + layout.padding) * Int(dimensions.height - 1) + row
    }
    let start = memory.place(byteCount: byteCount)
    let value = UInt8.random(in: 0...255, using: &random)
    memset(start, Int32(value), byteCount)
    let buffer = try #require(
      gst_buffer_new_wrapped_full(
        GstMemoryFlags(rawValue: 0), start, gsize(byteCount), 0, gsize(byteCount), nil, nil))
    defer { gst_buffer_unref(buffer) }
    gst_buffer_add_video_meta_full(
      buffer, GST_VIDEO_FRAME_FLAG_NONE, layout.format.gstFormat, guint(layout.size.width), guint(layout.size.height),
      guint(layout.format.planeCount), &offsets, &strides)
    if let crop = layout.crop {
      let meta = try #require(gst_buffer_add_meta(buffer, gst_video_crop_meta_get_info(), nil))
      let cropMeta = UnsafeMutableRawPointer(meta).assumingMemoryBound(to: GstVideoCropMeta.self)
      (cropMeta.pointee.x, cropMeta.pointee.y) = (guint(crop.x), guint(crop.y))
      (cropMeta.pointee.width, cropMeta.pointee.height) = (guint(crop.width), guint(crop.height))
    }
    return try TestFrame.pixelBuffer(owning: #require(gst_sample_new(buffer, caps, nil, nil)))
  }

  private func expectPaddingUntouched(_ target: PixelBuffer, _ what: @autoclosure () -> String) throws {
    for plane in 0..<target.planeCount {
      let isUntouched = try target.withPlane(plane) { bytes, layout in
        let row = target.pixelFormat.rowByteCount(plane, width: layout.width)
        return bytes.withUnsafeBytes { all in
          PixelComparison.isFilled(
            all.baseAddress!.assumingMemoryBound(to: UInt8.self) + row, stride: layout.bytesPerRow,
            width: layout.bytesPerRow - row, height: layout.height - 1, with: 0xA5)
        }
      }
      if !isUntouched { Issue.record("\(what()): wrote beyond the end of a row of plane \(plane)") }
    }
  }
}
