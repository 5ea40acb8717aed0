import CGStreamer

/// Tells the elements before a sink pad, in a pipeline that belongs to an app, how large a stream's pictures have to be:
/// by an event upstream, and by suspending the stream's video decoder while nobody sees the stream. While the stream is
/// frozen, it requests keyframes.
///
/// Elements may block in an event, so a thread of its own sends it, which ends when there is nothing to tell. It uses the
/// newest demand, and leaves out those that have been replaced meanwhile.
package final class UpstreamDemand: Sendable {
  /// Whether the stream's frames flow. ``StreamFlow/isLeftOver(_:)`` says which frames a suspended decoder still held.
  let flow = StreamFlow()
  let keyframeRequests: KeyframeRequests
  private let clock: SchedulingClock
  private let state = Locked(State())
  /// The gates in front of suspended decoders. Whoever needs both locks takes that of the state first.
  private let gates = Locked(DecodingGates())

  private struct State {
    /// The sink pad; nil when the stream has ended. The object holds a reference to it.
    var pad: UnsafeMutablePointer<GstPad>?
    var wanted = Wanted()
    /// What has been told; nil before the first time.
    var told: Wanted?
    var isTelling = false
    /// Whether the decoder is not suspended for a reason that has been reported.
    var isRefused = false

    var isNew: Bool { told != wanted }
  }

  private struct Wanted: Equatable {
    /// Nil as long as nobody has said it, during which the decoder is not suspended: after even one frame without it, the
    /// stream would wait for its next keyframe.
    var demand: StreamDemand?
    var suspends = false
    var isFrozen = false

    var isToSuspend: Bool { suspends && demand == .hidden }
  }

  private let report: @Sendable (_ isSuspended: Bool, _ refusal: String?) -> Void

  /// - Parameters:
  ///   - pad: the sink pad at which the stream's frames arrive. It is retained.
  ///   - report: called on any thread when the decoder is suspended or resumed, and when it cannot be suspended: then
  ///     once, with the reason.
  package init(
    before pad: UnsafeMutablePointer<GstPad>, clock: SchedulingClock = .system,
    report: @escaping @Sendable (_ isSuspended: Bool, _ refusal: String?) -> Void
  ) {
    gst_object_ref(pad)
    self.clock = clock
    keyframeRequests = KeyframeRequests(clock: clock)
    self.report = report
    state.withLock { $0.pad = pad }
  }

  deinit { end() }

  /// Whether a frame was left in a suspended decoder and must not be shown. Called on the streaming thread.
  @inline(__always)
  package func isLeftOver(_ buffer: UnsafeMutablePointer<GstBuffer>) -> Bool { flow.isLeftOver(buffer) }

  /// Whether the decoder is suspended while the stream is hidden. Any thread may set it.
  package var suspendsDecoder: Bool {
    get { state.withLock { $0.wanted.suspends } }
    set { want { $0.wanted.suspends = newValue } }
  }

  /// Tells the elements before the pad of another demand, later.
  package func set(_ demand: StreamDemand) { want { $0.wanted.demand = demand } }

  /// Tells the demand once more: elements that have been added since have not been told.
  package func repeatDemand() { want { $0.told = nil } }

  /// Whether keyframes are requested as long as encoded frames arrive. Any thread may set it.
  var isFrozen: Bool {
    get { state.withLock { $0.wanted.isFrozen } }
    set { want { $0.wanted.isFrozen = newValue } }
  }

  /// Whether nothing arrives although nothing is wrong.
  ///
  /// - Parameter hasVariableRate: whether the stream's frames have no frame rate.
  func maySendNothing(hasVariableRate: Bool) -> Bool {
    let pad = state.withLock { state in
      if let pad = state.pad { gst_object_ref(pad) }
      return state.pad
    }
    guard let pad else { return true }
    defer { gst_object_unref(pad) }
    return pad.mayGetNothing(hasVariableRate: hasVariableRate)
  }

  private func want(_ change: (inout State) -> Void) {
    let mustBegin = state.withLock { state in
      change(&state)
      guard state.pad != nil, !state.isTelling, state.isNew else { return false }
      state.isTelling = true
      return true
    }
    guard mustBegin, WorkerThread(name: "pip-demand", body: { self.tell() }) == nil else { return }
    state.withLock { $0.isTelling = false }
  }

  /// Opens what was suspended, later. Nothing is told any more.
  package func end() {
    let pad = state.exchange(\.pad, nil)
    keyframeRequests.update([])
    if let pad { gst_object_unref(pad) }
    guard !gates.withLock({ $0.isEmpty }) else { return }
    let open = { @Sendable [gates, clock] in gates.withLock { $0.update([:], clock: clock) }() }
    if WorkerThread(name: "pip-demand", body: open) == nil { open() }
  }

  /// Tells the demand until it does not change any more.
  private func tell() {
    while let (pad, wanted, isNewDemand) = next() {
      defer { gst_object_unref(pad) }
      if isNewDemand, let demand = wanted.demand { gst_pad_push_event(pad, demand.makeEvent()) }
      let path = wanted.isToSuspend || wanted.isFrozen ? pad.decoderPath : DecoderPath()
      defer { path.release() }
      let refusal = wanted.isToSuspend ? path.refusal : nil
      let (open, isChanged, isSuspended, mustWarn) = state.withLock { state -> (() -> Void, Bool, Bool, Bool) in
        guard state.pad != nil else { return ({}, false, false, false) }
        keyframeRequests.update(wanted.isFrozen ? path.pads : [])
        let pads = wanted.isToSuspend && refusal == nil ? path.pads : []
        let (open, wasSuspended, isSuspended) = gates.withLock { gates in
          let wasSuspended = !gates.isEmpty
          let open = gates.update(Dictionary(pads.map { ($0, [flow]) }) { first, _ in first }, clock: clock)
          return (open, wasSuspended, !gates.isEmpty)
        }
        let mustWarn = refusal != nil && !state.isRefused
        if mustWarn { state.isRefused = true }
        return (open, wasSuspended != isSuspended, isSuspended, mustWarn)
      }
      open()
      if isChanged || mustWarn { report(isSuspended, mustWarn ? refusal : nil) }
    }
  }

  /// What to tell next, with a reference to the pad; nil when there is nothing to tell.
  private func next() -> (pad: UnsafeMutablePointer<GstPad>, wanted: Wanted, isNewDemand: Bool)? {
    state.withLock { state in
      guard let pad = state.pad, state.isNew else {
        state.isTelling = false
        return nil
      }
      let isNewDemand = state.told?.demand != state.wanted.demand
      state.told = state.wanted
      gst_object_ref(pad)
      return (pad, state.wanted, isNewDemand)
    }
  }
}
