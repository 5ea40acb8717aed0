import Testing

@testable import PipSink
@testable import PipSinkWindows

/// Tests that the owner of a window can take it back from the threads that draw in it.
@Suite struct WindowAccessTests {
  @Test func aWindowThatWasTakenBackIsNotUsed() {
    let access = WindowAccess()
    #expect(access.use { 7 } == 7 && !access.isRevoked)
    #expect(access.revoke())
    #expect(access.isRevoked)
    #expect(access.use { 7 } == nil)
    #expect(access.revoke(), "the second call does not wait")
  }

  @Test func whoTakesItBackWaitsForThoseWhoUseIt() throws {
    let access = WindowAccess()
    let (begun, mayEnd, ended) = (Locked(0), Locked(false), Locked(0))
    let users = try (0..<2).map { number in
      try #require(
        WorkerThread(name: "user-\(number)") {
          _ = access.use {
            begun.withLock { $0 += 1 }
            begun.wakeAll()
            _ = mayEnd.wait(until: .now.advanced(by: .seconds(60))) { $0 ? true : nil }
            ended.withLock { $0 += 1 }
          }
        })
    }
    #expect(begun.wait(until: .now.advanced(by: .seconds(60))) { $0 == 2 ? true : nil } == true, "both use it at once")
    #expect(!access.revoke(waiting: .seconds(0.02)), "both still use the window")
    let found = Locked((hasWaited: false, endedCount: 0))
    let owner = try #require(
      WorkerThread(name: "owner") {
        let hasWaited = access.revoke(waiting: .seconds(60))
        found.withLock { $0 = (hasWaited, ended.withLock { $0 }) }
      })
    mayEnd.withLock { $0 = true }
    mayEnd.wakeAll()
    owner.join()
    for user in users { user.join() }
    #expect(found.withLock { $0.hasWaited && $0.endedCount == 2 })
  }

  @Test func aUserThatFailsIsNoUserAnyMore() {
    let access = WindowAccess()
    #expect(throws: PipSinkError.self) {
      try access.use { () throws(PipSinkError) in throw .frame(.outOfMemory(byteCount: 1)) }
    }
    #expect(access.revoke(waiting: .seconds(0.02)))
  }
}
