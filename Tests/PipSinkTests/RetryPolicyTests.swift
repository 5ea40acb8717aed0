import Testing

@testable import PipSink

@Suite struct RetryPolicyTests {
  @Test func pausesDoubleUpToTheLongestAndEndAtTheLimit() {
    let policy = RetryPolicy(limit: 5, firstPause: .seconds(1), longestPause: .seconds(5))
    let pauses: [Duration?] = [nil] + [1, 2, 4, 5, 5].map { .seconds($0) } + [nil]
    #expect((0...6).map(policy.pause(before:)) == pauses)
    #expect(policy.pause(before: -1) == nil)
    #expect(RetryPolicy(limit: 0).pause(before: 1) == nil)
  }

  @Test func aTryWithALargeNumberHasTheLongestPause() {
    let policy = RetryPolicy(limit: .max, firstPause: .milliseconds(500), longestPause: .seconds(30))
    for attempt in [31, 32, 63, 64, 1000, .max] { #expect(policy.pause(before: attempt) == .seconds(30)) }
    let endless = RetryPolicy(limit: .max, firstPause: .seconds(1), longestPause: .seconds(Int64.max))
    #expect(endless.pause(before: 1000) == .seconds(1 << 30))
    let absurd = RetryPolicy(limit: .max, firstPause: .seconds(Int64.max), longestPause: .seconds(Int64.max))
    #expect(absurd.pause(before: 1000) == .seconds(1_000_000_000) * (1 << 30))
  }

  @Test func chanceMakesAPauseLongerOrShorterByThatPartOfIt() throws {
    let policy = RetryPolicy(limit: .max, firstPause: .seconds(8), longestPause: .seconds(8), jitter: 0.25)
    let pauses = try (1...500).map { try #require(policy.pause(before: $0)) / .seconds(1) }
    #expect(pauses.allSatisfy { (6...10).contains($0) })
    // With so many pauses, some are in each quarter, except in one of 10^60 runs.
    for quarter in [6.0, 7, 8, 9] { #expect(pauses.contains { (quarter...quarter + 1).contains($0) }) }
    let wild = RetryPolicy(limit: .max, firstPause: .seconds(1), longestPause: .seconds(1), jitter: 7)
    #expect((1...200).allSatisfy { (.zero ... .seconds(2)).contains(wild.pause(before: $0) ?? .seconds(-1)) })
    #expect(RetryPolicy(firstPause: .seconds(1), jitter: -1).pause(before: 1) == .seconds(1))
  }
}
