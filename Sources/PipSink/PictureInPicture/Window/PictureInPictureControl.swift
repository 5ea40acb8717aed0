/// A control of a picture-in-picture window. The app gives a list of them
/// (``PictureInPictureController/Configuration/controls``).
public struct PictureInPictureControl: Equatable, Sendable {
  /// The picture on a control.
  public enum Icon: Hashable, Sendable {
    /// An icon of the desktop's icon theme by its name, or the absolute path of an SVG file, as in the key `Icon` of
    /// desktop entries. Icons whose names end with "-symbolic" are drawn in white.
    case named(String)
    /// The text of an SVG document.
    case svg(String)
  }

  /// What the control does. There is one control for each action.
  public var action: PictureInPictureAction
  /// What the control is called for people; nil for PipSink's own text. It is shown on a control of the app's that has
  /// no icon.
  public var label: String?
  /// The picture on the control; nil for PipSink's own.
  public var icon: Icon?
  /// Whether the control is switched on; nil for one that is no switch. What PipSink knows is filled in: whether streams
  /// play, whether they are muted, whether captions are shown, and whether the user's own microphone and camera are on.
  public var isOn: Bool?

  /// Makes a control.
  public init(_ action: PictureInPictureAction, label: String? = nil, icon: Icon? = nil, isOn: Bool? = nil) {
    (self.action, self.label, self.icon, self.isOn) = (action, label, icon, isOn)
  }
}

extension PictureInPictureControl {
  /// What the control is called for people, in the user's language where the app gives no label.
  package var name: String {
    if let label, !label.isEmpty { return label }
    return switch action {
    case .playPause: isOn == false ? translated("Play") : translated("Pause")
    case .backToApp: translated("Back to the app")
    case .close: translated("Close")
    case .mute: translated("Mute")
    case .captions: translated("Captions")
    case .previousStream: translated("Previous")
    case .nextStream: translated("Next")
    case .skipBackward: translated("Skip backward")
    case .skipForward: translated("Skip forward")
    case .seek: translated("Position")
    case .changeLayout: translated("Change the layout")
    case .fullscreen: translated("Fullscreen")
    case .changeSize: translated("Change the size")
    case .clickThrough: translated("Let the pointer through")
    case .microphone: translated("Microphone")
    case .camera: translated("Camera")
    case .hangUp: translated("Hang up")
    case .raiseHand: translated("Raise hand")
    case .custom(let name): name
    }
  }
}

extension [PictureInPictureControl] {
  /// The controls of a player, which are those of a window whose app gives no list: previous and next stream, skip,
  /// pause, mute, captions, a bar for seeking, fullscreen, layout and back to the app.
  public static var player: Self {
    [
      .previousStream, .skipBackward, .playPause, .skipForward, .nextStream, .mute, .captions, .seek, .fullscreen,
      .changeLayout, .backToApp,
    ].map { PictureInPictureControl($0) }
  }

  /// The controls of a call: microphone, camera, raise hand, hang up, fullscreen, layout and back to the app.
  public static var call: Self {
    [.microphone, .camera, .raiseHand, .hangUp, .fullscreen, .changeLayout, .backToApp].map {
      PictureInPictureControl($0)
    }
  }

  /// Reads a list as other programs write it: names with commas between them. A name is that of an action, one of the
  /// app's, or "player" or "call" for one of the lists. It may be followed by a label, and that by the name of an icon or
  /// the path of its file, with colons between them. A plus sign before the name is a switch that is on, and a minus sign
  /// one that is off.
  ///
  /// - Throws: ``PipSinkError/System/invalidArgument(_:reason:)``.
  package init(text: String) throws(PipSinkError) {
    self = []
    for item in text.parts(between: ",").map(\.trimmed) where !item.isEmpty {
      for control in try Self.controls(item) where !contains(where: { $0.action == control.action }) {
        append(control)
      }
    }
    guard count <= Self.maximumCount else {
      throw Self.refusal("\(count) are too many; a window has up to \(Self.maximumCount)")
    }
  }

  private static let maximumCount = 20

  private static func refusal(_ reason: String) -> PipSinkError {
    .system(.invalidArgument("controls", reason: reason))
  }

  private static func controls(_ text: String) throws(PipSinkError) -> Self {
    let (head, rest) = text.divided(at: ":") ?? (text, "")
    let (label, icon) = rest.divided(at: ":") ?? (rest, "")
    let isOn: Bool? = head.beginsWithBytes(of: "+") ? true : head.beginsWithBytes(of: "-") ? false : nil
    let name = String(isOn == nil ? head : String(head.unicodeScalars.dropFirst())).trimmed
    let isName = name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
        true
      default: false
      }
    }
    guard !name.isEmpty, name.utf8.count <= 64, isName else {
      throw refusal(
        "\"\(text)\" does not begin with a name, which has letters, digits, \"-\", \"_\" and \".\", and up to 64 of them"
      )
    }
    switch text {
    case "player": return .player
    case "call": return .call
    default:
      let (label, icon) = (label.displayed(atMost: 64).trimmed, icon.trimmed)
      return [
        PictureInPictureControl(
          PictureInPictureAction(name: name), label: label.isEmpty ? nil : label,
          icon: icon.isEmpty ? nil : .named(icon), isOn: isOn)
      ]
    }
  }

  /// The list as ``init(text:)`` reads it. SVG documents are left out.
  package var text: String {
    map { control in
      var text = (control.isOn.map { $0 ? "+" : "-" } ?? "") + control.action.name
      var icon: String?
      if case .named(let name) = control.icon { icon = name }
      if control.label != nil || icon != nil { text += ":\(control.label ?? "")" }
      return text + (icon.map { ":\($0)" } ?? "")
    }.joined(separator: ",")
  }
}
