/// The states of picture-in-picture, as ZEGO's flow draws them.
public enum PictureInPictureState: String, CaseIterable, Sendable {
  case uninitialized = "Uninitialized"
  case initializing = "Initializing"
  case initialized = "Initialized"
  /// Ready to start at any time.
  case enabled = "PIPEnabled"
  /// Starts by itself when the app goes to the background.
  case background = "BackgroundPIP"
  case active = "PIPActive"
  /// Active while the app is in the background.
  case appMinimized = "AppMinimized"
  case error = "Error"

  var isActive: Bool { self == .active || self == .appMinimized }
}

/// What moves picture-in-picture from one state to another.
public enum PictureInPictureTrigger: String, CaseIterable, Sendable {
  case initialize = "init()"
  case initSuccess = "Init Success"
  case initFailed = "Init Failed"
  case enable = "enable()"
  case enableWhenBackground = "enableWhenBackground()"
  case userTriggers = "User Triggers PIP"
  case userExits = "User Exits PIP"
  case systemMinimizes = "System Minimizes"
  case appGoesBackground = "App Goes Background"
  case cancelBackground = "cancelBackground()"
  case userClicks = "User Clicks PIP"
  case userCloses = "User Closes PIP"
  case retry = "Retry"
  case uninit = "uninit()"
}

/// The states and the transitions between them, and the state it is in. Every other pair of state and trigger is refused.
public struct PictureInPictureStateMachine: Equatable, Sendable {
  public struct Transition: Equatable, Sendable {
    public let from: PictureInPictureState
    public let trigger: PictureInPictureTrigger
    public let to: PictureInPictureState

    init(_ from: PictureInPictureState, _ trigger: PictureInPictureTrigger, _ to: PictureInPictureState) {
      (self.from, self.trigger, self.to) = (from, trigger, to)
    }
  }

  public static let transitions: [Transition] = [
    .init(.uninitialized, .initialize, .initializing),
    .init(.initializing, .initSuccess, .initialized),
    .init(.initializing, .initFailed, .error),
    .init(.initialized, .enable, .enabled),
    .init(.initialized, .enableWhenBackground, .background),
    .init(.enabled, .userTriggers, .active),
    .init(.active, .userExits, .enabled),
    .init(.active, .systemMinimizes, .appMinimized),
    .init(.background, .appGoesBackground, .active),
    .init(.background, .cancelBackground, .initialized),
    .init(.appMinimized, .userClicks, .active),
    .init(.appMinimized, .userCloses, .initialized),
    .init(.error, .retry, .uninitialized),
    .init(.initialized, .uninit, .uninitialized),
  ]

  public private(set) var state = PictureInPictureState.uninitialized

  public init() {}

  /// Performs a transition.
  ///
  /// - Throws: ``PipSinkError/PictureInPicture/illegalTransition(state:trigger:)``, and then nothing has changed.
  public mutating func apply(_ trigger: PictureInPictureTrigger) throws(PipSinkError) {
    guard let next = Self.transitions.first(where: { $0.from == state && $0.trigger == trigger })?.to else {
      throw .pictureInPicture(.illegalTransition(state: state, trigger: trigger))
    }
    state = next
  }

  /// Whether the trigger leads anywhere from this state.
  public func allows(_ trigger: PictureInPictureTrigger) -> Bool {
    Self.transitions.contains { $0.from == state && $0.trigger == trigger }
  }

  /// Performs the first transition of the shortest way to another state; of ways that are as short, the one that is drawn
  /// first. Between two states in which picture-in-picture is not active, no way leads through one in which it is.
  /// Picture-in-picture can be given up in any state: where no way that is drawn leads there, `uninit()` does.
  ///
  /// - Returns: the transition; nil where no way leads there, and where it is there already.
  mutating func advance(towards target: PictureInPictureState) -> Transition? {
    var firsts: [PictureInPictureState: Transition] = [:]
    var border = [state]
    while let place = border.first {
      border.removeFirst()
      for transition in Self.transitions where transition.from == place {
        let next = transition.to
        guard next != state, firsts[next] == nil, !next.isActive || state.isActive || target.isActive else { continue }
        firsts[next] = firsts[place] ?? transition
        border.append(next)
      }
    }
    var first = firsts[target]
    if first == nil, target == .uninitialized, state != target { first = Transition(state, .uninit, target) }
    state = first?.to ?? state
    return first
  }

  /// The transitions as a Mermaid diagram; the documentation has this text.
  public static var diagram: String {
    (["stateDiagram-v2", "    [*] --> \(PictureInPictureState.uninitialized.rawValue)"]
      + transitions.map { "    \($0.from.rawValue) --> \($0.to.rawValue): \($0.trigger.rawValue)" })
      .joined(separator: "\n")
  }
}
