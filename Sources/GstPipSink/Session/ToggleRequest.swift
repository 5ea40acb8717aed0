import CGStreamer
import PipSink

/// Asks an application to pause or to play a pipeline, when the user presses the button for that.
///
/// GStreamer has the message `request-state` for this. Applications that do not follow it may follow the key with which
/// players pause, as a navigation event. The key toggles, so an application that follows both must not get both. So the
/// key is sent only when the message has had no effect. From then on an application gets only what it has once followed.
/// Where both had been sent before the effect, the later one counts until it fails: a busy application may have followed
/// the message late. The elements of a pipeline share these requests: a key from each of two elements would have no
/// effect.
@MainActor
final class ToggleRequest {
  enum Kind {
    case unknown, message, key
  }

  /// How long to wait for the effect. An application that needs longer gets both kinds of requests.
  static let patience = Duration.seconds(1)
  /// The X11 name of the key.
  static let key = "space"

  private(set) var kind = Kind.unknown
  /// Whether the application has followed ``kind`` when nothing else had been sent.
  private(set) var isCertain = false
  private var waiting: Task<Void, Never>?

  isolated deinit {
    waiting?.cancel()
  }

  /// Asks for a state, which the application may have reached meanwhile.
  ///
  /// - Parameter member: the element that asks.
  func send(isPaused: Bool, for member: SessionMember, _ clock: SchedulingClock) {
    waiting?.cancel()
    let kinds: [Kind] = kind == .key ? [.key, .message] : [.message, .key]
    Self.send(kinds[0], isPaused, for: member)
    guard !isCertain else { return }
    waiting = Task { [weak self, weak member] in
      for (index, sent) in kinds.enumerated() {
        guard (try? await clock.sleep(until: clock.moment(in: Self.patience))) != nil, !Task.isCancelled, let self,
          let member
        else { return }
        guard member.isPaused != isPaused else {
          (kind, isCertain) = (sent, index == 0)
          return
        }
        if index == 0 { Self.send(kinds[1], isPaused, for: member) }
      }
    }
  }

  private static func send(_ kind: Kind, _ isPaused: Bool, for member: SessionMember) {
    if kind != .key {
      member.element.request(isPaused ? GST_STATE_PAUSED : GST_STATE_PLAYING)
    } else if member.isPaused != isPaused {
      ElementNavigation.send(key: key, to: member)
    }
  }
}
