import CGStreamer
import PipSink

/// The element `pipsink`, a video sink that shows a stream in an app's window and in picture-in-picture:
///
///     gst-launch-1.0 videotestsrc ! pipsink stream-id=test mode=pip
///
/// This type registers its GType, which is derived from GstVideoSink, and implements its virtual functions. The Swift
/// state of each element is an ``ElementState``.
enum PipSinkElement {
  private static let typeName = "GstPipSink"

  static var type: GType { registration.type }

  /// Whether this copy of the code has registered the type, so that the instances' state is of classes that this copy
  /// knows.
  static var isOwn: Bool { registration.isOwn }

  /// The type is registered once in a process, although a program may both link PipSink and load the plugin.
  private static let registration: (type: GType, isOwn: Bool) = {
    let known = g_type_from_name(typeName)
    guard known == 0 else { return (known, false) }
    let type = g_type_register_static_simple(
      gst_video_sink_get_type(), typeName, states.size.class,
      { `class`, _ in PipSinkElement.initialize(class: `class`) }, states.size.instance,
      { instance, _ in PipSinkElement.initialize(instance: instance) }, GTypeFlags(rawValue: 0))
    ElementInterface.install(on: type)
    return (type, true)
  }()

  private static let states = InstanceState<ElementState>(behind: gst_video_sink_get_type())

  static func state(of instance: UnsafeMutableRawPointer) -> ElementState { states.state(of: instance) }

  static var parentClass: UnsafeMutableRawPointer? { states.parentClass }

  static var parentSinkClass: UnsafeMutablePointer<GstBaseSinkClass>? {
    parentClass?.assumingMemoryBound(to: GstBaseSinkClass.self)
  }

  // MARK: - Instances

  private static func initialize(instance: UnsafeMutablePointer<GTypeInstance>?) {
    guard let instance = UnsafeMutableRawPointer(instance) else { return }
    states.set(ElementState(instance), of: instance)
  }

  // MARK: - The class

  private static func initialize(class: UnsafeMutableRawPointer?) {
    guard let `class` else { return }
    let objectClass = `class`.assumingMemoryBound(to: GObjectClass.self)
    objectClass.pointee.finalize = { PipSinkElement.states.finalize($0) }
    ElementProperty.install(on: objectClass)
    ElementSignal.install(on: `class`.assumingMemoryBound(to: GTypeClass.self).pointee.g_type)
    let elementClass = `class`.assumingMemoryBound(to: GstElementClass.self)
    elementClass.pointee.change_state = { PipSinkElement.change($0, $1) }
    elementClass.pointee.set_context = { PipSinkElement.set($1, on: $0) }
    elementClass.pointee.post_message = { PipSinkElement.post($1, from: $0) }
    describe(elementClass)
    implement(`class`)
  }

  /// The caps of frames that the processor can read, with or without overlays beside them.
  static let readableCaps: String = {
    let limit = PictureSize.maximumDimension
    return ["", ElementOverlays.capsFeatures].map { features in
      PixelFormat.capsString(features: features)
        + ", width=(int)[1, \(limit)], height=(int)[1, \(limit)], framerate=(fraction)[0/1, \(Int32.max)/1]"
    }.joined(separator: "; ")
  }()

  /// Answers a caps query so that frames in GPU memory are accepted only when upstream has no others: where the filter
  /// contains both kinds, as that of decoders does, only frames that the processor can read are offered. Upstream is
  /// not asked what it has, as ``StreamCaps`` does, because playbin's elements hold a lock while they ask the sink.
  ///
  /// - Returns: the caps, which the caller owns; nil for those of the pad template.
  private static func caps(for filter: UnsafeMutablePointer<GstCaps>?) -> UnsafeMutablePointer<GstCaps>? {
    guard let filter, let readable = gst_caps_from_string(readableCaps) else { return nil }
    defer { gst_caps_unref(readable) }
    guard let common = gst_caps_intersect_full(filter, readable, GST_CAPS_INTERSECT_FIRST) else { return nil }
    guard gst_caps_is_empty(common) != 0 else { return common }
    gst_caps_unref(common)
    return nil
  }

  private static func describe(_ elementClass: UnsafeMutablePointer<GstElementClass>) {
    gst_element_class_set_metadata(
      elementClass, "PipSink video sink", "Sink/Video",
      """
      Shows a stream in its session's window, in an application's window (GstVideoOverlay), or in a picture-in-picture \
      window above all others
      """, "PipSink's authors")
    let caps = gst_caps_from_string("\(readableCaps); \(DeviceMemory.capsString)")
    gst_element_class_add_pad_template(
      elementClass, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps))
    gst_caps_unref(caps)
  }

  private static func implement(_ class: UnsafeMutableRawPointer) {
    let sinkClass = `class`.assumingMemoryBound(to: GstBaseSinkClass.self)
    sinkClass.pointee.start = { sink in sink.map { PipSinkElement.state(of: $0).start() } ?? 0 }
    sinkClass.pointee.stop = { sink in sink.map { PipSinkElement.state(of: $0).stop() } ?? 0 }
    sinkClass.pointee.get_caps = { _, filter in PipSinkElement.caps(for: filter) }
    sinkClass.pointee.set_caps = { sink, caps in
      guard let sink, let caps, let parent = PipSinkElement.parentSinkClass else { return 0 }
      let state = PipSinkElement.state(of: sink)
      guard state.set(caps) else { return 0 }
      // The parent class refuses formats that only a GPU can read.
      return state.hasFormat ? parent.pointee.set_caps(sink, caps) : 1
    }
    sinkClass.pointee.propose_allocation = { sink, query in
      guard let sink, let query else { return 0 }
      guard SampleWrapper.answerAllocation(query) else { return 0 }
      PipSinkElement.state(of: sink).proposeOverlays(to: query)
      return 1
    }
    sinkClass.pointee.event = { sink, event in
      guard let sink, let event, let parent = PipSinkElement.parentSinkClass else { return 0 }
      if event.pointee.type.isSerialized { PipSinkElement.state(of: sink).note(event, on: sink.pointee.sinkpad) }
      return parent.pointee.event(sink, event)
    }
    // The parent class waits until the last picture has been shown for its time, and then tells the pipeline of the end.
    sinkClass.pointee.wait_event = { sink, event in
      guard let sink, let event, let parent = PipSinkElement.parentSinkClass else { return GST_FLOW_ERROR }
      let result = parent.pointee.wait_event(sink, event)
      if result == GST_FLOW_OK, event.pointee.type == GST_EVENT_EOS { PipSinkElement.state(of: sink).noteEnd() }
      return result
    }
    sinkClass.pointee.preroll = { sink, buffer in
      guard let sink, let parent = PipSinkElement.parentSinkClass else { return GST_FLOW_ERROR }
      return PipSinkElement.state(of: sink).preroll { parent.pointee.preroll(sink, buffer) }
    }
    let videoClass = `class`.assumingMemoryBound(to: GstVideoSinkClass.self)
    videoClass.pointee.set_info = { sink, _, info in
      guard let sink, let info else { return 0 }
      (sink.pointee.width, sink.pointee.height) = (info.pointee.width, info.pointee.height)
      return 1
    }
    videoClass.pointee.show_frame = { sink, buffer in
      guard let sink, let buffer else { return GST_FLOW_ERROR }
      return PipSinkElement.state(of: sink).show(buffer)
    }
  }

  // MARK: - Virtual functions

  private static func change(
    _ element: UnsafeMutablePointer<GstElement>?, _ transition: GstStateChange
  ) -> GstStateChangeReturn {
    guard let element, let parent = parentClass?.assumingMemoryBound(to: GstElementClass.self) else {
      return GST_STATE_CHANGE_FAILURE
    }
    if transition == GST_STATE_CHANGE_NULL_TO_READY, !state(of: element).prepare() { return GST_STATE_CHANGE_FAILURE }
    let result = parent.pointee.change_state(element, transition)
    if transition == GST_STATE_CHANGE_PAUSED_TO_READY { state(of: element).endRun() }
    state(of: element).follow(transition)
    return result
  }

  private static func set(_ context: OpaquePointer?, on element: UnsafeMutablePointer<GstElement>?) {
    guard let element, let context, let parent = parentClass?.assumingMemoryBound(to: GstElementClass.self) else {
      return
    }
    if let display = WaylandContext.display(of: context) {
      state(of: element).set { $0.window.waylandDisplay = display }
    }
    parent.pointee.set_context(element, context)
  }

  /// Posts a message, which it owns, and follows changes to PLAYING. A sink that was told to play before its first
  /// buffer goes to PLAYING without a call of `change_state`, but always posts the message.
  private static func post(
    _ message: UnsafeMutablePointer<GstMessage>?, from element: UnsafeMutablePointer<GstElement>?
  ) -> gboolean {
    guard let element, let message, let parent = parentClass?.assumingMemoryBound(to: GstElementClass.self) else {
      return 0
    }
    var new = GST_STATE_VOID_PENDING
    if message.pointee.type == GST_MESSAGE_STATE_CHANGED { gst_message_parse_state_changed(message, nil, &new, nil) }
    let isPosted = parent.pointee.post_message(element, message)
    if new == GST_STATE_PLAYING { state(of: element).follow(GST_STATE_CHANGE_PAUSED_TO_PLAYING) }
    return isPosted
  }
}
