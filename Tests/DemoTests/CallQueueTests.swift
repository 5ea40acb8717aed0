import Testing

@testable import PipSink
@testable import PipSinkDBus

/// Calls on their way to the main actor, on which these tests run: what they add waits until they do.
@MainActor @Suite struct CallQueueTests {
  /// What was carried out.
  @MainActor
  private final class Record {
    var calls: [Int] = []
    var refused: [Int] = []
  }

  private typealias Queue = CallQueue<Int>

  /// Whether all that has been taken was carried out, and the queue has begun to wait anew.
  private func isDone(_ record: Record, _ count: Int) async throws -> Bool {
    let isDone = try await eventually { record.calls.count >= count }
    // Beyond the pause behind a call.
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
      // Behind the last one there is a pause yet.
      #expect(try await eventually { queue.add(64 * round) { record.calls.append($0) } })
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
        // By the function that the first call brought, as the whole of what is taken meanwhile.
        if $0 < 3 { _ = queue.add($0 + 10) { _ in Issue.record("the call has begun the queue anew") } }
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
