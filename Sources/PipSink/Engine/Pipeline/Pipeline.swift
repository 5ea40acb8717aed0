import CGStreamer

/// Owns one GstPipeline and knows its streams. In `deinit`, it brings the pipeline to state NULL and releases it.
///
/// `@unchecked Sendable`: GStreamer's functions for elements are thread-safe, and the fields are constant after `init`.
final class Pipeline: @unchecked Sendable {
  /// One stream of the pipeline.
  struct Stream {
    let id: StreamID
    /// The stream's appsink or other sink. It is borrowed from the pipeline object, which keeps it even after
    /// ``isolate(_:)`` has removed it from the GstPipeline.
    let sink: GstElementPointer
    let flow = StreamFlow()
    let keyframeRequests = KeyframeRequests()

    /// Whether the sink has a frame whose time has not come.
    var isWaiting: Bool {
      guard let pad = gst_element_get_static_pad(sink, "sink") else { return false }
      defer { gst_object_unref(pad) }
      return pad.isOccupied
    }

    /// Whether nothing more comes, unless a seek brings it.
    var isAtEnd: Bool {
      guard let pad = gst_element_get_static_pad(sink, "sink") else { return false }
      defer { gst_object_unref(pad) }
      return pad.pointee.object.flags & GST_PAD_FLAG_EOS.rawValue != 0
    }

    /// Whether all that has come is one picture without an end, as a file with a photograph has. It stays.
    var isStillPicture: Bool {
      guard flow.delivered.load(ordering: .relaxed) == 1, sink.isA(gst_base_sink_get_type()) else { return false }
      let base = UnsafeMutableRawPointer(sink).assumingMemoryBound(to: GstBaseSink.self)
      guard let sample = gst_base_sink_get_last_sample(base) else { return false }
      defer { gst_sample_unref(sample) }
      guard let buffer = gst_sample_get_buffer(sample), let caps = gst_sample_get_caps(sample) else { return false }
      var rate: (numerator: gint, denominator: gint) = (0, 1)
      gst_structure_get_fraction(gst_caps_get_structure(caps, 0), "framerate", &rate.numerator, &rate.denominator)
      return buffer.pointee.duration == .max && rate.numerator == 0
    }
  }

  let element: GstElementPointer
  /// The streams, in the order of the description.
  private(set) var streams: [Stream]
  /// The pipeline's direct children at the start, each with a reference.
  let elements: [GstElementPointer]
  /// The elements that threads of their own are opening or closing, and which must not be asked for another state
  /// meanwhile. The value says whether such an element has been removed from the pipeline.
  private let changing = Locked<[UInt: Bool]>([:])

  /// Parses a description and makes its pipeline, in state NULL.
  ///
  /// - Parameters:
  ///   - description: the pipeline, with at least one stream.
  ///   - streamID: the ID of the only stream, which replaces its name in the description; nil to use the names there.
  /// - Throws: the parser's errors; ``PipSinkError/Pipeline/noStreams``,
  ///   ``PipSinkError/Pipeline/unnamedStream(element:)``, ``PipSinkError/Stream/duplicate(_:)``,
  ///   ``PipSinkError/Pipeline/unlinkedStream(_:)``, ``PipSinkError/Stream/unsupportedCaps(streamID:caps:)``,
  ///   ``PipSinkError/System/resourceExhausted(_:inUse:limit:)``; and, with a `streamID`,
  ///   ``PipSinkError/Pipeline/notOneStream(_:)``.
  init(_ description: PipelineDescription, as streamID: StreamID? = nil) throws(PipSinkError) {
    try PipSink.initialize()
    try ResourceLimits.check()
    element = try PipelineParser.parse(description)
    let bin = element.asBin
    // A bin lists its newest child first.
    elements = collectObjects(gst_bin_iterate_elements(bin), as: GstElement.self).reversed()
    // The sinks are borrowed: the pipeline retains them.
    let sinks: [GstElementPointer] = withObjects(gst_bin_iterate_recurse(bin), as: GstElement.self) { elements in
      elements.reversed().filter { $0.isA(gst_app_sink_get_type()) || StreamElement.of($0) != nil }
    }
    let captionSinks = sinks.filter(CaptionSink.isOne)
    streams = sinks.filter { !captionSinks.contains($0) }.map(Self.stream)
    let names = description.elementNames
    if streams.count == 1, isUnnamed(streams[0], names) {
      streams = [Stream(id: streamID ?? Self.onlyStreamID, sink: streams[0].sink)]
    }
    let owned = captionSinks.filter { !streams.isEmpty && owner(of: $0) != nil }
    // A text that belongs to no stream, or to several, is refused like a stream of text.
    streams += captionSinks.filter { !owned.contains($0) }.map(Self.stream)
    try validate(names)
    for sink in owned {
      let stream = Self.stream(of: sink)
      guard canGetFrames(stream) else { throw .pipeline(.unlinkedStream(stream.id)) }
      CaptionSink.prepare(sink)
    }
    guard let streamID else { return }
    guard streams.count == 1 else { throw .pipeline(.notOneStream(streams.map(\.id))) }
    streams = [Stream(id: streamID, sink: streams[0].sink)]
  }

  private static func stream(of sink: GstElementPointer) -> Stream {
    Stream(id: StreamElement.of(sink)?.streamID(sink) ?? StreamID(sink.elementName), sink: sink)
  }

  deinit {
    // If the pipeline has run, its run has already brought it to NULL on its thread, so this does not block.
    gst_element_set_state(element, GST_STATE_NULL)
    for element in elements {
      // An isolated element has already been brought to NULL.
      gst_object_unref(element)
    }
    gst_object_unref(element)
  }

  /// Requests a state of the pipeline. After state NULL, its streaming threads have ended. Called on its run's thread,
  /// which it may block.
  @discardableResult
  func setState(_ wanted: GstState) -> GstStateChangeReturn { gst_element_set_state(element, wanted) }

  /// Opens or closes the device or the connection of an element (state READY or NULL), on a thread of its own, because
  /// that may block for any time. An element that is removed meanwhile counts as a blocked pipeline until it is closed.
  ///
  /// - Returns: whether the element has changed, once that is known.
  func change(_ element: GstElementPointer, to state: GstState) -> Completion<Bool> {
    let (key, result) = (UInt(bitPattern: element), Completion<Bool>())
    gst_object_ref(element)
    changing.withLock { $0[key] = false }
    let thread = WorkerThread(name: "pipsink-sound") { [changing] in
      guard let element = GstElementPointer(bitPattern: key) else { return }
      let hasChanged = gst_element_set_state(element, state) != GST_STATE_CHANGE_FAILURE
      let isRemoved = changing.withLock { $0.removeValue(forKey: key) } == true
      if isRemoved {
        gst_element_set_state(element, GST_STATE_NULL)
        blockedPipelines.withLock { $0 -= 1 }
      }
      gst_object_unref(element)
      result.complete(hasChanged)
    }
    // Without a thread, the pipeline changes the element itself.
    if thread == nil {
      changing.withLock { $0[key] = nil }
      gst_object_unref(element)
      result.complete(true)
    }
    return result
  }

  /// The current state; nil during a change to another state. Does not wait.
  var reachedState: GstState? {
    var state = GST_STATE_NULL
    switch gst_element_get_state(element, &state, nil, 0) {
    case GST_STATE_CHANGE_SUCCESS, GST_STATE_CHANGE_NO_PREROLL: return state
    default: return nil
    }
  }

  /// The stream whose end a message reports; nil for every other message.
  func endedStream(_ message: UnsafeMutablePointer<GstMessage>) -> Stream? {
    guard BusNote.streamEnded.isIn(message) else { return nil }
    return streams.first { $0.sink.asObject == message.pointee.src }
  }

  func stream(_ id: StreamID) -> Stream? {
    streams.first { $0.id == id }
  }

  /// The ID of a pipeline's only stream when it has no name.
  private static let onlyStreamID: StreamID = "stream"

  /// Whether a stream has only the name that GStreamer generates from the element's factory and a number.
  private func isUnnamed(_ stream: Stream, _ names: [String]) -> Bool {
    let (name, factory) = (stream.id.rawValue, "appsink")
    let isMadeUp =
      name.beginsWithBytes(of: factory)
      && name.utf8.dropFirst(factory.utf8.count).allSatisfy { (0x30...0x39).contains($0) }
    return name.isEmpty || isMadeUp && !names.contains(name)
  }

  /// Checks the names, links and caps of the streams.
  ///
  /// - Parameter names: the names in the description.
  private func validate(_ names: [String]) throws(PipSinkError) {
    if let id = PipelineParser.firstDuplicate(names.map { StreamID($0) }), stream(id) != nil {
      throw .stream(.duplicate(id))
    }
    // GStreamer allows elements in different bins to have the same name.
    if let id = PipelineParser.firstDuplicate(streams.map(\.id)) { throw .stream(.duplicate(id)) }
    guard !streams.isEmpty else { throw .pipeline(.noStreams) }
    for stream in streams {
      if isUnnamed(stream, names) { throw .pipeline(.unnamedStream(element: stream.id.rawValue)) }
      guard canGetFrames(stream) else { throw .pipeline(.unlinkedStream(stream.id)) }
      try restrictCaps(of: stream)
    }
  }

  /// Restricts the stream's caps to formats that PipSink supports and the description allows, and checks early whether
  /// there are any.
  private func restrictCaps(of stream: Stream) throws(PipSinkError) {
    // Elements other than appsink restrict their caps themselves.
    guard stream.sink.isA(gst_app_sink_get_type()) else { return }
    let supported = StreamCaps.supported
    defer { gst_caps_unref(supported) }
    let appsink = UnsafeMutableRawPointer(stream.sink).assumingMemoryBound(to: GstAppSink.self)
    let wanted: UnsafeMutablePointer<GstCaps> = gst_app_sink_get_caps(appsink) ?? gst_caps_new_any()
    defer { gst_caps_unref(wanted) }
    let allowed: UnsafeMutablePointer<GstCaps> = gst_caps_intersect(wanted, supported)
    defer { gst_caps_unref(allowed) }
    guard gst_caps_is_empty(allowed) == 0 else {
      throw .stream(.unsupportedCaps(streamID: stream.id, caps: shortDescription(of: wanted)))
    }
    gst_app_sink_set_caps(appsink, allowed)
    if let error = misfit(of: stream) { throw error }
  }
}

// MARK: - Which streams depend on an element

extension Pipeline {
  /// The streams that get no more data when `source` fails; none if it is on no stream's path.
  ///
  /// - Parameter source: an element, an element inside of a bin, or the pipeline itself.
  func streams(dependingOn source: UnsafeMutablePointer<GstObject>) -> [Stream] {
    if source == element.asObject { return streams }
    guard let top = topLevelElement(of: source) else { return [] }
    return streams.filter { upstreamElements(of: $0.sink).contains(top) }
  }

  /// Whether `object` is in the pipeline and has not been isolated.
  func contains(_ object: UnsafeMutablePointer<GstObject>) -> Bool {
    object.isInside(element)
  }

  /// Removes the elements that only `failed` streams need from the pipeline, so that the others neither wait for their
  /// preroll nor stop with them. Must not be called on a streaming thread.
  func isolate(_ failed: [Stream]) {
    let healthy = streams.filter { stream in !failed.contains { $0.id == stream.id } }
    let needed = healthy.map(\.sink)
    let lost = Set(failed.map(\.sink).flatMap(upstreamElements)).subtracting(needed.flatMap(upstreamElements))
    // Branches such as their sound would wait for data for ever, and the other streams would wait for these branches.
    let orphans = ends.map(upstreamElements).filter { branch in
      !branch.isDisjoint(with: lost) && branch.isDisjoint(with: needed.flatMap(upstreamElements))
    }
    remove(orphans.reduce(lost) { $0.union($1) }, neededFor: needed)
  }

  /// Removes elements from the pipeline, except those that other elements need. Must not be called on a streaming
  /// thread.
  ///
  /// - Parameters:
  ///   - unwanted: the elements to remove.
  ///   - others: elements that stay, with everything upstream of them.
  func remove(_ unwanted: Set<GstElementPointer>, neededFor others: [GstElementPointer]) {
    let children = unwanted.subtracting(others.flatMap(upstreamElements))
      .filter { gst_object_has_as_parent($0.asObject, element.asObject) != 0 }
      // Sinks are stopped first, since a source's thread may be waiting in one.
      .map { (element: $0, position: upstreamElements(of: $0).count) }
      .sorted { $0.position > $1.position }
    cutOff(children.map(\.element))
    for (child, _) in children {
      gst_element_set_locked_state(child, 1)
      let isChanging = changing.withLock { changing in
        guard changing[UInt(bitPattern: child)] == false else { return false }
        changing[UInt(bitPattern: child)] = true
        blockedPipelines.withLock { $0 += 1 }
        return true
      }
      if !isChanging { gst_element_set_state(child, GST_STATE_NULL) }
    }
    for (child, _) in children { gst_bin_remove(element.asBin, child) }
  }

  /// Unlinks elements from those that stay, between two buffers. A tee goes on when one of its pads is not linked, but
  /// it stops, and with it its source, when an element behind it stops.
  private func cutOff(_ unwanted: [GstElementPointer]) {
    let links = unwanted.flatMap { child in
      child.withSinkPads { pads in
        pads.compactMap { pad -> LinkCutter? in
          guard let peer = gst_pad_get_peer(pad) else { return nil }
          guard let before = topLevelElement(of: peer.asObject), !unwanted.contains(before) else {
            gst_object_unref(peer)
            return nil
          }
          return LinkCutter(peer)
        }
      }
    }
    // A thread that waits in the branch, for instance in a full queue, returns only when the branch stops.
    let deadline = MonotonicTime.now.advanced(by: .milliseconds(250))
    for link in links { link.wait(until: deadline) }
  }

  /// The pipeline's direct children upstream of an element, including the child that is the element or contains it.
  func upstreamElements(of end: GstElementPointer) -> Set<GstElementPointer> {
    var found: Set<GstElementPointer> = []
    var open = [topLevelElement(of: end.asObject)].compactMap(\.self)
    while let next = open.popLast() {
      guard found.insert(next).inserted else { continue }
      open += next.withSinkPads { pads in
        pads.compactMap { pad -> GstElementPointer? in
          // The pad is not linked yet: the link waits for a pad that an earlier element of the description will add.
          guard let peer = gst_pad_get_peer(pad) else { return latecomer(before: next) }
          defer { gst_object_unref(peer) }
          // The parser removes a filter that no pad suits.
          return topLevelElement(of: peer.asObject) ?? latecomer(before: next)
        }
      }
    }
    return found
  }

  /// Whether the stream has a source, or will have one when delayed links are made.
  private func canGetFrames(_ stream: Stream) -> Bool {
    upstreamElements(of: stream.sink).contains { element in
      element.pointee.numsinkpads == 0 && element != topLevelElement(of: stream.sink.asObject)
    }
  }

  /// The last element before `element` in the description that adds source pads while it runs, such as a decodebin.
  func latecomer(before element: GstElementPointer) -> GstElementPointer? {
    guard let index = place(of: element) else { return nil }
    return elements[..<index].last(where: \.addsSourcePadsLater)
  }

  /// The place in the description of one of the pipeline's direct children. The parser's filter for a delayed link with
  /// caps has the place of the element after it: while the parser tries the pads of a demuxer one after the other, such a
  /// filter is for a moment linked to that element alone.
  private func place(of element: GstElementPointer) -> Int? {
    if let index = elements.firstIndex(of: element) { return index }
    return withObjects(gst_element_iterate_src_pads(element), as: GstPad.self) { pads in
      for pad in pads {
        guard let peer = gst_pad_get_peer(pad) else { continue }
        defer { gst_object_unref(peer) }
        if let index = elements.firstIndex(where: { peer.asObject.isInside($0) }) { return index }
      }
      return nil
    }
  }

  /// The pipeline's direct child that is `object` or contains it.
  func topLevelElement(of object: UnsafeMutablePointer<GstObject>) -> GstElementPointer? {
    elements.first { object.isInside($0) }
      // The parser adds a filter to a link with caps that is made while the pipeline runs.
      ?? withObjects(gst_bin_iterate_elements(element.asBin), as: GstElement.self) { children in
        children.first { object.isInside($0) }
      }
  }
}
