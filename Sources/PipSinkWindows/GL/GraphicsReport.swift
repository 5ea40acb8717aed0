import CGL
import PipSink

/// What a user can send to the developers about the graphics of a machine: which driver draws, whether it draws right, and
/// how long it takes beside the processor.
package enum GraphicsReport {
  /// One line of the report.
  package struct Line: Sendable {
    package let name: String
    package let text: String
    /// Whether what the line is about works.
    package let isGood: Bool

    fileprivate init(_ name: String, _ text: String, isGood: Bool = true) {
      (self.name, self.text, self.isGood) = (name, text, isGood)
    }
  }

  /// The frames that are drawn.
  private static let formats: [PixelFormat] = [.nv12, .i420, .p010, .bgra]
  private static let size = PictureSize(width: 1920, height: 1080)
  /// How often each frame is drawn, of which the median counts.
  private static let count = 21
  /// What differs by more than rounding has another colour.
  private static let leastRatio = 40.0

  /// Looks at the graphics, which opens libEGL in this program and takes some seconds.
  @MainActor
  package static func make() -> [Line] {
    var lines: [Line] = []
    if let connection = try? WaylandConnection.shared() {
      lines.append(Line("DMABufs", "\(connection.globals.frameFormats)"))
      lines += connection.globals.frameFormats.formatNames.map { Line("DMABuf", $0) }
    }
    do throws(PipSinkError) {
      let picture = try GLPicture()
      lines += describe(picture.context)
      for format in formats { lines.append(try compare(format, on: picture)) }
    } catch {
      lines.append(Line("OpenGL ES", "\(error)", isGood: false))
    }
    return lines
  }

  private static func describe(_ context: GLContext) -> [Line] {
    let (library, display) = (context.library, context.display)
    let text = { (name: Int32) in library.eglString(display.handle, name).map { String(cString: $0) } ?? "-" }
    let wanted = [
      "EGL_EXT_image_dma_buf_import", "EGL_EXT_image_dma_buf_import_modifiers", "EGL_KHR_fence_sync",
      "EGL_ANDROID_native_fence_sync", "EGL_EXT_create_context_robustness",
    ]
    let missing = wanted.filter { !display.has($0) }
    return [
      Line("EGL", "\(text(EGL_VERSION)), \(text(EGL_VENDOR))"),
      Line("OpenGL ES", context.version),
      Line(
        "renderer", context.rendererName + (context.isSoftware ? "; this is the processor" : ""),
        isGood: !context.isSoftware),
      Line("largest frame", "\(context.textureLimit) pixels wide or high"),
      Line("EGL extensions", missing.isEmpty ? "all that matter" : "missing: \(missing.joined(separator: ", "))"),
    ]
  }

  /// Compares what OpenGL draws with what the processor draws, and the times.
  private static func compare(_ format: PixelFormat, on picture: GLPicture) throws(PipSinkError) -> Line {
    let frame = try makeFrame(format)
    let renderer = try OffscreenRenderer(size: size)
    do throws(RenderingError) {
      var (openGL, processor): ([Duration], [Duration]) = ([], [])
      let painted = try picture.paint(frame, gravity: .resize, size: size) { draw throws(RenderingError) in
        for _ in 0..<count { openGL.append(try time(draw)) }
      }
      for _ in 0..<count {
        processor.append(try time { () throws(RenderingError) in try renderer.render(frame, gravity: .resize) })
      }
      guard let expected = renderer.image() else {
        throw RenderingError(code: .invalidPixelFormat, reason: "the processor has drawn nothing")
      }
      // The processor keeps the alpha of frames. Windows ignore it.
      let ratio = painted.psnr(to: BGRAImage(size: size, opaque: expected.bytes))
      let isAlike = ratio >= leastRatio
      return Line(
        "\(format.rawValue) \(size)",
        "OpenGL ES \(median(openGL)) ms, the processor \(median(processor)) ms; "
          + "the pictures \(isAlike ? "are alike" : "differ") (\(Int(min(ratio, 99))) dB)",
        isGood: isAlike)
    } catch {
      return Line("\(format.rawValue) \(size)", "\(error)", isGood: false)
    }
  }

  private static func time(_ body: () throws(RenderingError) -> Void) throws(RenderingError) -> Duration {
    let start = MonotonicTime.now
    try body()
    return .nanoseconds(Int64(MonotonicTime.now.nanoseconds(since: start)))
  }

  private static func median(_ times: [Duration]) -> String {
    let microseconds = Int(times.sorted()[times.count / 2] / .microseconds(1))
    return "\(microseconds / 1000).\(String(1000 + microseconds % 1000).dropFirst())"
  }

  /// A frame whose rows have different colours.
  private static func makeFrame(_ format: PixelFormat) throws(PipSinkError) -> SampleBuffer {
    var buffer = try PixelBufferPool().makePixelBuffer(.make(format, size: size))
    for plane in 0..<buffer.planeCount {
      try buffer.withMutablePlane(plane) { bytes, layout in
        bytes.withUnsafeMutableBytes { bytes in
          for (row, start) in stride(from: 0, to: bytes.count, by: layout.bytesPerRow).enumerated() {
            let part = UnsafeMutableRawBufferPointer(rebasing: bytes[start...].prefix(layout.bytesPerRow))
            part.initializeMemory(as: UInt8.self, repeating: UInt8(40 + (row + plane * 50) % 160))
          }
        }
      }
    }
    return SampleBuffer(pixelBuffer: buffer.finish())
  }
}
