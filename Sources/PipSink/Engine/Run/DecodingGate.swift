import CGStreamer
import Logging

/// Keeps a video decoder idle: stands on its sink pad while nobody sees its stream.
///
/// What comes is left out, and gaps of the same length go on in its place, so that the pipeline keeps its pace and its
/// sink its clock. Once opened, it lets the stream go on from the next keyframe, and is gone.
///
/// The pad owns it, and not the other way round. `@unchecked Sendable`: what it has sent belongs to the pad's streaming
/// thread; everything else is constant or behind a lock.
final class DecodingGate: @unchecked Sendable {
  private let flows: [StreamFlow]
  private let clock: SchedulingClock
  /// Since when a keyframe has been awaited; nil while it is closed.
  private let openedAt = Locked<MonotonicTime?>(nil)
  /// Until when gaps have been sent, in the stream's own time, in nanoseconds.
  private var gapEnd: GstClockTime?

  /// Seconds. Some encoders never send a keyframe after the first.
  private static let keyframeTimeout = Duration.seconds(10)
  /// Nanoseconds. A decoder empties itself at every gap, so there are few.
  private static let gapLength: GstClockTime = 250_000_000

  /// Closes the way to a decoder.
  ///
  /// - Parameters:
  ///   - flows: of the streams it feeds, whose frames are counted as withheld.
  ///   - clock: by which a keyframe is waited for.
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

  /// Lets the stream go on from its next keyframe, and asks the sender for one.
  ///
  /// - Parameter pad: the one that it was made on.
  func open(on pad: UnsafeMutablePointer<GstPad>) {
    openedAt.withLock { $0 = clock.now }
    gst_pad_push_event(pad, gst_video_event_new_upstream_force_key_unit(PIPSINK_CLOCK_TIME_NONE, 1, 0))
  }

  /// On the pad's streaming thread.
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
    // Also after a jump back, as at a seek.
    if let gapEnd, time < gapEnd, time + 2 * Self.gapLength > gapEnd { return }
    gapEnd = time + Self.gapLength
    gst_pad_send_event(pad, gst_event_new_gap(time, PIPSINK_CLOCK_TIME_NONE))
  }
}
