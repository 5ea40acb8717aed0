import CGStreamer
import PipSink
import Synchronization

/// The Swift state of one `pipsinkfilter` element, which lives as long as the element.
///
/// `@unchecked Sendable`: what is not behind a lock is used on the streaming thread, of which the pad has one at a
/// time, or while there is no streaming thread (`start`, `stop`).
final class FilterState: @unchecked Sendable {
  private struct Settings {
    /// The names of processors, with their arguments: "grayscale,rotate:90".
    var process: String?
    var isStarted = false
    /// The processors to use from the next frame on, with their names; nil for no change.
    var next: (names: String, processors: [any FrameProcessor])?
  }

  let reference: ElementReference
  private let settings = Locked(Settings())
  /// Whether there are other processors for the next frame. The streaming thread reads it for every frame without
  /// taking the lock.
  private let hasNext = Atomic(false)
  /// How caps change. Every thread that queries a pad's caps reads it; only the streaming thread changes it, or any
  /// thread while there is none.
  private let format = Locked(FilterFormat())
  private let results = FilterResults()
  private let chain: ProcessorChain

  private var wrapper = SampleWrapper()
  private var tags = FilterTags()
  /// The names of the processors that are in use.
  private var names = ""
  private var isPassthrough = true
  /// Whether the elements downstream read the positions of planes from a GstVideoMeta.
  private var readsVideoMeta = false
  /// Whether the current frame is dropped.
  private(set) var isDropping = false
  /// What the processors have changed in the current frame.
  private(set) var outcome = FilterOutcome()
  private var reported: (failures: UInt64, error: PipSinkError?) = (0, nil)

  init(_ element: UnsafeMutableRawPointer) {
    reference = ElementReference(element)
    chain = ProcessorChain(next: results)
  }

  // MARK: - Properties

  var process: String? { settings.withLock { $0.process } }

  func set(process: String?) {
    do throws(PipSinkError) {
      let processors = try FrameProcessorRegistry.shared.makeProcessors(process ?? "")
      let isStarted = settings.withLock { settings in
        settings.process = process
        if settings.isStarted { settings.next = (process ?? "", processors) }
        return settings.isStarted
      }
      if isStarted {
        hasNext.store(true, ordering: .releasing)
      } else {
        format.withLock { $0.effects = processors.map(\.effect) }
      }
    } catch {
      let isStarted = settings.withLock { settings in
        settings.process = process
        return settings.isStarted
      }
      if isStarted { warn("The processors cannot be made.", error) }
    }
  }

  private func warn(
    _ text: String, _ error: PipSinkError, code: GstResourceError = GST_RESOURCE_ERROR_SETTINGS
  ) {
    reference.post(text, error.description, code: code, isWarning: true)
  }

  /// The statistics of the chain, in a structure that the caller owns.
  func makeStatistics() -> UnsafeMutablePointer<GstStructure>? {
    guard let structure = gst_structure_new_empty("application/x-pipsinkfilter-stats") else { return nil }
    let statistics = chain.statistics
    let counts = [("passed", statistics.passed), ("dropped", statistics.dropped), ("failed", statistics.failed)]
    for (name, count) in counts { ElementValue.unsigned(count).set(name, in: structure) }
    return structure
  }

  // MARK: - Start and stop

  func start(_ element: UnsafeMutablePointer<GstBaseTransform>) -> gboolean {
    let process = settings.withLock { settings in
      settings.isStarted = true
      return settings.process ?? ""
    }
    do throws(PipSinkError) {
      use(try FrameProcessorRegistry.shared.makeProcessors(process), process, in: element)
      return 1
    } catch {
      settings.withLock { $0.isStarted = false }
      reference.post("The frames cannot be processed.", error.description, code: GST_RESOURCE_ERROR_SETTINGS)
      return 0
    }
  }

  func stop() -> gboolean {
    settings.withLock { settings in
      settings.isStarted = false
      settings.next = nil
    }
    hasNext.store(false, ordering: .relaxed)
    // This frees the processors' pools, too.
    chain.processors = []
    wrapper = SampleWrapper()
    tags = FilterTags()
    format.withLock { format in
      format.orientation = .upright
      format.learned = nil
    }
    VideoFormatDescription.forgetUnused()
    return 1
  }

  private func use(
    _ processors: [any FrameProcessor], _ names: String, in element: UnsafeMutablePointer<GstBaseTransform>
  ) {
    // The elements downstream decide how many frames they keep, so the pools must not be limited.
    for case let pooling as any PoolingProcessor in processors { pooling.pool.removeLimit() }
    chain.processors = processors
    self.names = names
    isPassthrough = processors.isEmpty
    gst_base_transform_set_passthrough(element, isPassthrough ? 1 : 0)
    format.withLock { format in
      format.effects = processors.map(\.effect)
      format.learned = nil
    }
  }

  // MARK: - Negotiation

  /// Transforms caps of one pad to the caps that the other pad can have. The caller owns the result.
  func transform(
    _ caps: UnsafeMutablePointer<GstCaps>, from direction: GstPadDirection
  ) -> UnsafeMutablePointer<GstCaps>? {
    format.withLock { $0 }.transform(caps, from: direction)
  }

  func note(allocation query: UnsafeMutablePointer<GstQuery>) {
    readsVideoMeta = gst_query_find_allocation_meta(query, gst_video_meta_api_get_type(), nil) != 0
  }

  /// Starts to use the processors that were set since the last frame, unless the elements downstream do not accept
  /// their output.
  ///
  /// - Parameter caps: the caps of the next frames; nil for the current caps.
  func adoptProcessors(
    in element: UnsafeMutablePointer<GstBaseTransform>, for caps: UnsafeMutablePointer<GstCaps>? = nil
  ) {
    guard hasNext.load(ordering: .acquiring), hasNext.exchange(false, ordering: .acquiring) else { return }
    let next = settings.exchange(\.next, nil)
    guard let next else { return }
    let old = format.withLock { $0 }
    var new = old
    new.effects = next.processors.map(\.effect)
    new.learned = nil
    let current = caps.map { gst_caps_ref($0) } ?? gst_pad_get_current_caps(element.pointee.sinkpad)
    if let current {
      defer { gst_caps_unref(current) }
      let output = new.transform(current, from: GST_PAD_SINK)
      guard gst_caps_is_empty(output) == 0, gst_pad_peer_query_accept_caps(element.pointee.srcpad, output) != 0 else {
        return warnOfOutput(output, of: current, next.names)
      }
      gst_caps_unref(output)
    }
    let wasPassthrough = isPassthrough
    use(next.processors, next.names, in: element)
    // The elements downstream are asked again for their caps and for their allocation.
    if wasPassthrough != isPassthrough || old.effects != new.effects || old.learned != nil {
      gst_base_transform_reconfigure_src(element)
    }
  }

  /// - Parameters:
  ///   - output: the caps of the processors' output, which this consumes. They are empty when the processors cannot
  ///     process the input.
  ///   - input: the caps of the input frames.
  private func warnOfOutput(
    _ output: UnsafeMutablePointer<GstCaps>?, of input: UnsafeMutablePointer<GstCaps>, _ names: String
  ) {
    defer { gst_caps_unref(output) }
    let isEmpty = gst_caps_is_empty(output) != 0
    let caps = String(taking: gst_caps_to_string(isEmpty ? input : output)) ?? ""
    warn(
      "The processors cannot process the frames.",
      .frame(isEmpty ? .invalidCaps(caps) : .unacceptedOutput(processors: names, caps: caps)))
  }

  // MARK: - Events

  /// Handles an event from upstream, and takes ownership of it.
  func take(
    _ event: UnsafeMutablePointer<GstEvent>, in element: UnsafeMutablePointer<GstBaseTransform>
  ) -> gboolean {
    guard let parent = PipSinkFilterElement.parentTransformClass else { return 0 }
    if event.pointee.type.isSerialized { wrapper.note(event, on: element.pointee.sinkpad) }
    switch event.pointee.type {
    case GST_EVENT_STREAM_START:
      tags = FilterTags()
      format.withLock { $0.orientation = .upright }
    case GST_EVENT_TAG:
      let orientation = wrapper.taggedOrientation
      let (becomesUpright, old) = format.withLock { format in
        defer { format.orientation = orientation }
        return (format.effects.contains { $0.orientationChange == .automatic }, format.orientation)
      }
      if becomesUpright, orientation != old { gst_base_transform_reconfigure_src(element) }
      return parent.pointee.sink_event(element, tags.note(event, replacing: becomesUpright ? .upright : nil))
    case GST_EVENT_CAPS:
      var caps: UnsafeMutablePointer<GstCaps>?
      gst_event_parse_caps(event, &caps)
      guard let caps else { break }
      // The caps must outlive the event, which the parent class consumes.
      gst_caps_ref(caps)
      defer { gst_caps_unref(caps) }
      format.withLock { $0.learned = nil }
      try? wrapper.setFormat(of: caps)
      adoptProcessors(in: element, for: caps)
      let isTaken = parent.pointee.sink_event(element, event)
      if isTaken == 0, !isPassthrough { warnOfOutput(transform(caps, from: GST_PAD_SINK), of: caps, names) }
      return isTaken
    default: break
    }
    return parent.pointee.sink_event(element, event)
  }

  // MARK: - Frames

  /// Produces the buffer that goes downstream in place of the input: the input itself, without another reference to it,
  /// or another buffer.
  func prepare(
    _ output: UnsafeMutablePointer<UnsafeMutablePointer<GstBuffer>?>, from input: UnsafeMutablePointer<GstBuffer>,
    in element: UnsafeMutablePointer<GstBaseTransform>
  ) -> GstFlowReturn {
    isDropping = false
    output.pointee = input
    guard !isPassthrough else {
      tags.send(nil, of: wrapper.taggedOrientation, on: element.pointee.srcpad)
      return GST_FLOW_OK
    }
    guard let format = wrapper.format else { return GST_FLOW_NOT_NEGOTIATED }
    let sample = wrapper.wrap(owning: gst_buffer_ref(input), format)
    let (orientation, timing) = (sample.orientation, sample.timing)
    chain.consume(consume sample)
    guard let result = results.take() else {
      isDropping = true
      warnOfFailure()
      return GST_FLOW_OK
    }
    guard negotiate(result.formatDescription, of: format, in: element) else { return GST_FLOW_NOT_NEGOTIATED }
    outcome.keepsOrientation = result.orientation == orientation
    tags.send(
      outcome.keepsOrientation ? nil : result.orientation, of: wrapper.taggedOrientation, on: element.pointee.srcpad)
    if result.pixelBuffer.buffer == input, result.timing == timing { return GST_FLOW_OK }
    return finish(consume result, output, from: input, in: element)
  }

  /// Makes sure that the elements downstream know the format of the output frame.
  private func negotiate(
    _ output: VideoFormatDescription, of input: VideoFormatDescription,
    in element: UnsafeMutablePointer<GstBaseTransform>
  ) -> Bool {
    let known = format.withLock { $0 }
    outcome.keepsPlaces = output.size == input.size && known.effects.allSatisfy { $0.orientationChange == .none }
    outcome.keepsColors = output.pixelFormat == input.pixelFormat
    if let expected = try? known.output(of: input), expected.looksLike(output) { return true }
    format.withLock { $0.learned = (input, output) }
    gst_base_transform_reconfigure_src(element)
    if gst_base_transform_reconfigure(element) != 0 { return true }
    warn(
      "The processors cannot process the frames.",
      .frame(.unacceptedOutput(processors: names, caps: output.capsDescription)))
    return false
  }

  private func finish(
    _ result: consuming SampleBuffer, _ output: UnsafeMutablePointer<UnsafeMutablePointer<GstBuffer>?>,
    from input: UnsafeMutablePointer<GstBuffer>, in element: UnsafeMutablePointer<GstBaseTransform>
  ) -> GstFlowReturn {
    guard let parent = PipSinkFilterElement.parentTransformClass else { return GST_FLOW_ERROR }
    let (timing, isInterlaced) = (result.timing, result.formatDescription.isInterlaced)
    let isInput = result.pixelBuffer.buffer == input
    if readsVideoMeta || result.pixelBuffer.isLaidOutByCaps {
      let buffer = UnsafeMutableRawPointer(gst_buffer_ref(result.pixelBuffer.buffer))
      // The new reference is usually the only one that is left.
      _ = consume result
      output.pointee = gst_mini_object_make_writable(buffer?.assumingMemoryBound(to: GstMiniObject.self)).map {
        UnsafeMutableRawPointer($0).assumingMemoryBound(to: GstBuffer.self)
      }
      // A copy of the input already has its metas.
      if !isInput, parent.pointee.copy_metadata(element, input, output.pointee) == 0 { return GST_FLOW_ERROR }
    } else {
      // The frame is copied into memory whose planes are where the elements downstream expect them.
      let flow = parent.pointee.prepare_output_buffer(element, input, output)
      guard flow == GST_FLOW_OK, let buffer = output.pointee else { return flow }
      do throws(PipSinkError) {
        try result.pixelBuffer.copy(into: buffer)
      } catch {
        isDropping = true
        warn("A frame cannot be processed and is left out.", error, code: GST_RESOURCE_ERROR_FAILED)
      }
    }
    guard let buffer = output.pointee else { return GST_FLOW_ERROR }
    buffer.pointee.pts = GstClockTime(timing.presentationTimeStamp.clockTime ?? UInt64(PIPSINK_CLOCK_TIME_NONE))
    buffer.pointee.dts = GstClockTime(timing.decodeTimeStamp.clockTime ?? UInt64(PIPSINK_CLOCK_TIME_NONE))
    buffer.pointee.duration = GstClockTime(timing.duration.clockTime ?? UInt64(PIPSINK_CLOCK_TIME_NONE))
    if !isInterlaced {
      let flags =
        GST_VIDEO_BUFFER_FLAG_INTERLACED.rawValue | GST_VIDEO_BUFFER_FLAG_TFF.rawValue
        | GST_VIDEO_BUFFER_FLAG_RFF.rawValue | GST_VIDEO_BUFFER_FLAG_ONEFIELD.rawValue
      buffer.pointee.mini_object.flags &= ~flags
    }
    return GST_FLOW_OK
  }

  /// Posts a warning with the reason why frames are dropped, once for each reason in a row.
  private func warnOfFailure() {
    let failures = chain.statistics.failed
    defer { reported.failures = failures }
    guard failures > reported.failures, let error = chain.error, error != reported.error else { return }
    reported.error = error
    warn("A frame cannot be processed and is left out.", error, code: GST_RESOURCE_ERROR_FAILED)
  }
}
