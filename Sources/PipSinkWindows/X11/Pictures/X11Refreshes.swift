import CWindows
import PipSink

/// Asks an X server when the screen of a window is refreshed next, which is when a picture that has just been drawn is
/// on the screen (Present). A compositing manager shows it later, of which the server does not know.
///
/// The answers are events on the connection on which pictures are sent. Its owner passes them on.
final class X11Refreshes: Sendable {
  private struct State {
    var questions: [(serial: UInt32, frame: ScreenTime.Frame, handedOverAt: MonotonicTime)] = []
    var serial: UInt32 = 0
    var meter = X11RefreshMeter()
  }

  private let connection: X11Connection
  private let window: UInt32
  /// The extension's number, which is in its events.
  private let number: UInt8
  private let state = Locked(State())

  /// The number of unanswered questions after which no more are asked.
  private static let limit = 8

  /// - Parameters:
  ///   - connection: the connection on which pictures are sent.
  ///   - window: the XID of the window in which they are shown.
  /// - Returns: nil where the server does not know Present.
  init?(_ connection: X11Connection, of window: UInt32) {
    guard let number = connection.presentNumber else { return nil }
    (self.connection, self.window, self.number) = (connection, window, number)
    // The server is to know which version the client uses. Every version has what is used here.
    connection.forget(xcb_present_query_version(connection.pointer, 1, 0).sequence)
    xcb_present_select_input(
      connection.pointer, xcb_generate_id(connection.pointer), window,
      UInt32(XCB_PRESENT_EVENT_MASK_COMPLETE_NOTIFY.rawValue))
  }

  /// Whether an answer has not been read yet.
  var isAsked: Bool { state.withLock { !$0.questions.isEmpty } }

  /// Asks for the next refresh, after a frame's picture was sent. The request is not flushed.
  func ask(for frame: ScreenTime.Frame) {
    let serial = state.withLock { state -> UInt32? in
      guard state.questions.count < Self.limit else { return nil }
      state.serial &+= 1
      state.questions.append((state.serial, frame, .now))
      return state.serial
    }
    // Every refresh is a multiple of one, so it is the next one.
    if let serial { xcb_present_notify_msc(connection.pointer, window, serial, 0, 1, 0) }
  }

  /// Returns the answer that an event of the connection has; nil where it has none.
  func answer(in event: UnsafePointer<xcb_generic_event_t>) -> ScreenTime? {
    guard event.kind == XCB_GE_GENERIC, event.read(as: xcb_ge_generic_event_t.self).extension == number else {
      return nil
    }
    var (serial, time, refresh) = (UInt32(0), UInt64(0), UInt64(0))
    guard pipsink_present_completion(event, &serial, &time, &refresh) != 0 else { return nil }
    let shownAt = MonotonicTime(nanoseconds: time &* 1000)
    return state.withLock { state in
      guard let index = state.questions.firstIndex(where: { $0.serial == serial }) else { return nil }
      let question = state.questions[index]
      state.questions.removeFirst(index + 1)
      state.meter.note(refresh, at: shownAt)
      return ScreenTime(
        frame: question.frame, handedOverAt: question.handedOverAt, shownAt: shownAt,
        refreshInterval: state.meter.interval)
    }
  }
}
