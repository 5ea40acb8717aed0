import CWindows
import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport

/// Tests that events of an X server are delivered while other threads wait for the server's answers.
@Suite(.enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"), .timeLimit(.minutes(5)))
struct X11EventLoopTests {
  /// The number of events that a window receives on the thread that reads them.
  private func count(
    _ server: XServer, _ number: Int, use: (X11Connection, X11Screen, UInt32) -> Void
  ) async throws -> Int {
    let connection = try #require(X11Connection(server.display))
    let screen = try #require(X11Screen(connection, number: connection.screenNumber))
    let window = xcb_generate_id(connection.pointer)
    xcb_create_window(
      connection.pointer, 0, window, screen.root, 0, 0, 10, 10, 0, UInt16(XCB_WINDOW_CLASS_INPUT_ONLY.rawValue), 0, 0,
      nil)
    let told = Locked(0)
    let loop = X11EventLoop(connection) { event in
      if event?.kind == XCB_CLIENT_MESSAGE { told.withLock { $0 += 1 } }
      return event != nil
    }
    let thread = try #require(WorkerThread(name: "events") { loop.run() })
    defer {
      loop.end()
      thread.join()
    }
    for count in 1...number {
      // The window sends a message to itself. The server delivers it before it answers the next request.
      var event = xcb_client_message_event_t()
      event.response_type = UInt8(XCB_CLIENT_MESSAGE)
      event.format = 32
      event.window = window
      withUnsafeBytes(of: &event) { event in
        _ = xcb_send_event(connection.pointer, 0, window, 0, event.bindMemory(to: CChar.self).baseAddress)
      }
      use(connection, screen, window)
      guard await eventually(within: 10, { told.withLock { $0 } == count }) else { break }
    }
    return told.withLock { $0 }
  }

  @Test func noEventIsLeftBehindByWhoWaitsForAnAnswer() async throws {
    let server = try await XServer(managesWindows: false)
    let count = try await count(server, 1000) { connection, screen, window in
      _ = connection.numbers(screen.atoms[.state], of: window)
    }
    #expect(count == 1000)
  }

  @Test func noEventIsLeftBehindByWhoSendsSomething() async throws {
    let server = try await XServer(managesWindows: false)
    let count = try await count(server, 1000) { connection, _, window in
      connection.flush()
      for _ in 0..<10 {
        xcb_map_window(connection.pointer, window)
        connection.flush()
      }
    }
    #expect(count == 1000)
  }
}
