import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport

/// Tests of the thread that reads the events of a Wayland connection.
@Suite(.enabled(if: WaylandServer.isInstalled(.sway), "sway, grim and root are needed"), .timeLimit(.minutes(5)))
struct WaylandEventLoopTests {
  /// On a toolkit's connection the toolkit's thread reads PipSink's events as well. A thread that has found nothing to do
  /// and is about to wait may find them then.
  @Test func delayedWorkIsDoneWhicheverThreadHasReadTheEventThatAsksForIt() async throws {
    let server = try await WaylandServer(.sway)
    let socket = try #require(server.environment["WAYLAND_DISPLAY"])
    let owner = try await WaylandConnection.shared(socket)
    let foreign = try WaylandForeignConnection(owner.loop.display)
    for number in 0..<2000 {
      let isDone = Locked(false)
      let question = foreign.loop.ask {
        foreign.loop.perform(after: .milliseconds(1)) { isDone.withLock { $0 = true } }
      }
      foreign.loop.flush()
      // This wakes the thread at about the time at which the other one reads the answer.
      for _ in 0..<number % 50 { foreign.loop.perform {} }
      let isInTime = await eventually(within: 20) { isDone.withLock { $0 } }
      withExtendedLifetime(question) {}
      #expect(isInTime, "\(number)")
      if !isInTime { break }
    }
    foreign.leave()
  }

  /// The thread that reads the connection may be told of the global objects before the one that has asked for them goes
  /// on, as on a busy machine. Here that one waits for a lock that many others use.
  @Test func aConnectionHasTheCompositorsObjectsHoweverLateTheThreadIsThatAsked() async throws {
    let server = try await WaylandServer(.sway)
    let socket = try #require(server.environment["WAYLAND_DISPLAY"])
    for number in 0..<2000 {
      let loop = try #require(WaylandEventLoop(socket))
      let globals = WaylandGlobals(loop, hasInput: false)
      let hasAsked = Locked(false)
      let others = (0..<4).compactMap { _ in
        WorkerThread(name: "others") { while !hasAsked.withLock({ $0 }) { _ = globals.compositor } }
      }
      let reader = WorkerThread(name: "reader") { loop.run() }
      globals.ask()
      hasAsked.withLock { $0 = true }
      let hasAnswered = loop.synchronize() && loop.synchronize()
      let hasAll = globals.compositor != nil && globals.sharedMemory != nil && globals.shell != nil
      for other in others { other.join() }
      loop.end()
      reader?.join()
      globals.forget()
      #expect(hasAnswered && hasAll, "\(number)")
      if !hasAnswered || !hasAll { break }
    }
  }
}
