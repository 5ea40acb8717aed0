import CGStreamer
import PipSink

/// An element of a pipeline that captures a camera.
struct Camera {
  private static let factories = ["v4l2src", "libcamerasrc"]

  private let element: LaunchText.Element

  /// - Returns: nil for an element of another kind.
  init?(_ element: LaunchText.Element) {
    guard Self.factories.contains(element.factory) else { return nil }
    self.element = element
  }

  /// Why the camera cannot be opened; nil when it can. It is also nil when GStreamer does not have the element, which
  /// the pipeline's parser reports. Reading it opens the camera, and waits for that.
  var failure: String? {
    guard (try? PipSink.initialize()) != nil, let camera = gst_element_factory_make(element.factory, nil) else {
      return nil
    }
    gst_object_ref_sink(camera)
    let bus = gst_bus_new()
    gst_element_set_bus(camera, bus)
    defer {
      gst_element_set_state(camera, GST_STATE_NULL)
      gst_element_set_bus(camera, nil)
      gst_object_unref(bus)
      gst_object_unref(camera)
    }
    for (name, value) in element.properties where name != "name" {
      gst_util_set_object_arg(UnsafeMutableRawPointer(camera).assumingMemoryBound(to: GObject.self), name, value)
    }
    guard gst_element_set_state(camera, GST_STATE_READY) == GST_STATE_CHANGE_FAILURE else { return nil }
    guard let message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR) else { return "it cannot be opened" }
    defer { gst_message_unref(message) }
    var error: UnsafeMutablePointer<GError>?
    gst_message_parse_error(message, &error, nil)
    guard let error else { return "it cannot be opened" }
    defer { g_error_free(error) }
    return String(cString: error.pointee.message)
  }
}

extension PipelineDescription {
  /// Replaces cameras that cannot be opened by test pictures.
  ///
  /// - Returns: the new description, and why the replaced cameras cannot be opened.
  func replacingCameras() -> (description: PipelineDescription, failures: [String]) {
    var failures: [String] = []
    let description = replacingElements { element in
      guard let failure = Camera(element)?.failure else { return nil }
      failures.append(failure)
      return ["videotestsrc", "is-live=true"]
    }
    return (description, failures)
  }
}
