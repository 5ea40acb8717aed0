import Testing

@testable import PipSink

@Suite struct RetryPolicyTests {
  @Test func pausesDoubleUpToTheLongestAndEndAtTheLimit() {
    let policy = RetryPolicy(limit: 5, firstPause: 1, longestPause: 5)
    #expect((0...6).map(policy.pause(before:)) == [nil, 1, 2, 4, 5, 5, nil])
    #expect(policy.pause(before: -1) == nil)
    #expect(RetryPolicy(limit: 0).pause(before: 1) == nil)
  }

  @Test func aTryWithALargeNumberHasTheLongestPause() {
    let policy = RetryPolicy(limit: .max, firstPause: 0.5, longestPause: 30)
    for attempt in [31, 32, 63, 64, 1000, .max] { #expect(policy.pause(before: attempt) == 30) }
    let endless = RetryPolicy(limit: .max, firstPause: 1, longestPause: .infinity)
    #expect(endless.pause(before: 1000) == Double(1 << 30))
  }

  @Test func chanceMakesAPauseLongerOrShorterByThatPartOfIt() throws {
    let policy = RetryPolicy(limit: .max, firstPause: 8, longestPause: 8, jitter: 0.25)
    let pauses = try (1...500).map { try #require(policy.pause(before: $0)) }
    #expect(pauses.allSatisfy { (6...10).contains($0) })
    // Of so many some are in every quarter, but for once in 10^60 runs.
    for quarter in [6.0, 7, 8, 9] { #expect(pauses.contains { (quarter...quarter + 1).contains($0) }) }
    let wild = RetryPolicy(limit: .max, firstPause: 1, longestPause: 1, jitter: 7)
    #expect((1...200).allSatisfy { (0...2).contains(wild.pause(before: $0) ?? -1) })
    #expect(RetryPolicy(firstPause: 1, jitter: -1).pause(before: 1) == 1)
  }
}
