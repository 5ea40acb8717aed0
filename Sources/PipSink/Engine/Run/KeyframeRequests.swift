import CGStreamer

/// Requests keyframes for a frozen stream, by a probe on the sink pads of its video decoders: when encoded frames arrive
/// there although no picture comes, a decoder may be waiting for a keyframe. Where nothing arrives, nobody is asked.
///
/// There is one request at the first encoded frame of a freeze, and then at most one a second, in all freezes together.
final class KeyframeRequests: Sendable {
  static let interval = Duration.seconds(1)

  private let requester: Requester
  /// The probes, by their pads, to each of which there is a reference.
  private let probes = Locked<[UnsafeMutablePointer<GstPad>: gulong]>([:])

  init(clock: SchedulingClock = .system) { requester = Requester(clock: clock) }

  deinit { update([]) }

  /// The number of requests so far.
  var count: Int { requester.state.withLock { $0.count } }

  /// The number of pads on whose encoded frames the requests wait.
  var probeCount: Int { probes.withLock { $0.count } }

  /// Requests keyframes through these pads, and through no others any more.
  ///
  /// - Parameter pads: the sink pads of a frozen stream's decoders; none ends the requests.
  func update(_ pads: [UnsafeMutablePointer<GstPad>]) {
    probes.withLock { probes in
      for (pad, id) in probes where !pads.contains(pad) {
        gst_pad_remove_probe(pad, id)
        gst_object_unref(pad)
        probes[pad] = nil
      }
      for pad in pads where probes[pad] == nil {
        gst_object_ref(pad)
        probes[pad] = requester.addProbe(to: pad)
      }
    }
  }

  /// What the probes share. Each probe has a reference to it.
  private final class Requester: Sendable {
    private let clock: SchedulingClock
    let state = Locked<(count: Int, last: MonotonicTime?)>((0, nil))

    init(clock: SchedulingClock) { self.clock = clock }

    func addProbe(to pad: UnsafeMutablePointer<GstPad>) -> gulong {
      let types = GstPadProbeType(GST_PAD_PROBE_TYPE_BUFFER.rawValue | GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue)
      return gst_pad_add_probe(
        pad, types,
        { pad, _, context in
          if let pad, let context { Unmanaged<Requester>.fromOpaque(context).takeUnretainedValue().request(on: pad) }
          return GST_PAD_PROBE_OK
        }, Unmanaged.passRetained(self).toOpaque(),
        { context in if let context { Unmanaged<Requester>.fromOpaque(context).release() } })
    }

    /// Requests a keyframe, unless that was done a moment ago. Called on the pad's streaming thread.
    private func request(on pad: UnsafeMutablePointer<GstPad>) {
      let now = clock.now
      let isDue = state.withLock { state in
        if let last = state.last, now < last.advanced(by: KeyframeRequests.interval) { return false }
        state = (state.count + 1, now)
        return true
      }
      if isDue { pad.requestKeyframe() }
    }
  }
}

extension UnsafeMutablePointer where Pointee == GstPad {
  /// Asks the elements before this sink pad for a keyframe with its headers.
  func requestKeyframe() {
    gst_pad_push_event(self, gst_video_event_new_upstream_force_key_unit(PIPSINK_CLOCK_TIME_NONE, 1, 0))
  }
}
