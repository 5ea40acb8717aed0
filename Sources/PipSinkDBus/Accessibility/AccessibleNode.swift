import PipSink

/// What assistive technology knows of the program, of one of its picture-in-picture windows, or of something in one.
struct AccessibleNode: Equatable, Sendable {
  /// The kinds of objects, with the numbers of AT-SPI (`AtspiRole`).
  enum Role: UInt32, Sendable {
    case button = 43
    case slider = 51
    case toggleButton = 62
    case window = 69
    case application = 75
    case video = 107

    /// The name in AT-SPI.
    var name: String {
      switch self {
      case .button: "push button"
      case .slider: "slider"
      case .toggleButton: "toggle button"
      case .window: "window"
      case .application: "application"
      case .video: "video"
      }
    }
  }

  /// The states that are used, with the numbers of their bits in AT-SPI (`AtspiStateType`).
  enum State: UInt32, CaseIterable, Sendable {
    case active = 1
    case checked = 4
    case enabled = 8
    case focusable = 11
    case focused = 12
    case pressed = 20
    case sensitive = 24
    case showing = 25
    case visible = 30
    case checkable = 41

    /// The name in signals.
    var name: String { "\(self)" }
  }

  /// The last word of the object's path.
  let id: String
  let role: Role
  let name: String
  var description = ""
  var states: Set<State> = [.enabled, .sensitive, .showing, .visible]
  var children: [String] = []
  var parent: String?
  /// What a press does; nil for what cannot be pressed.
  var action: PictureInPictureAction?
  /// How far the stream of a slider has come.
  var progress: PlaybackProgress?
  /// The window of a control.
  var window: String?
}

/// All objects of a session: the program, its open windows, and their places and controls.
struct AccessibleTree: Equatable, Sendable {
  static let root = "root"
  private(set) var nodes: [String: AccessibleNode] = [:]

  /// A tree without objects.
  init() {}

  subscript(id: String) -> AccessibleNode? { nodes[id] }

  /// - Parameter applicationName: what the user knows the program as.
  @MainActor init(of session: PictureInPictureSession, applicationName: String) {
    var root = AccessibleNode(id: Self.root, role: .application, name: applicationName)
    for controller in session.controllers {
      guard let presentation = controller.openPresentation else { continue }
      let id = Self.id(of: controller, in: session)
      root.children.append(id)
      add(presentation, focused: controller.focusedAction, as: id)
    }
    nodes[root.id] = root
  }

  @MainActor private static func id(
    of controller: PictureInPictureController, in session: PictureInPictureSession
  ) -> String {
    // The other windows have streams of their own.
    controller === session.controller ? "window" : "window_\(word(controller.currentStreamID.rawValue))"
  }

  /// The controller of a window.
  @MainActor static func controller(
    of window: String, in session: PictureInPictureSession
  ) -> PictureInPictureController? {
    session.controllers.first { id(of: $0, in: session) == window }
  }

  private mutating func add(
    _ presentation: PictureInPicturePresentation, focused: PictureInPictureAction?, as id: String
  ) {
    var window = AccessibleNode(id: id, role: .window, name: presentation.title, parent: Self.root)
    if focused != nil { window.states.insert(.active) }
    for place in presentation.places {
      let name = place.participant.name.isEmpty ? place.streamID.rawValue : place.participant.name
      let node = AccessibleNode(
        id: "\(id)_place_\(Self.word(place.streamID.rawValue))", role: .video, name: name,
        description: Self.description(of: place), parent: id)
      window.children.append(node.id)
      nodes[node.id] = node
    }
    for control in presentation.controls {
      var node = AccessibleNode(
        id: "\(id)_control_\(Self.word(control.action.name))", role: Self.role(of: control), name: control.name,
        parent: id)
      node.states.insert(.focusable)
      if node.role == .toggleButton {
        node.states.insert(.checkable)
        if control.isOn == true { node.states.formUnion([.checked, .pressed]) }
      }
      if control.action == focused { node.states.insert(.focused) }
      if control.action == .seek { node.progress = presentation.progress } else { node.action = control.action }
      node.window = id
      window.children.append(node.id)
      nodes[node.id] = node
    }
    nodes[id] = window
  }

  private static func role(of control: PictureInPictureControl) -> AccessibleNode.Role {
    switch control.action {
    case .seek: .slider
    // Its name says what a press does.
    case .playPause: .button
    case .mute, .captions, .microphone, .camera, .raiseHand, .fullscreen, .clickThrough: .toggleButton
    default: control.isOn == nil ? .button : .toggleButton
    }
  }

  /// What is seen of a person apart from the name and the picture.
  private static func description(of place: PictureInPicturePlace) -> String {
    let participant = place.participant
    let parts: [String?] = [
      place.placeholder?.text, participant.isMicrophoneOff ? translated("Microphone is off") : nil,
      participant.isSpeaking ? translated("Speaking") : nil,
      participant.connectionQuality == .fair ? translated("Connection is fair") : nil,
      participant.connectionQuality == .poor ? translated("Connection is poor") : nil,
      participant.caption.isEmpty ? nil : participant.caption,
    ]
    return parts.compactMap(\.self).joined(separator: ". ")
  }

  /// A word for a path, of letters, digits and underscores. Other bytes become their hexadecimal numbers.
  private static func word(_ text: String) -> String {
    text.utf8.map { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        String(UnicodeScalar(byte))
      default: "_" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
    }.joined()
  }
}
