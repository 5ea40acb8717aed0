import CGStreamer
import PipSink

/// An element that takes pictures from a camera.
struct Camera {
  private static let factories = ["v4l2src", "libcamerasrc"]

  private let element: LaunchText.Element

  /// nil of an element that does something else.
  init?(_ element: LaunchText.Element) {
    guard Self.factories.contains(element.factory) else { return nil }
    self.element = element
  }

  /// Why it cannot be opened; nil when it can, and also where GStreamer does not have the element: the pipeline's parser says
  /// that. Waits for the camera.
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
  /// The same with test pictures in the places of cameras that cannot be opened, and why they cannot.
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
