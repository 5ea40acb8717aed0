import CGStreamer
import PipSink

/// The picture that a connection sends: the frames of a stream, upright and no larger than wanted, for an encoder.
///
/// `@unchecked Sendable`: the pointer is constant, and an appsrc may be used from every thread.
final class OutgoingPicture: VideoRenderer, @unchecked Sendable {
  private struct State {
    /// The size of the stream's pictures, upright and with square pixels.
    var size = PictureSize(width: 0, height: 0)
    /// What was sent last; nil before the first picture.
    var latest: PixelBuffer?
    /// Whether a black picture is sent in place of the stream's.
    var isBlack = false
    /// Whether nothing is sent any more.
    var isOver = false
    var sentAt = MonotonicTime.now
    var bitRate = Int.max
    /// By how much width and height are divided, so that the bits are enough.
    var divisor = 1
  }

  /// After how long without a frame the last one is sent again, so that a peer that joins sees a picture that stands
  /// still, and that of a camera that is off.
  static let repeatTime = Duration.seconds(1)

  private let source: UnsafeMutablePointer<GstAppSrc>
  private let limit: PictureSize
  private let converter = PixelConverter(usesHelperThreads: false)
  /// Makes RGB of pictures that are not as encoders expect them.
  private let rgbConverter = PixelConverter(usesHelperThreads: false)
  private let state = Locked(State())

  /// - Parameters:
  ///   - source: an appsrc, of which a reference is kept.
  ///   - limit: the largest width and height, for a picture that is wider than high.
  init(_ source: Element, limit: PictureSize) {
    self.source = UnsafeMutableRawPointer(gst_object_ref(source)).assumingMemoryBound(to: GstAppSrc.self)
    self.limit = limit
  }

  deinit { gst_object_unref(source) }

  // MARK: - As a renderer

  var renderSize: PictureSize? { limit }

  func frameSizeDidChange(to size: PictureSize) { state.withLock { $0.size = size } }

  func render(_ sampleBuffer: SampleBuffer, gravity: VideoGravity) throws(RenderingError) {
    let (size, isBlack, isFirst) = state.withLock { state in
      let full = Self.size(for: state.size, limit)
      state.divisor = Self.divisor(for: full, bitRate: state.bitRate, before: state.divisor)
      let size = PictureSize(width: full.width / state.divisor, height: full.height / state.divisor)
      return (Self.size(for: size, limit), state.isBlack, state.latest == nil)
    }
    do throws(PipSinkError) {
      if !isBlack {
        send(try picture(of: sampleBuffer, size: size), isOfStream: true)
      } else if isFirst {
        send(try black(.make(.i420, size: size)), isOfStream: false)
      }
    } catch {
      throw RenderingError(error)
    }
  }

  /// Converts a frame for the encoder. What it sends has no colorimetry with it, so receivers take the values for the
  /// limited range and the standard dynamic range. Other frames, such as those of most cameras, become so.
  private func picture(of sampleBuffer: SampleBuffer, size: PictureSize) throws(PipSinkError) -> PixelBuffer {
    let (source, orientation) = (sampleBuffer.pixelBuffer, sampleBuffer.orientation)
    let colorimetry = source.formatDescription.colorimetry
    guard colorimetry.isFullRange || colorimetry.highDynamicRange != nil, source.pixelFormat.isYUV else {
      return try converter.convert(source, to: .init(pixelFormat: .i420, size: size, orientation: orientation))
    }
    let rgb = try rgbConverter.convert(source, to: .init(pixelFormat: .bgra, size: size, orientation: orientation))
    return try converter.convert(rgb, to: .init(pixelFormat: .i420))
  }

  /// The stream has no picture any more, and the peer must not keep the last one.
  func removeImage() { replaceWithBlack(state.withLock { $0.latest.take() }) }

  /// The size of what is sent: at most `limit`, turned for pictures that are higher than wide, and even.
  static func size(for size: PictureSize, _ limit: PictureSize) -> PictureSize {
    let isHigh = size.height > size.width
    let (width, height) = (Double(max(size.width, 1)), Double(max(size.height, 1)))
    let scale = min(
      1, Double(isHigh ? limit.height : limit.width) / width, Double(isHigh ? limit.width : limit.height) / height)
    func even(_ length: Double) -> Int { max(2, Int((length * scale / 2).rounded()) * 2) }
    return PictureSize(width: even(width), height: even(height))
  }

  /// By how much width and height are divided: 1, 2 or 4. A picture is sent smaller where it would have less than 0.8
  /// bits a second for each pixel, and larger again where it has one for each.
  static func divisor(for size: PictureSize, bitRate: Int, before: Int) -> Int {
    func pixels(_ divisor: Int) -> Double { Double(size.width * size.height) / Double(divisor * divisor) }
    var divisor = before
    while divisor < 4, 0.8 * pixels(divisor) > Double(bitRate) { divisor *= 2 }
    while divisor > 1, pixels(divisor / 2) <= Double(bitRate) { divisor /= 2 }
    return divisor
  }

  /// Sets how many bits per second the encoder makes.
  func setBitRate(_ bitRate: Int) { state.withLock { $0.bitRate = bitRate } }

  // MARK: - Sending

  /// Whether there is a picture, which is sent at least once a second.
  var hasPicture: Bool { state.withLock { $0.latest != nil } }

  /// Sends nothing any more.
  func end() { state.withLock { $0.isOver = true } }

  /// Sets whether a black picture is sent in place of the stream's.
  func setBlack(_ isBlack: Bool) {
    // The picture before is forgotten at once, so that it cannot be sent again.
    let before = state.withLock { state -> PixelBuffer? in
      guard state.isBlack != isBlack else { return nil }
      state.isBlack = isBlack
      return isBlack ? state.latest.take() : nil
    }
    replaceWithBlack(before)
  }

  private func replaceWithBlack(_ picture: PixelBuffer?) {
    if let picture, let black = try? black(picture.formatDescription) { send(black, isOfStream: false) }
  }

  /// Sends the last picture again when nothing has been sent for a while.
  func repeatIfDue(at now: MonotonicTime = .now) {
    let (latest, isBlack) = state.withLock {
      ($0.sentAt.duration(to: now) >= Self.repeatTime ? $0.latest : nil, $0.isBlack)
    }
    if let latest { send(latest, isOfStream: !isBlack) }
  }

  private func black(_ format: VideoFormatDescription) throws(PipSinkError) -> PixelBuffer {
    var picture = try converter.pool.makePixelBuffer(format)
    for plane in 0..<format.planeCount {
      try picture.withMutablePlane(plane) { bytes, _ in
        bytes.withUnsafeMutableBytes { bytes in
          for index in bytes.indices { bytes[index] = plane == 0 ? 16 : 128 }
        }
      }
    }
    return picture.finish()
  }

  /// - Parameter isOfStream: whether the frame may be the stream's. One that was converted while the camera was turned
  ///   off must not follow the black one.
  private func send(_ frame: PixelBuffer, isOfStream: Bool) {
    let before = state.withLock { state -> PixelBuffer? in
      guard !state.isOver, !(isOfStream && state.isBlack) else { return nil }
      defer { (state.latest, state.sentAt) = (frame, .now) }
      push(frame)
      return state.latest
    }
    _ = before
  }

  /// Gives a frame to the encoder, which has a queue that drops old ones, so that nobody waits.
  private func push(_ frame: PixelBuffer) {
    frame.withUnsafeGstSample { sample in
      // The memory is shared. The appsrc gives the copy its time, that of its pipeline.
      guard let buffer = gst_buffer_copy(gst_sample_get_buffer(sample)) else { return }
      defer { gst_buffer_unref(buffer) }
      buffer.pointee.pts = PIPSINK_CLOCK_TIME_NONE
      buffer.pointee.dts = PIPSINK_CLOCK_TIME_NONE
      buffer.pointee.duration = PIPSINK_CLOCK_TIME_NONE
      let timeless = gst_sample_new(buffer, gst_sample_get_caps(sample), nil, nil)
      defer { gst_sample_unref(timeless) }
      gst_app_src_push_sample(source, timeless)
    }
  }
}
