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

/// The states and their arrows, and where it stands. Every other pair of state and trigger is refused.
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

  /// Takes the arrow.
  ///
  /// - Throws: ``PipSinkError/illegalTransition(state:trigger:)``, and then nothing has changed.
  public mutating func apply(_ trigger: PictureInPictureTrigger) throws(PipSinkError) {
    guard let next = Self.transitions.first(where: { $0.from == state && $0.trigger == trigger })?.to else {
      throw .illegalTransition(state: state, trigger: trigger)
    }
    state = next
  }

  /// Whether there is such an arrow from where it stands.
  public func allows(_ trigger: PictureInPictureTrigger) -> Bool {
    Self.transitions.contains { $0.from == state && $0.trigger == trigger }
  }

  /// The arrows as a Mermaid diagram; the documentation has this text.
  public static var diagram: String {
    (["stateDiagram-v2", "    [*] --> \(PictureInPictureState.uninitialized.rawValue)"]
      + transitions.map { "    \($0.from.rawValue) --> \($0.to.rawValue): \($0.trigger.rawValue)" })
      .joined(separator: "\n")
  }
}
