import CGStreamer

/// The GObject class of an engine's appsinks. It is derived from GstAppSink, but passes each buffer directly to the
/// stream, on the streaming thread.
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
        object, "pipsink-stream-sink", context,
        { context in if let context { Unmanaged<StreamSink>.fromOpaque(context).release() } })
    }
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
    // The frame of the preroll is rendered later, too.
    sinkClass.pointee.preroll = { _, _ in GST_FLOW_OK }
    sinkClass.pointee.event = { sink, event in
      guard let sink, let event else { return 0 }
      let type = event.pointee.type
      if type.isSerialized { StreamSinkClass.withStream(of: sink) { $0.note(event) } }
      if type == GST_EVENT_EOS {
        BusNote.streamEnded.post(from: UnsafeMutableRawPointer(sink).assumingMemoryBound(to: GstElement.self))
      }
      // GstAppSink's own handler is skipped, since it would put the event into its queue.
      return StreamSinkClass.sinkClass(gst_base_sink_get_type())?.pointee.event(sink, event) ?? 0
    }
    sinkClass.pointee.query = { sink, query in
      guard let sink, let query else { return 0 }
      if StreamSinkClass.withStream(of: sink, { $0.answer(query, on: sink.pointee.sinkpad) }) { return 1 }
      return StreamSinkClass.sinkClass(gst_app_sink_get_type())?.pointee.query(sink, query) ?? 0
    }
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
