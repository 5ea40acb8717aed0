import CGStreamer
import Logging

/// Suspends a video decoder while its stream is hidden, by a probe on the decoder's sink pad.
///
/// The gate drops the encoded frames and sends gap events for their times instead, so that the rest of the pipeline
/// keeps running in time. Once opened, it lets the stream pass from the next keyframe on, and removes itself.
///
/// The pad owns the gate. `@unchecked Sendable`: `gapEnd` is used on the pad's streaming thread alone; everything else
/// is constant or behind a lock.
final class DecodingGate: @unchecked Sendable {
  private let flows: [StreamFlow]
  private let clock: SchedulingClock
  /// When the gate was opened and began to wait for a keyframe; nil while it is closed.
  private let openedAt = Locked<MonotonicTime?>(nil)
  /// The end of the last gap that was sent, in the stream's time, in nanoseconds.
  private var gapEnd: GstClockTime?

  /// The time to wait for a keyframe. Some encoders never send one after the first.
  private static let keyframeTimeout = Duration.seconds(10)
  /// The length of a gap in nanoseconds. A decoder drains at every gap, so gaps are long and few.
  private static let gapLength: GstClockTime = 250_000_000

  /// Makes a closed gate in front of a decoder.
  ///
  /// - Parameters:
  ///   - pad: the decoder's sink pad, which owns the gate.
  ///   - flows: count the withheld frames, for each of the streams that the decoder feeds.
  ///   - clock: measures the time to wait for a keyframe.
  init(on pad: UnsafeMutablePointer<GstPad>, flows: [StreamFlow], clock: SchedulingClock = .system) {
    self.flows = flows
    self.clock = clock
    let types = GstPadProbeType(GST_PAD_PROBE_TYPE_BUFFER.rawValue | GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue)
    gst_pad_add_probe(
      pad, types,
      { pad, info, context in
        guard let pad, let info, let context else { return GST_PAD_PROBE_OK }
        return Unmanaged<DecodingGate>.fromOpaque(context).takeUnretainedValue().pass(info, on: pad)
      }, Unmanaged.passRetained(self).toOpaque(),
      { context in if let context { Unmanaged<DecodingGate>.fromOpaque(context).release() } })
  }

  /// Opens the gate from the stream's next keyframe on, and requests a keyframe from upstream.
  ///
  /// - Parameter pad: the pad that the gate was made on.
  func open(on pad: UnsafeMutablePointer<GstPad>) {
    openedAt.withLock { $0 = clock.now }
    pad.requestKeyframe()
  }

  /// Decides about a buffer or a list of buffers. Called on the pad's streaming thread.
  private func pass(
    _ info: UnsafeMutablePointer<GstPadProbeInfo>, on pad: UnsafeMutablePointer<GstPad>
  ) -> GstPadProbeReturn {
    guard let buffer = Self.firstBuffer(of: info) else { return GST_PAD_PROBE_OK }
    let isKeyframe = gst_buffer_has_flags(buffer, GST_BUFFER_FLAG_DELTA_UNIT) == 0
    let openedAt = openedAt.withLock { $0 }
    if let openedAt, isKeyframe || clock.now > openedAt.advanced(by: Self.keyframeTimeout) {
      let time = UInt64(buffer.pointee.pts)
      if time != PIPSINK_CLOCK_TIME_NONE { for flow in flows { flow.resume(at: time) } }
      if !isKeyframe { Logger(visible: "pipsink.engine").warning("no keyframe came: a stream goes on without one") }
      return GST_PAD_PROBE_REMOVE
    }
    for flow in flows { flow.withheld.wrappingAdd(1, ordering: .relaxed) }
    sendGap(for: buffer, on: pad)
    return GST_PAD_PROBE_DROP
  }

  private static func firstBuffer(
    of info: UnsafeMutablePointer<GstPadProbeInfo>
  ) -> UnsafeMutablePointer<GstBuffer>? {
    guard let data = info.pointee.data else { return nil }
    guard info.pointee.type.rawValue & GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue != 0 else {
      return data.assumingMemoryBound(to: GstBuffer.self)
    }
    let list = OpaquePointer(data)
    return gst_buffer_list_length(list) > 0 ? gst_buffer_list_get(list, 0) : nil
  }

  private func sendGap(for buffer: UnsafeMutablePointer<GstBuffer>, on pad: UnsafeMutablePointer<GstPad>) {
    let time = buffer.pointee.pts != PIPSINK_CLOCK_TIME_NONE ? buffer.pointee.pts : buffer.pointee.dts
    guard time != PIPSINK_CLOCK_TIME_NONE else { return }
    // Times that jump back, as after a seek, begin a new gap.
    if let gapEnd, time < gapEnd, time + 2 * Self.gapLength > gapEnd { return }
    gapEnd = time + Self.gapLength
    gst_pad_send_event(pad, gst_event_new_gap(time, PIPSINK_CLOCK_TIME_NONE))
  }
}
