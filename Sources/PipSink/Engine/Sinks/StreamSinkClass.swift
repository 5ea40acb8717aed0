import CGStreamer

/// The class that an engine's appsinks are of: GstAppSink, but each buffer goes straight to the stream, on the
/// streaming thread.
///
/// GstAppSink itself puts every buffer, and every event between them, into a queue for the app, behind a lock, and from
/// there into a GstSample. An engine takes each one at once, so that is a seventh of a frame's cost for nothing; and
/// while a stream has no frames (in the background), its events pile up.
///
/// A description says `appsink`, so the elements are GstAppSink's when the engine gets them. They are the same after
/// that, with the same properties: a class of our own, derived from theirs and with nothing added, takes its place in
/// the instance before it is started.
enum StreamSinkClass {
  /// Makes an appsink that has not been started deliver to `sink`, which it owns from here on.
  static func adopt(_ appsink: UnsafeMutablePointer<GstElement>, deliveringTo sink: StreamSink) {
    let context = Unmanaged.passRetained(sink).toOpaque()
    appsink.withMemoryRebound(to: GObject.self, capacity: 1) { object in
      g_object_set_data_full(
        object, "pipsink-stream-sink", context,
        { context in if let context { Unmanaged<StreamSink>.fromOpaque(context).release() } })
    }
    appsink.withMemoryRebound(to: GstBaseSink.self, capacity: 1) { sink in
      // A place for the class of the pad's element.
      gst_pad_set_element_private(sink.pointee.sinkpad, context)
      let old = sink.pointee.element.object.object.g_type_instance.g_class
      let new = g_type_class_ref(type(derivedFrom: old!.pointee.g_type))
      sink.pointee.element.object.object.g_type_instance.g_class = new?.assumingMemoryBound(to: GTypeClass.self)
      // Every instance has a reference to its class.
      g_type_class_unref(old)
    }
  }

  private static let types = Locked<[GType: GType]>([:])

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
    // A class has its own, and its parent's is what the element was made by.
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
    // The frame comes to be rendered, too.
    sinkClass.pointee.preroll = { _, _ in GST_FLOW_OK }
    sinkClass.pointee.event = { sink, event in
      guard let sink, let event else { return 0 }
      let type = event.pointee.type
      if type.isSerialized { StreamSinkClass.withStream(of: sink) { $0.note(event) } }
      if type == GST_EVENT_EOS {
        BusNote.streamEnded.post(from: UnsafeMutableRawPointer(sink).assumingMemoryBound(to: GstElement.self))
      }
      // Not GstAppSink's own, which puts what it sees into its queue.
      return StreamSinkClass.sinkClass(gst_base_sink_get_type())?.pointee.event(sink, event) ?? 0
    }
    sinkClass.pointee.query = { sink, query in
      guard let sink, let query else { return 0 }
      if StreamSinkClass.withStream(of: sink, { $0.answer(query, on: sink.pointee.sinkpad) }) { return 1 }
      return StreamSinkClass.sinkClass(gst_app_sink_get_type())?.pointee.query(sink, query) ?? 0
    }
  }

  /// A class lives as long as one derived from it.
  private static func sinkClass(_ type: GType) -> UnsafeMutablePointer<GstBaseSinkClass>? {
    g_type_class_peek(type)?.assumingMemoryBound(to: GstBaseSinkClass.self)
  }

  /// The appsink owns the stream, so that no frame need keep it.
  @inline(__always)
  private static func withStream<Result>(
    of sink: UnsafeMutablePointer<GstBaseSink>, _ body: (StreamSink) -> Result
  ) -> Result {
    Unmanaged<StreamSink>.fromOpaque(sink.pointee.sinkpad.pointee.element_private)._withUnsafeGuaranteedRef(body)
  }
}
