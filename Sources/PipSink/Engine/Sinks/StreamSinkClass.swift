import CGStreamer

/// The GObject class of an engine's appsinks. It is derived from GstAppSink, but passes each buffer directly to the
/// stream, on the streaming thread, and does otherwise what a GstVideoSink does.
///
/// GstAppSink itself puts every buffer, and every event between buffers, into a queue with a lock, and then into a
/// GstSample. An engine takes each buffer at once, so this would waste a seventh of a frame's cost; and while a stream
/// has no frames, in the background, its events would pile up.
///
/// A description says `appsink`, so the engine gets elements of the class GstAppSink. Before such an element is
/// started, the class pointer of the instance is replaced by this derived class, which adds no fields. The element
/// stays the same and keeps its properties.
enum StreamSinkClass {
  /// Makes an appsink that has not been started deliver its buffers to `sink`, which it owns from now on.
  static func adopt(_ appsink: UnsafeMutablePointer<GstElement>, deliveringTo sink: StreamSink) {
    let context = Unmanaged.passRetained(sink).toOpaque()
    appsink.withMemoryRebound(to: GObject.self, capacity: 1) { object in
      g_object_set_data_full(
        object, key, context,
        { context in if let context { Unmanaged<StreamSink>.fromOpaque(context).release() } })
    }
    followVideoSink(appsink)
    appsink.withMemoryRebound(to: GstBaseSink.self, capacity: 1) { sink in
      // The pad's private pointer is meant for the element's class, so it can refer to the stream without a look-up.
      gst_pad_set_element_private(sink.pointee.sinkpad, context)
      let old = sink.pointee.element.object.object.g_type_instance.g_class
      let new = g_type_class_ref(type(derivedFrom: old!.pointee.g_type))
      sink.pointee.element.object.object.g_type_instance.g_class = new?.assumingMemoryBound(to: GTypeClass.self)
      // Every instance holds a reference to its class.
      g_type_class_unref(old)
    }
  }

  private static let key = "pipsink-stream-sink"

  /// The stream of an element; nil for an element that is no appsink of an engine. The element owns it.
  static func stream(of element: UnsafeMutablePointer<GstElement>) -> StreamSink? {
    element.withMemoryRebound(to: GObject.self, capacity: 1) { g_object_get_data($0, key) }
      .map { Unmanaged<StreamSink>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Gives an appsink GstVideoSink's values of the properties by which late frames are dropped and upstream is told of
  /// them, except where a description has set another value than appsink's.
  private static func followVideoSink(_ appsink: UnsafeMutablePointer<GstElement>) {
    let `class` = UnsafeMutableRawPointer(appsink).load(as: UnsafeMutablePointer<GObjectClass>.self)
    let values = [("qos", "true"), ("max-lateness", "5000000"), ("processing-deadline", "15000000")]
    for (name, value) in values {
      guard let property = g_object_class_find_property(`class`, name) else { continue }
      if appsink.property(name, { g_param_value_defaults(property, &$0) }) != 0 {
        gst_util_set_object_arg(UnsafeMutableRawPointer(appsink).assumingMemoryBound(to: GObject.self), name, value)
      }
    }
  }

  private static let types = Locked<[GType: GType]>([:])

  /// The class derived from `parent`, which is GstAppSink or a class derived from that. It is registered once.
  private static func type(derivedFrom parent: GType) -> GType {
    types.withLock { types in
      if let type = types[parent] { return type }
      var query = GTypeQuery()
      g_type_query(parent, &query)
      let type = g_type_register_static_simple(
        parent, GObjectTypeName.unused("PipSinkAppSink"), query.class_size,
        { `class`, _ in StreamSinkClass.initialize(`class`) },
        query.instance_size, nil, GTypeFlags(rawValue: 0))
      types[parent] = type
      return type
    }
  }

  private static func initialize(_ class: UnsafeMutableRawPointer?) {
    guard let `class`, let parent = g_type_class_peek_parent(`class`) else { return }
    // The element was made by the factory of the parent class.
    `class`.assumingMemoryBound(to: GstElementClass.self).pointee.elementfactory =
      parent.assumingMemoryBound(to: GstElementClass.self).pointee.elementfactory
    let sinkClass = `class`.assumingMemoryBound(to: GstBaseSinkClass.self)
    sinkClass.pointee.render = { sink, buffer in
      guard let sink, let buffer else { return GST_FLOW_ERROR }
      return StreamSinkClass.withStream(of: sink) { $0.take(buffer) }
    }
    sinkClass.pointee.render_list = { sink, list in
      guard let sink, let list else { return GST_FLOW_ERROR }
      for index in 0..<gst_buffer_list_length(list) {
        let result = StreamSinkClass.withStream(of: sink) { $0.take(gst_buffer_list_get(list, index)) }
        guard result == GST_FLOW_OK else { return result }
      }
      return GST_FLOW_OK
    }
    sinkClass.pointee.preroll = { sink, buffer in
      guard let sink, let buffer else { return GST_FLOW_ERROR }
      return StreamSinkClass.withStream(of: sink) { $0.preroll(buffer) }
    }
    sinkClass.pointee.get_times = { sink, buffer, start, end in
      // GstBaseSink passes all four, twice for each frame.
      let (time, duration) = (buffer.unsafelyUnwrapped.pointee.pts, buffer.unsafelyUnwrapped.pointee.duration)
      start.unsafelyUnwrapped.pointee = time
      end.unsafelyUnwrapped.pointee = StreamSinkClass.end(from: time, duration, of: sink)
    }
    sinkClass.pointee.event = { sink, event in
      guard let sink, let event else { return 0 }
      if event.pointee.type.isSerialized {
        StreamSinkClass.withStream(of: sink) { $0.note(event, on: sink.pointee.sinkpad) }
      }
      // GstAppSink's own handler is skipped, since it would put the event into its queue.
      return StreamSinkClass.sinkClass(gst_base_sink_get_type())?.pointee.event(sink, event) ?? 0
    }
    // GstBaseSink's waits until the last picture has been shown for its time, and then tells the pipeline of the end.
    sinkClass.pointee.wait_event = { sink, event in
      guard let sink, let event, let base = StreamSinkClass.sinkClass(gst_base_sink_get_type()) else {
        return GST_FLOW_ERROR
      }
      let result = base.pointee.wait_event(sink, event)
      if result == GST_FLOW_OK, event.pointee.type == GST_EVENT_EOS {
        BusNote.streamEnded.post(from: UnsafeMutableRawPointer(sink).assumingMemoryBound(to: GstElement.self))
      }
      return result
    }
    sinkClass.pointee.query = { sink, query in
      guard let sink, let query else { return 0 }
      if StreamSinkClass.withStream(of: sink, { $0.answer(query, on: sink.pointee.sinkpad) }) { return 1 }
      return StreamSinkClass.sinkClass(gst_app_sink_get_type())?.pointee.query(sink, query) ?? 0
    }
  }

  /// The end of a frame's time. As in GstVideoSink, the frame rate says how long a frame without a duration is shown.
  @inline(__always)
  private static func end(
    from time: GstClockTime, _ duration: GstClockTime, of sink: UnsafeMutablePointer<GstBaseSink>?
  ) -> GstClockTime {
    let duration = duration == .max ? withStream(of: sink.unsafelyUnwrapped) { $0.frameDuration } : duration
    return time == .max || duration == .max ? .max : time &+ duration
  }

  /// The class structure of a type. It exists as long as a class that is derived from it.
  private static func sinkClass(_ type: GType) -> UnsafeMutablePointer<GstBaseSinkClass>? {
    g_type_class_peek(type)?.assumingMemoryBound(to: GstBaseSinkClass.self)
  }

  /// Calls `body` with the stream of an appsink. The appsink owns the stream, so no frame needs to retain it.
  @inline(__always)
  private static func withStream<Result>(
    of sink: UnsafeMutablePointer<GstBaseSink>, _ body: (StreamSink) -> Result
  ) -> Result {
    Unmanaged<StreamSink>.fromOpaque(sink.pointee.sinkpad.pointee.element_private)._withUnsafeGuaranteedRef(body)
  }
}
