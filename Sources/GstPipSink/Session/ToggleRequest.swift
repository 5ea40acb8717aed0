import CGStreamer
import PipSink

/// Has an element's application pause its pipeline, or play it, when the user presses the button for that.
///
/// GStreamer has a message for it (`request-state`). Applications that do not know it may know the key that players
/// pause with, as a navigation event; it switches to and fro, so that an application that does both must not get both.
/// So the key is sent where nothing has come of the message, and what an application has once answered to is all that it
/// gets from then on.
@MainActor
final class ToggleRequest {
  enum Way {
    case unknown, message, key
  }

  /// For an application that is busy, too.
  static let patience = Duration.seconds(1)
  /// X11's name.
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
