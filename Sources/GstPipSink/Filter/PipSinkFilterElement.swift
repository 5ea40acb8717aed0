import CGStreamer
import PipSink

/// The element `pipsinkfilter`, a filter that runs a stream through PipSink's processors before it is encoded and sent:
///
///     gst-launch-1.0 videotestsrc ! pipsinkfilter process=grayscale,rotate:90 ! pipsink
///
/// This type registers its GType, which is derived from GstVideoFilter, and implements its virtual functions. The Swift
/// state of each element is a ``FilterState``.
///
/// GstVideoFilter's handling of frames is not used. Processors allocate the memory for their output themselves, and
/// often need none. So `prepare_output_buffer` returns their frames, and `transform` has nothing left to do.
enum PipSinkFilterElement {
  static let typeName = "GstPipSinkFilter"

  /// The type is registered once in a process, although a program may both link PipSink and load the plugin.
  static let type: GType = {
    let known = g_type_from_name(typeName)
    guard known == 0 else { return known }
    return g_type_register_static_simple(
      gst_video_filter_get_type(), typeName, states.size.class,
      { `class`, _ in PipSinkFilterElement.initialize(class: `class`) }, states.size.instance,
      { instance, _ in PipSinkFilterElement.initialize(instance: instance) }, GTypeFlags(rawValue: 0))
  }()

  private static let states = InstanceState<FilterState>(behind: gst_video_filter_get_type())

  static func state(of instance: UnsafeMutableRawPointer) -> FilterState { states.state(of: instance) }

  private static var parentClass: UnsafeMutableRawPointer? { states.parentClass }

  static var parentTransformClass: UnsafeMutablePointer<GstBaseTransformClass>? {
    parentClass?.assumingMemoryBound(to: GstBaseTransformClass.self)
  }

  // MARK: - Instances

  private static func initialize(instance: UnsafeMutablePointer<GTypeInstance>?) {
    guard let instance = UnsafeMutableRawPointer(instance) else { return }
    states.set(FilterState(instance), of: instance)
    gst_base_transform_set_passthrough(instance.assumingMemoryBound(to: GstBaseTransform.self), 1)
  }

  // MARK: - The class

  private static func initialize(class: UnsafeMutableRawPointer?) {
    guard let `class` else { return }
    let objectClass = `class`.assumingMemoryBound(to: GObjectClass.self)
    objectClass.pointee.finalize = { PipSinkFilterElement.states.finalize($0) }
    FilterProperty.install(on: objectClass)
    describe(`class`.assumingMemoryBound(to: GstElementClass.self))
    implement(`class`.assumingMemoryBound(to: GstBaseTransformClass.self))
  }

  private static func describe(_ elementClass: UnsafeMutablePointer<GstElementClass>) {
    gst_element_class_set_metadata(
      elementClass, "PipSink video filter", "Filter/Effect/Video",
      "Runs a stream through PipSink's processors before it is encoded and sent; passes buffers on without processors",
      "PipSink's authors")
    // The caps are the same with and without processors, so that processors may be set at any time.
    let caps = gst_caps_from_string(PipSinkElement.readableCaps)
    for (name, direction) in [("sink", GST_PAD_SINK), ("src", GST_PAD_SRC)] {
      gst_element_class_add_pad_template(elementClass, gst_pad_template_new(name, direction, GST_PAD_ALWAYS, caps))
    }
    gst_caps_unref(caps)
  }

  private static func implement(_ class: UnsafeMutablePointer<GstBaseTransformClass>) {
    `class`.pointee.start = { $0.map { PipSinkFilterElement.state(of: $0).start($0) } ?? 0 }
    `class`.pointee.stop = { $0.map { PipSinkFilterElement.state(of: $0).stop() } ?? 0 }
    // GstVideoFilter's `set_caps` would prepare the mapping of frames.
    `class`.pointee.set_caps = { _, _, _ in 1 }
    `class`.pointee.transform_caps = { element, direction, caps, filter in
      guard let element, let caps else { return nil }
      let result = PipSinkFilterElement.state(of: element).transform(caps, from: direction)
      guard let filter else { return result }
      defer { gst_caps_unref(result) }
      return gst_caps_intersect_full(filter, result, GST_CAPS_INTERSECT_FIRST)
    }
    `class`.pointee.sink_event = { element, event in
      guard let element, let event else { return 0 }
      return PipSinkFilterElement.state(of: element).take(event, in: element)
    }
    `class`.pointee.decide_allocation = { element, query in
      guard let element, let query, let parent = PipSinkFilterElement.parentTransformClass else { return 0 }
      PipSinkFilterElement.state(of: element).note(allocation: query)
      return parent.pointee.decide_allocation(element, query)
    }
    `class`.pointee.before_transform = { element, _ in
      if let element { PipSinkFilterElement.state(of: element).adoptProcessors(in: element) }
    }
    `class`.pointee.prepare_output_buffer = { element, input, output in
      guard let element, let input, let output else { return GST_FLOW_ERROR }
      return PipSinkFilterElement.state(of: element).prepare(output, from: input, in: element)
    }
    `class`.pointee.transform = { element, _, _ in
      guard let element else { return GST_FLOW_ERROR }
      // GST_BASE_TRANSFORM_FLOW_DROPPED is a macro with a cast.
      return PipSinkFilterElement.state(of: element).isDropping ? GST_FLOW_CUSTOM_SUCCESS : GST_FLOW_OK
    }
    `class`.pointee.transform_ip_on_passthrough = 0
    `class`.pointee.generate_output = { element, output in
      guard let element, let output, let parent = PipSinkFilterElement.parentTransformClass else {
        return GST_FLOW_ERROR
      }
      let result = parent.pointee.generate_output(element, output)
      guard result == GST_FLOW_CUSTOM_SUCCESS else { return result }
      // A frame that was dropped on purpose makes no gap, so the next frame is not marked as discontinuous.
      if let dropped = output.pointee { gst_buffer_unref(dropped) }
      output.pointee = nil
      return GST_FLOW_OK
    }
    `class`.pointee.transform_meta = { element, _, meta, _ in
      guard let element, let meta else { return 0 }
      return PipSinkFilterElement.state(of: element).outcome.keeps(meta) ? 1 : 0
    }
  }
}
