import CGStreamer
import PipSink

/// Asks the application of an element to pause or to play its pipeline, when the user presses the button for that.
///
/// GStreamer has the message `request-state` for this. Applications that do not follow it may follow the key with which
/// players pause, as a navigation event. The key toggles, so an application that follows both must not get both. So the
/// key is sent only when the message has had no effect, and from then on an application gets only what it has once
/// followed.
@MainActor
final class ToggleRequest {
  enum Way {
    case unknown, message, key
  }

  /// How long to wait for the effect. It is long enough for an application that is busy.
  static let patience = Duration.seconds(1)
  /// The X11 name of the key.
  static let key = "space"

  private weak let member: SessionMember?
  private(set) var way = Way.unknown
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
    if way == .key { return ElementNavigation.send(key: Self.key, to: member) }
    let isPaused = member.isPaused
    member.element.request(isPaused ? GST_STATE_PLAYING : GST_STATE_PAUSED)
    guard way == .unknown else { return }
    waiting = Task { [weak self] in
      for answered in [Way.message, .key] {
        guard (try? await clock.sleep(until: clock.moment(in: Self.patience))) != nil, let self,
          let member = self.member
        else { return }
        guard member.isPaused == isPaused else {
          way = answered
          return
        }
        if answered == .message { ElementNavigation.send(key: Self.key, to: member) }
      }
    }
  }
}
