import CGStreamer
import PipSink

/// An enumeration that is a property's type: its cases with their names in pipeline descriptions.
protocol ElementEnum: CaseIterable, Hashable, RawRepresentable, Sendable where RawValue == String {
  static var typeName: String { get }
  /// In a few words, for gst-inspect-1.0.
  static var summaries: [Self: String] { get }
}

extension ElementEnum {
  /// The value in a GValue: the case's place.
  var number: gint { gint(Self.allCases.map(\.rawValue).firstIndex(of: rawValue) ?? 0) }

  init?(number: gint) {
    let cases = Array(Self.allCases)
    guard cases.indices.contains(Int(number)) else { return nil }
    self = cases[Int(number)]
  }

  /// Registers the GType. Called once, when the element's class is made.
  static func makeType() -> GType {
    let cases = Array(allCases)
    // GLib keeps it. The entry with zeros ends it.
    let values = UnsafeMutablePointer<GEnumValue>.allocate(capacity: cases.count + 1)
    values.initialize(repeating: GEnumValue(), count: cases.count + 1)
    for (index, value) in cases.enumerated() {
      values[index] = GEnumValue(
        value: gint(index), value_name: permanent(summaries[value] ?? ""), value_nick: permanent(value.rawValue))
    }
    return g_enum_register_static(typeName, values)
  }
}

/// How an element's stream is shown.
enum ElementMode: String, ElementEnum {
  case normal
  case pip

  static let typeName = "GstPipSinkMode"
  static let summaries: [Self: String] = [
    .normal: "In the session's window",
    .pip: "In picture-in-picture",
  ]
}

/// On what a session's streams are shown.
enum ElementSurface: String, ElementEnum {
  case window
  case offscreen
  case none

  static let typeName = "GstPipSinkSurface"
  static let summaries: [Self: String] = [
    .window: "Windows on X11 or Wayland",
    .offscreen: "Pictures in memory, without a display",
    .none: "Nothing; frames are counted",
  ]
}

extension PictureInPictureEndAction: ElementEnum {
  static let typeName = "GstPipSinkEndAction"
  static let summaries: [Self: String] = [
    .nextStream: "The session's next stream takes the window; without one it goes",
    .placeholder: "The window stays, and shows no picture",
    .stop: "The window goes",
  ]
}

/// `VideoGravity` as pipeline descriptions spell it.
enum ElementGravity: String, ElementEnum {
  case resizeAspect = "resize-aspect"
  case resizeAspectFill = "resize-aspect-fill"
  case resize

  static let typeName = "GstPipSinkGravity"
  static let summaries: [Self: String] = [
    .resizeAspect: "All of the picture, with bars",
    .resizeAspectFill: "The surface filled, the picture cut",
    .resize: "Stretched",
  ]

  var gravity: VideoGravity {
    switch self {
    case .resizeAspect: .resizeAspect
    case .resizeAspectFill: .resizeAspectFill
    case .resize: .resize
    }
  }
}
