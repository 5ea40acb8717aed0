import CGStreamer
import PipSink

/// Asks the application of an element to pause or to play its pipeline, when the user presses the button for that.
///
/// GStreamer has the message `request-state` for this. Applications that do not follow it may follow the key with which
/// players pause, as a navigation event. The key toggles, so an application that follows both must not get both. So the
/// key is sent only when the message has had no effect. From then on an application gets only what it has once followed.
/// Where both had been sent before the effect, the later one counts until it fails: a busy application may have followed
/// the message late.
@MainActor
final class ToggleRequest {
  enum Kind {
    case unknown, message, key
  }

  /// How long to wait for the effect. An application that needs longer gets both kinds of requests.
  static let patience = Duration.seconds(1)
  /// The X11 name of the key.
  static let key = "space"

  private weak let member: SessionMember?
  private(set) var kind = Kind.unknown
  /// Whether the application has followed ``kind`` when nothing else had been sent.
  private(set) var isCertain = false
  private var waiting: Task<Void, Never>?

  init(_ member: SessionMember) {
    self.member = member
  }

  isolated deinit {
    waiting?.cancel()
  }

  func send(_ clock: SchedulingClock) {
    guard let member else { return }
    waiting?.cancel()
    let isPaused = member.isPaused
    let kinds: [Kind] = kind == .key ? [.key, .message] : [.message, .key]
    send(kinds[0], to: member, wasPaused: isPaused)
    guard !isCertain else { return }
    waiting = Task { [weak self] in
      for (index, sent) in kinds.enumerated() {
        guard (try? await clock.sleep(until: clock.moment(in: Self.patience))) != nil, let self,
          let member = self.member
        else { return }
        guard member.isPaused == isPaused else {
          (kind, isCertain) = (sent, index == 0)
          return
        }
        if index == 0 { send(kinds[1], to: member, wasPaused: isPaused) }
      }
    }
  }

  private func send(_ kind: Kind, to member: SessionMember, wasPaused: Bool) {
    if kind == .key {
      ElementNavigation.send(key: Self.key, to: member)
    } else {
      member.element.request(wasPaused ? GST_STATE_PLAYING : GST_STATE_PAUSED)
    }
  }
}
