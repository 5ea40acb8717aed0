/// The states of picture-in-picture, as in the state diagram of ZEGO, whose SDK for calls on iOS and Android has
/// picture-in-picture. Apps that come from there know them.
public enum PictureInPictureState: String, CaseIterable, Sendable {
  /// Picture-in-picture has not been set up, or ``PictureInPictureController/uninitialize()`` was called.
  case uninitialized = "Uninitialized"
  /// It is being set up.
  case initializing = "Initializing"
  /// It has been set up and is not in use.
  case initialized = "Initialized"
  /// It can start at any time.
  case enabled = "PIPEnabled"
  /// It starts by itself when the app goes to the background.
  case background = "BackgroundPIP"
  /// A window shows a stream.
  case active = "PIPActive"
  /// A window shows a stream while the app is in the background.
  case appMinimized = "AppMinimized"
  /// The set-up failed, because no window can be shown here.
  case error = "Error"

  /// Whether a window shows a stream.
  var isActive: Bool { self == .active || self == .appMinimized }
}

/// What moves picture-in-picture from one state to another in the diagram of ``PictureInPictureState``. The raw values are the diagram's labels.
package enum PictureInPictureTrigger: String, CaseIterable, Sendable {
  /// The set-up begins.
  case initialize = "init()"
  /// The set-up has succeeded.
  case initSuccess = "Init Success"
  /// The set-up has failed.
  case initFailed = "Init Failed"
  /// Picture-in-picture is prepared for a start.
  case enable = "enable()"
  /// The automatic start is switched on.
  case enableWhenBackground = "enableWhenBackground()"
  /// The window opens, as the user or the app has asked.
  case userTriggers = "User Triggers PIP"
  /// The window closes, and the app is in the foreground.
  case userExits = "User Exits PIP"
  /// The app goes to the background while the window is open.
  case systemMinimizes = "System Minimizes"
  /// The app goes to the background, and the window opens by itself.
  case appGoesBackground = "App Goes Background"
  /// The automatic start is switched off.
  case cancelBackground = "cancelBackground()"
  /// The app returns to the foreground while the window is open.
  case userClicks = "User Clicks PIP"
  /// The window closes while the app is in the background.
  case userCloses = "User Closes PIP"
  /// The set-up is tried again.
  case retry = "Retry"
  /// Picture-in-picture is ended until it is set up again.
  case uninit = "uninit()"
}

/// The state of picture-in-picture, with the transitions of its diagram. Every other pair of state and trigger is
/// refused.
package struct PictureInPictureStateMachine: Equatable, Sendable {
  /// One transition of the diagram.
  package struct Transition: Equatable, Sendable {
    /// The state before it.
    package let from: PictureInPictureState
    /// What causes it.
    package let trigger: PictureInPictureTrigger
    /// The state after it.
    package let to: PictureInPictureState

    init(_ from: PictureInPictureState, _ trigger: PictureInPictureTrigger, _ to: PictureInPictureState) {
      (self.from, self.trigger, self.to) = (from, trigger, to)
    }
  }

  /// All transitions, in the order in which the diagram draws them.
  package static let transitions: [Transition] = [
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

  /// The current state.
  package private(set) var state = PictureInPictureState.uninitialized

  /// Makes a state machine that is uninitialized.
  package init() {}

  /// Performs a transition.
  ///
  /// - Throws: ``PipSinkError/PictureInPicture/illegalTransition(state:trigger:)``. Nothing has changed then.
  package mutating func apply(_ trigger: PictureInPictureTrigger) throws(PipSinkError) {
    guard let next = Self.transitions.first(where: { $0.from == state && $0.trigger == trigger })?.to else {
      throw .pictureInPicture(.refusal(of: trigger, in: state))
    }
    state = next
  }

  /// Performs the first transition of the shortest path to another state. If several paths are equally short, the one
  /// that is drawn first counts. No path between two states without a window leads through a state with one. If no path
  /// leads to `uninitialized`, `uninit()` leads there directly, because picture-in-picture can be ended in every state.
  ///
  /// - Returns: the transition; nil when no path leads to `target`, or when it is the current state.
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
}
