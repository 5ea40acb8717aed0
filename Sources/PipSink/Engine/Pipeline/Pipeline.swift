import CGStreamer

/// Owns one GstPipeline and knows its streams. Brings it to NULL and lets it go in `deinit`.
///
/// `@unchecked Sendable`: GStreamer's element calls lock for themselves, and the fields are constant from `init` on.
final class Pipeline: @unchecked Sendable {
  struct Stream {
    let id: StreamID
    /// Borrowed from the pipeline, which keeps it until it is dropped, also when it was taken out by ``isolate(_:)``.
    let sink: GstElementPointer
    let flow = StreamFlow()
  }

  let element: GstElementPointer
  /// In the order of the description.
  private(set) var streams: [Stream]
  /// The pipeline's direct children.
  let elements: [GstElementPointer]

  /// - Parameter streamID: what its only stream is called, whatever the description calls it; nil for all names in it.
  /// - Throws: the parser's errors; ``PipSinkError/Pipeline/noStreams``,
  ///   ``PipSinkError/Pipeline/unnamedStream(element:)``, ``PipSinkError/Stream/duplicate(_:)``,
  ///   ``PipSinkError/Pipeline/unlinkedStream(_:)``, ``PipSinkError/Stream/unsupportedCaps(streamID:caps:)``,
  ///   ``PipSinkError/System/resourceExhausted(_:inUse:limit:)``; with a `streamID` also
  ///   ``PipSinkError/Pipeline/notOneStream(_:)``.
  init(_ description: PipelineDescription, as streamID: StreamID? = nil) throws(PipSinkError) {
    try PipSink.initialize()
    try ResourceLimits.check()
    element = try PipelineParser.parse(description)
    let bin = element.asBin
    // A bin lists its newest child first.
    elements = collectObjects(gst_bin_iterate_elements(bin), as: GstElement.self).reversed()
    // The pipeline keeps them; this list only borrows.
    let sinks: [GstElementPointer] = withObjects(gst_bin_iterate_recurse(bin), as: GstElement.self) { elements in
      elements.reversed().filter { $0.isA(gst_app_sink_get_type()) || StreamElement.of($0) != nil }
    }
    streams = sinks.map { Stream(id: StreamElement.of($0)?.streamID($0) ?? StreamID($0.elementName), sink: $0) }
    let names = description.elementNames
    if let sink = sinks.first, sinks.count == 1, isUnnamed(streams[0], names) {
      streams = [Stream(id: streamID ?? Self.onlyStreamID, sink: sink)]
    }
    try validate(names)
    guard let streamID else { return }
    guard streams.count == 1 else { throw .pipeline(.notOneStream(streams.map(\.id))) }
    streams = [Stream(id: streamID, sink: streams[0].sink)]
  }

  deinit {
    // Where it has run, its run has closed it on its own thread; so this waits for nothing.
    gst_element_set_state(element, GST_STATE_NULL)
    for element in elements {
      // One that was isolated has been brought to NULL already.
      gst_object_unref(element)
    }
    gst_object_unref(element)
  }

  /// Brings it to a state; to NULL for good, and then its streaming threads are gone. On the thread of its run.
  @discardableResult
  func settle(_ wanted: GstState) -> GstStateChangeReturn { gst_element_set_state(element, wanted) }

  /// The state that it has come to; nil while it is on its way to another. Waits for nothing.
  var settledState: GstState? {
    var state = GST_STATE_NULL
    switch gst_element_get_state(element, &state, nil, 0) {
    case GST_STATE_CHANGE_SUCCESS, GST_STATE_CHANGE_NO_PREROLL: return state
    default: return nil
    }
  }

  /// The stream whose end a message tells; nil for every other message.
  func endedStream(_ message: UnsafeMutablePointer<GstMessage>) -> StreamID? {
    guard BusNote.streamEnded.isIn(message) else { return nil }
    return streams.first { $0.sink.asObject == message.pointee.src }?.id
  }

  func stream(_ id: StreamID) -> Stream? {
    streams.first { $0.id == id }
  }

  /// Of a stream that is alone and has no name.
  private static let onlyStreamID: StreamID = "stream"

  /// Whether a stream has no name but the one that GStreamer makes up, of the element's factory and a number.
  private func isUnnamed(_ stream: Stream, _ names: [String]) -> Bool {
    let (name, factory) = (stream.id.rawValue, "appsink")
    let isMadeUp =
      name.beginsWithBytes(of: factory)
      && name.utf8.dropFirst(factory.utf8.count).allSatisfy { (0x30...0x39).contains($0) }
    return name.isEmpty || isMadeUp && !names.contains(name)
  }

  /// - Parameter names: those that the description gives.
  private func validate(_ names: [String]) throws(PipSinkError) {
    if let id = PipelineParser.firstDuplicate(names.map { StreamID($0) }), stream(id) != nil {
      throw .stream(.duplicate(id))
    }
    // In bins inside of the pipeline, a name may come twice without GStreamer's minding.
    if let id = PipelineParser.firstDuplicate(streams.map(\.id)) { throw .stream(.duplicate(id)) }
    guard !streams.isEmpty else { throw .pipeline(.noStreams) }
    for stream in streams {
      if isUnnamed(stream, names) { throw .pipeline(.unnamedStream(element: stream.id.rawValue)) }
      guard canGetFrames(stream) else { throw .pipeline(.unlinkedStream(stream.id)) }
      try restrictCaps(of: stream)
    }
  }

  /// Lets upstream negotiate only what PipSink takes, within what the description asked for, and finds out early when
  /// that leaves nothing.
  private func restrictCaps(of stream: Stream) throws(PipSinkError) {
    // Other elements have caps of their own.
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
  /// The streams that get nothing any more when `source` fails: an element, one inside of a bin, or the pipeline
  /// itself. None when it is on no stream's way.
  func streams(dependingOn source: UnsafeMutablePointer<GstObject>) -> [Stream] {
    if source == element.asObject { return streams }
    guard let top = topLevelElement(of: source) else { return [] }
    return streams.filter { upstreamElements(of: $0.sink).contains(top) }
  }

  /// Whether `object` is in the pipeline, and has not been isolated.
  func contains(_ object: UnsafeMutablePointer<GstObject>) -> Bool {
    object.isInside(element)
  }

  /// Takes what only `failed` streams need out of the pipeline, so that the others neither wait for them to preroll nor
  /// stop with them. Not on a streaming thread.
  func isolate(_ failed: [Stream]) {
    let healthy = streams.filter { stream in !failed.contains { $0.id == stream.id } }
    let needed = healthy.map(\.sink)
    let lost = Set(failed.map(\.sink).flatMap(upstreamElements)).subtracting(needed.flatMap(upstreamElements))
    // Their sound, for instance, would wait for data for ever, and the others for it.
    let orphans = ends.map(upstreamElements).filter { branch in
      !branch.isDisjoint(with: lost) && branch.isDisjoint(with: needed.flatMap(upstreamElements))
    }
    remove(orphans.reduce(lost) { $0.union($1) }, neededFor: needed)
  }

  /// Takes elements out of the pipeline, but for those on the way to elements that stay. Not on a streaming thread.
  func remove(_ unwanted: Set<GstElementPointer>, neededFor others: [GstElementPointer]) {
    let children = unwanted.subtracting(others.flatMap(upstreamElements))
      .filter { gst_object_has_as_parent($0.asObject, element.asObject) != 0 }
      // Sinks first: a source's thread may be waiting in one.
      .map { (element: $0, position: upstreamElements(of: $0).count) }
      .sorted { $0.position > $1.position }
    cutOff(children.map(\.element))
    for (child, _) in children {
      gst_element_set_locked_state(child, 1)
      gst_element_set_state(child, GST_STATE_NULL)
    }
    for (child, _) in children { gst_bin_remove(element.asBin, child) }
  }

  /// Unlinks elements from those that stay, between two buffers. What is pushed there meets no link then, with which a
  /// tee goes on, and not an element that stops, with which a tee and its source stop, too.
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
    // A thread that waits in the branch, in a full queue for instance, is let go only when the branch stops.
    let deadline = MonotonicTime.now.advanced(by: .milliseconds(250))
    for link in links { link.wait(until: deadline) }
  }

  /// The pipeline's direct children on the way to an element, the one that it is or is in included.
  func upstreamElements(of end: GstElementPointer) -> Set<GstElementPointer> {
    var found: Set<GstElementPointer> = []
    var open = [topLevelElement(of: end.asObject)].compactMap(\.self)
    while let next = open.popLast() {
      guard found.insert(next).inserted else { continue }
      open += next.withSinkPads { pads in
        pads.compactMap { pad -> GstElementPointer? in
          // Not linked yet: the link waits for a pad that an element written before this one will add.
          guard let peer = gst_pad_get_peer(pad) else { return latecomer(before: next) }
          defer { gst_object_unref(peer) }
          return topLevelElement(of: peer.asObject)
        }
      }
    }
    return found
  }

  /// Whether something feeds the stream, or will once it adds its pads.
  private func canGetFrames(_ stream: Stream) -> Bool {
    upstreamElements(of: stream.sink).contains { element in
      element.pointee.numsinkpads == 0 && element != topLevelElement(of: stream.sink.asObject)
    }
  }

  /// The last element before `element` in the description that adds source pads while it runs, such as a decodebin.
  func latecomer(before element: GstElementPointer) -> GstElementPointer? {
    guard let index = elements.firstIndex(of: element) else { return nil }
    return elements[..<index].last(where: \.addsSourcePadsLater)
  }

  func topLevelElement(of object: UnsafeMutablePointer<GstObject>) -> GstElementPointer? {
    elements.first { object.isInside($0) }
  }
}
