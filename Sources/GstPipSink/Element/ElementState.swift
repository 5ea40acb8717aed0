import CGStreamer
import PipSink
import PipSinkGTK4
import Synchronization

/// The Swift state of one `pipsink` element, which lives as long as the element.
///
/// `@unchecked Sendable`: what is not behind a lock is used on the streaming thread, of which the pad has one at a
/// time, or while there is no streaming thread (`start`, `endRun`, `stop`).
final class ElementState: @unchecked Sendable {
  let reference: ElementReference
  private let box = Locked(ElementSettings())
  /// A copy of the settings' direction, which the streaming thread reads for every frame without taking the settings'
  /// lock.
  private let direction = Atomic(ElementSettings().direction.rawValue)
  let playback = Locked(ElementPlayback())
  /// The paintable for a GTK 4 application; nil until the application asks for it.
  let paintable = Locked<VideoPaintable?>(nil)
  /// Why no paintable could be made when the application asked for it; nil when the application has been told.
  private let paintableError = Locked<PipSinkError?>(nil)
  private let membership = Locked<SessionMember?>(nil)
  /// The engine that runs the element and takes its frames. Such an element has no session.
  private let engine = Locked<(consumer: any StreamElementConsumer, chain: ProcessorChain)?>(nil)

  private var wrapper = SampleWrapper()
  /// The newest caps where they make no format, because the frames are in GPU memory.
  private var unreadableCaps: String?
  /// The number of frames that were skipped since the start, because they are in memory that the processor cannot read.
  private let skippedCount = Atomic<UInt64>(0)
  private var chain: ProcessorChain?
  /// Says which frames a suspended decoder still held; nil in an engine, which leaves them out itself.
  private var upstream: UpstreamDemand?
  /// Subtitles and other pictures that are drawn over the frames.
  var overlays = ElementOverlays()
  let colorChannels = ElementColorBalance.Channels()
  private var hasEnded = false

  init(_ element: UnsafeMutableRawPointer) {
    reference = ElementReference(element)
  }

  // MARK: - Properties

  var settings: ElementSettings { box.withLock { $0 } }

  /// The element's part in a session; nil while the element is stopped.
  var member: SessionMember? { membership.withLock { $0 } }

  func set(_ change: (inout ElementSettings) -> Void) {
    let (old, new) = box.withLock { settings in
      let old = settings
      change(&settings)
      direction.store(settings.direction.rawValue, ordering: .relaxed)
      return (old, settings)
    }
    guard let chain = member?.chain ?? engine.withLock({ $0?.chain }) else { return }
    if old.process != new.process || old.rateLimit != new.rateLimit {
      do throws(PipSinkError) {
        chain.processors = try new.makeProcessors()
      } catch {
        reference.post(
          "The processors cannot be made.", error.description, code: GST_RESOURCE_ERROR_SETTINGS, isWarning: true)
      }
    }
    guard let member else { return }
    if (old.process ?? "").isEmpty != (new.process ?? "").isEmpty { reference.renegotiate() }
    if old.window != new.window { member.change(new.window) }
    member.apply()
    if old.pictureInPictureStreamID != new.pictureInPictureStreamID, new.mode == .pip { member.perform(.start) }
  }

  /// Gives the application a paintable, in which the stream is shown from then on. The value stays null in a program
  /// without GTK 4.
  func getPaintable(_ value: UnsafeMutablePointer<GValue>) {
    do throws(PipSinkError) {
      let made = try paintable.withLock { paintable throws(PipSinkError) in
        let made = if let known = paintable { known } else { try VideoPaintable() }
        paintable = made
        return made
      }
      paintableError.withLock { $0 = nil }
      g_value_set_object(value, made.unsafePaintable)
      member?.apply()
    } catch {
      paintableError.withLock { $0 = error }
      if membership.withLock({ $0 != nil }) { warnOfNoPaintable() }
    }
  }

  /// Posts a warning if the application has asked for a paintable that cannot be made.
  private func warnOfNoPaintable() {
    let error = paintableError.exchange(nil)
    guard let error else { return }
    reference.post(
      "There is no paintable.", error.description, code: GST_RESOURCE_ERROR_SETTINGS, isWarning: true)
  }

  /// - Returns: the new colour balance; nil when nothing has changed.
  func setColorBalance(_ change: (inout ColorBalance) -> Void) -> ColorBalance? {
    let (old, new) = box.withLock { settings in
      let old = settings.colorBalance
      change(&settings.colorBalance)
      return (old, settings.colorBalance)
    }
    guard old != new else { return nil }
    member?.applyColorBalance()
    return new
  }

  func set(mode: ElementMode) {
    box.withLock { $0.mode = mode }
    member?.perform(mode == .pip ? .start : .stop)
  }

  func perform(_ request: SessionRequest) {
    if let member { return member.perform(request) }
    ElementSignal(.failedToStart(.pictureInPicture(.notPossible(reason: "the element is stopped"))))?
      .emit(on: reference, session: settings.session, streamID: streamID)
  }

  /// Notes the title of the stream, which is its name where the application has given it no other one.
  private func set(title: String?) {
    let old = settings
    guard old.title != title else { return }
    set { $0.title = title }
    if old.givenName == nil { reference.notify("stream-name") }
  }

  // MARK: - In an engine

  /// The stream ID: the property's value, or else the element's name.
  var streamID: StreamID { settings.streamID ?? StreamID(reference.name) }

  var isInEngine: Bool { engine.withLock { $0 != nil } }

  /// Sends the frames to an engine's consumer instead of a session, from the next start on.
  func deliver(to consumer: any StreamElementConsumer) {
    engine.withLock { $0 = (consumer, ProcessorChain(next: consumer)) }
  }

  // MARK: - Start and stop

  /// Prepares the change from NULL to READY: checks that a display server can be reached, and asks the application for
  /// its Wayland connection.
  ///
  /// - Returns: false when no window can be shown, which has been posted on the bus.
  func prepare() -> Bool {
    guard settings.surface == .window, !isInEngine else { return true }
    do throws(PipSinkError) {
      if try MainActorHost.checkDisplay() == .wayland { WaylandContext.request(for: reference) }
      return true
    } catch {
      reference.post("No window can be shown.", error.description, code: GST_RESOURCE_ERROR_NOT_FOUND)
      return false
    }
  }

  func start() -> gboolean {
    warnOfNoPaintable()
    // An application that shows the paintable has no window for the stream.
    if paintable.withLock({ $0?.isShared != true }) {
      reference.use { gst_video_overlay_prepare_window_handle(OpaquePointer($0)) }
    }
    let id = streamID
    do throws(PipSinkError) {
      if let chain = engine.withLock({ $0?.chain }) {
        chain.processors = try settings.makeProcessors()
        self.chain = chain
      } else {
        let member = try ElementSession.join(
          streamID: id, element: reference, settings: box, playback: playback, paintable: paintable)
        (chain, upstream) = (member.chain, member.upstream)
        if settings.isOnBus, settings.surface == .none { member.warnOfNoBus("It has no surface.") }
        membership.withLock { $0 = member }
        member.applyColorBalance()
      }
      forgetFormat()
      return 1
    } catch {
      reference.post("The stream \"\(id)\" cannot be shown.", error.description, code: GST_RESOURCE_ERROR_SETTINGS)
      return 0
    }
  }

  /// Follows the change from PAUSED to READY, after which no frames come.
  func endRun() {
    wrapper.endRun()
    hasEnded = false
  }

  func stop() -> gboolean {
    let last = Locked(membership.exchange(nil))
    let hasWindow = last.withLock { member in
      member?.leave()
      // Jobs that the main actor has still to run keep the chain alive, and for good if the program ends before. With
      // the chain they would keep the processors' pools, which are trimmed some time later: perhaps after the program
      // has shut GStreamer down.
      member?.chain.processors = []
      return member?.session.surface == .window
    }
    (chain, upstream) = (nil, nil)
    forgetFormat()
    set(title: nil)
    skippedCount.store(0, ordering: .relaxed)
    let release = { @Sendable in last.withLock { $0 = nil } }
    // Releasing the last reference to the stream's layer waits for its presenting thread, which may be waiting for a
    // display server that does not answer. So the reference is released on a thread of its own.
    if hasWindow { _ = WorkerThread(name: "pip-leave", body: release) } else { release() }
    VideoFormatDescription.forgetUnused()
    return 1
  }

  private func forgetFormat() {
    wrapper = SampleWrapper()
    unreadableCaps = nil
  }

  // MARK: - Frames

  /// Whether the newest caps make a format. Those of frames in GPU memory do not, and such frames are skipped.
  var hasFormat: Bool { wrapper.format != nil }

  /// - Returns: false when the caps are refused.
  func set(_ caps: UnsafeMutablePointer<GstCaps>) -> Bool {
    unreadableCaps = nil
    overlays.note(caps)
    do throws(PipSinkError) {
      try wrapper.setFormat(of: caps)
      return true
    } catch {
      guard case .frame(.invalidCaps(let text)) = error, DeviceMemory.isNamed(inCaps: text) else { return false }
      unreadableCaps = text
      return true
    }
  }

  /// - Parameters:
  ///   - event: a serialized event.
  ///   - pad: the element's pad.
  func note(_ event: UnsafeMutablePointer<GstEvent>, on pad: UnsafeMutablePointer<GstPad>) {
    if hasEnded {
      hasEnded = false
      member?.noteEnd(false)
    }
    wrapper.note(event, on: pad)
    switch event.pointee.type {
    case GST_EVENT_STREAM_START: set(title: nil)
    case GST_EVENT_TAG: if let title = event.title { set(title: title) }
    default: break
    }
  }

  /// Notes that the stream has ended, and that its last picture has been shown for its time.
  func noteEnd() {
    hasEnded = true
    member?.noteEnd(true)
    if isInEngine { reference.use { StreamElement.postEnd(of: $0) } }
  }

  func preroll(_ parent: () -> GstFlowReturn) -> GstFlowReturn { wrapper.preroll(parent) }

  func show(_ buffer: UnsafeMutablePointer<GstBuffer>) -> GstFlowReturn {
    guard wrapper.mustShow(buffer), upstream?.isLeftOver(buffer) != true else { return GST_FLOW_OK }
    guard let chain else { return GST_FLOW_NOT_NEGOTIATED }
    guard let format = wrapper.format, format.isInSystemMemory || SampleWrapper.canRead(buffer, format) else {
      return skip()
    }
    updateOverlays()
    let direction = GstVideoOrientationMethod(rawValue: direction.load(ordering: .relaxed))
    chain.consume(
      wrapper.wrap(
        owning: gst_buffer_ref(buffer), format, fixedOrientation: VideoOrientation(direction)))
    return GST_FLOW_OK
  }

  /// Skips a frame that the processor cannot read, as an engine does with the frames of an appsink.
  private func skip() -> GstFlowReturn {
    guard let caps = wrapper.format?.capsDescription ?? unreadableCaps else { return GST_FLOW_NOT_NEGOTIATED }
    if let consumer = engine.withLock({ $0?.consumer }) {
      consumer.skipFrame(caps: caps)
    } else if skippedCount.wrappingAdd(1, ordering: .relaxed).oldValue == 0 {
      reference.post(
        "The stream \"\(streamID)\" has frames that cannot be shown.",
        "\(DeviceMemory.advice(forCaps: caps)) (\(caps))", code: GST_RESOURCE_ERROR_READ, isWarning: true)
    }
    return GST_FLOW_OK
  }

  /// The statistics of GstBaseSink and of the stream, in a structure that the caller owns.
  func makeStatistics() -> UnsafeMutablePointer<GstStructure>? {
    let structure = reference.use { element in
      gst_base_sink_get_stats(UnsafeMutableRawPointer(element).assumingMemoryBound(to: GstBaseSink.self))
    }
    guard let structure = structure ?? gst_structure_new_empty("application/x-gst-base-sink-stats") else { return nil }
    let member = member
    let statistics = member?.renderStatistics
    let chain = member?.chain.statistics
    func screenLatency(_ percentile: Double) -> UInt64 {
      UInt64(clamping: statistics?.screenLatencies.value(atPercentile: percentile)?.wholeNanoseconds ?? 0)
    }
    let counts: [(String, UInt64)] = [
      ("received", statistics?.received ?? 0), ("in-app", statistics?.inApp ?? 0),
      ("pip", statistics?.pictureInPicture ?? 0), ("replaced", statistics?.replaced ?? 0),
      ("processed-out", (chain?.dropped ?? 0) + (chain?.failed ?? 0)),
      ("skipped", skippedCount.load(ordering: .relaxed)), ("freezes", statistics?.freezeCount ?? 0),
      ("freeze-time", UInt64(clamping: statistics?.freezeDuration.wholeNanoseconds ?? 0)),
      ("screen-latency", screenLatency(50)), ("screen-latency-p99", screenLatency(99)),
      ("missed-refreshes", statistics?.missedRefreshes ?? 0),
      ("drawn-by-opengl", statistics?.drawnByOpenGL ?? 0),
      ("drawn-by-display-server", statistics?.drawnByDisplayServer ?? 0),
    ]
    for (name, count) in counts { ElementValue.unsigned(count).set(name, in: structure) }
    return structure
  }
}

extension UnsafeMutablePointer<GstEvent> {
  /// The title in a tag event; nil where it has none.
  fileprivate var title: String? {
    var tags: UnsafeMutablePointer<GstTagList>?
    gst_event_parse_tag(self, &tags)
    var text: UnsafeMutablePointer<gchar>?
    guard let tags, gst_tag_list_get_string(tags, "title", &text) != 0, let text else { return nil }
    defer { g_free(text) }
    return String(cString: text)
  }
}
