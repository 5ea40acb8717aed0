import Testing

@testable import PipSink
@testable import PipSinkDBus
@testable import TestSupport

/// Tests of the queue of calls to the main actor. These tests run on that actor, so the calls that they add wait until
/// the tests suspend.
@MainActor @Suite struct CallQueueTests {
  /// Records the calls that were carried out and those that were refused.
  @MainActor
  private final class Record {
    var calls: [Int] = []
    var refused: [Int] = []
  }

  private typealias Queue = CallQueue<Int>

  /// Whether exactly `count` calls have been carried out and the queue is waiting for new ones.
  private func isDone(_ record: Record, _ count: Int) async throws -> Bool {
    let isDone = await eventually { record.calls.count >= count }
    // The queue pauses after a call, and this is longer than its pause.
    try await Task.sleep(for: .milliseconds(30))
    return isDone && record.calls.count == count
  }

  @Test func sixtyFourCallsWaitAndNoMore() async throws {
    let (queue, record) = (Queue(), Record())
    for call in 0..<64 {
      #expect(queue.add(call) { record.calls.append($0) }, "\(call)")
    }
    #expect(!queue.add(64) { record.calls.append($0) })
    #expect(record.calls.isEmpty)
    #expect(try await isDone(record, 64))
    #expect(record.calls == Array(0..<64))
  }

  @Test func thereIsRoomAgainWhenTheyHaveBeenCarriedOut() async throws {
    let (queue, record) = (Queue(), Record())
    for round in 0..<3 {
      // The queue may still be pausing after the last call of the previous round.
      #expect(await eventually { queue.add(64 * round) { record.calls.append($0) } })
      for call in 1..<64 { #expect(queue.add(64 * round + call) { record.calls.append($0) }, "\(round), \(call)") }
      #expect(!queue.add(-1) { record.calls.append($0) })
      #expect(try await isDone(record, 64 * (round + 1)))
    }
    #expect(record.calls == Array(0..<192))
  }

  @Test func thoseThatAreBeingCarriedOutCountAmongThem() async throws {
    let (queue, record) = (Queue(), Record())
    let add = { @MainActor (call: Int) in
      if !queue.add(call, perform: { record.calls.append($0) }) { record.refused.append(call) }
    }
    for call in 0..<64 {
      _ = queue.add(call) {
        record.calls.append($0)
        add(100 + $0)
      }
    }
    #expect(try await isDone(record, 64))
    #expect(record.refused == Array(100..<164))
  }

  @Test func whatComesWhileOthersAreCarriedOutFollowsThemOnce() async throws {
    let (queue, record) = (Queue(), Record())
    for call in 0..<3 {
      _ = queue.add(call) {
        record.calls.append($0)
        // The function that came with the first call also carries out the calls that are added meanwhile.
        if $0 < 3 { _ = queue.add($0 + 10) { _ in Issue.record("the call has started the queue a second time") } }
      }
    }
    #expect(try await isDone(record, 6))
    #expect(record.calls == [0, 1, 2, 10, 11, 12])
  }

  @Test func afterItsEndItTakesNothingAndCarriesOutNothing() async throws {
    let (queue, record) = (Queue(), Record())
    #expect(queue.add(0) { record.calls.append($0) })
    queue.close()
    #expect(!queue.add(1) { record.calls.append($0) })
    try await Task.sleep(for: .milliseconds(50))
    #expect(record.calls.isEmpty)
    #expect(!queue.add(2) { record.calls.append($0) })
  }

  @Test func theCallThatEndsItIsTheLast() async throws {
    let (queue, record) = (Queue(), Record())
    for call in 0..<5 {
      _ = queue.add(call) {
        record.calls.append($0)
        if $0 == 2 { queue.close() }
      }
    }
    #expect(try await isDone(record, 3))
    #expect(record.calls == [0, 1, 2])
  }
}
