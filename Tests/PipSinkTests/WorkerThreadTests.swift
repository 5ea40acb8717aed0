import Testing

@testable import PipSink

@Suite struct WorkerThreadTests {
  @Test func aThreadThatHasEndedIsNoLaterOne() throws {
    let first = try #require(WorkerThread(name: "first") {})
    first.join()
    // GLib soon uses the memory of the first thread for another one.
    for number in 1...100 {
      let isFirst = Locked<Bool?>(nil)
      let thread = try #require(WorkerThread(name: "later") { isFirst.withLock { $0 = first.isCurrent } })
      thread.join()
      #expect(isFirst.withLock { $0 } == false, "thread \(number)")
      if isFirst.withLock({ $0 }) != false { return }
    }
  }

  @Test func onItselfItIsCurrentAndDoesNotWait() throws {
    let own = Locked<WorkerThread?>(nil)
    let isCurrent = Locked(false)
    let thread = try #require(
      WorkerThread(name: "own") {
        let thread = own.wait { $0 }
        thread.join()
        isCurrent.withLock { $0 = thread.isCurrent }
      })
    own.withLock { $0 = thread }
    own.wakeAll()
    thread.join()
    #expect(isCurrent.withLock { $0 })
    own.withLock { $0 = nil }
  }
}
