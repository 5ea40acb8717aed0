import CGStreamer
import PipSink
import PipSinkWindows

/// An enumeration that is a property's type.
protocol ElementEnum: Equatable, Sendable {
  static var typeName: String { get }
  /// The values, each with its name in pipeline descriptions and a summary for gst-inspect-1.0. A value's number in
  /// GObject is its index here.
  static var entries: [(value: Self, name: String, summary: String)] { get }
}

extension ElementEnum {
  /// The number of the value in a GValue.
  var number: gint { gint(Self.entries.firstIndex { $0.value == self } ?? 0) }

  init?(number: gint) {
    guard Self.entries.indices.contains(Int(number)) else { return nil }
    self = Self.entries[Int(number)].value
  }

  /// Registers the GType. It is called once, when the element's class is initialized.
  static func makeType() -> GType {
    // GLib keeps the array. The entry with zeros ends it.
    let values = UnsafeMutablePointer<GEnumValue>.allocate(capacity: entries.count + 1)
    values.initialize(repeating: GEnumValue(), count: entries.count + 1)
    for (index, entry) in entries.enumerated() {
      values[index] = GEnumValue(
        value: gint(index), value_name: permanent(entry.summary), value_nick: permanent(entry.name))
    }
    return g_enum_register_static(typeName, values)
  }
}

/// How an element's stream is shown.
enum ElementMode: ElementEnum {
  case normal
  case pip

  static let typeName = "GstPipSinkMode"
  static let entries: [(value: Self, name: String, summary: String)] = [
    (.normal, "normal", "In the session's window"),
    (.pip, "pip", "In picture-in-picture"),
  ]
}

/// What a session's streams are shown on.
enum ElementSurface: ElementEnum {
  case window
  case offscreen
  case none

  static let typeName = "GstPipSinkSurface"
  static let entries: [(value: Self, name: String, summary: String)] = [
    (.window, "window", "Windows on X11 or Wayland"),
    (.offscreen, "offscreen", "Pictures in memory, without a display"),
    (.none, "none", "Nothing; frames are only counted"),
  ]
}

extension WindowRenderer: ElementEnum {
  static let typeName = "GstPipSinkRenderer"
  static let entries: [(value: Self, name: String, summary: String)] = [
    (.automatic, "auto", "What costs least and shows the same colours"),
    (.processor, "cpu", "The processor"),
    (.openGL, "gl", "OpenGL ES, and the processor where it fails"),
    (.direct, "direct", "A Wayland compositor, where it reads a frame's memory; the processor elsewhere"),
  ]
}

extension PictureInPictureEndAction: ElementEnum {
  static let typeName = "GstPipSinkEndAction"
  static let entries: [(value: Self, name: String, summary: String)] = [
    (.nextStream, "next", "The window shows the session's next stream, or closes without one"),
    (.placeholder, "placeholder", "The window stays open and shows no picture"),
    (.stop, "stop", "The window closes"),
  ]
}

extension PictureInPictureLayout: ElementEnum {
  static let typeName = "GstPipSinkLayout"
  static let entries: [(value: Self, name: String, summary: String)] = [
    (.single, "single", "One stream"),
    (.split, "split", "Two streams in one half each"),
    (.speaker, "speaker", "One stream, and another one small in a corner"),
    (.grid, "grid", "Up to nine streams in rows and columns"),
  ]
}

extension ConnectionQuality: ElementEnum {
  static let typeName = "GstPipSinkConnectionQuality"
  static let entries: [(value: Self, name: String, summary: String)] = [
    (.unknown, "unknown", "Nobody has said anything about it"),
    (.good, "good", "Nothing is wrong with it"),
    (.fair, "fair", "Some of what is sent is lost or late"),
    (.poor, "poor", "Much of what is sent is lost or late"),
  ]
}

extension VideoGravity: ElementEnum {
  static let typeName = "GstPipSinkGravity"
  static let entries: [(value: Self, name: String, summary: String)] = [
    (.resizeAspect, "resize-aspect", "Show the whole picture, with bars"),
    (.resizeAspectFill, "resize-aspect-fill", "Fill the surface, and crop the picture"),
    (.resize, "resize", "Stretch the picture to fill the surface"),
  ]
}
