import CGStreamer
import Testing

@testable import PipSink

@Suite struct MediaTimeTests {
  @Test func aClockTimeIsNanoseconds() {
    let time = MediaTime(clockTime: 1_500_000_000)
    #expect(time.value == 1_500_000_000)
    #expect(time.timescale == 1_000_000_000)
    #expect(time.seconds == 1.5)
    #expect(time.clockTime == 1_500_000_000)
  }

  @Test func noClockTimeIsInvalidAndTooLateAOneIsInfinite() {
    #expect(MediaTime(clockTime: UInt64(PIPSINK_CLOCK_TIME_NONE)) == .invalid)
    #expect(!MediaTime(clockTime: .max).isValid)
    #expect(MediaTime(clockTime: UInt64(Int64.max) + 1) == .positiveInfinity)
    #expect(MediaTime.invalid.clockTime == nil)
    #expect(MediaTime(value: -1, timescale: 1).clockTime == nil)
  }

  @Test func aTimescaleThatIsNotAboveZeroMakesAnInvalidTime() {
    #expect(MediaTime(value: 1, timescale: 0) == .invalid)
    #expect(MediaTime(value: 1, timescale: -30) == .invalid)
  }

  @Test func secondsBecomeTheNearestTick() {
    let cases: [(seconds: Double, timescale: Int32, value: Int64)] = [
      (0.7, 1, 1), (0.3, 1, 0), (1.5, 1, 2), (-0.7, 1, -1), (-0.3, 1, 0), (0.29, 100, 29), (1.0 / 3, 90_000, 30_000),
      (8.2, 1000, 8200), (-0.29, 100, -29),
    ]
    for (seconds, timescale, value) in cases {
      #expect(MediaTime(seconds: seconds, timescale: timescale).value == value, "\(seconds) s")
    }
  }

  @Test func sumsAreExactInACommonTimescale() {
    let sum = MediaTime(value: 1, timescale: 30) + MediaTime(value: 1, timescale: 24)
    #expect(sum == MediaTime(value: 9, timescale: 120))
    #expect(sum.timescale == 120)
    #expect(MediaTime(value: 3, timescale: 4) - MediaTime(value: 1, timescale: 4) == MediaTime(value: 1, timescale: 2))
  }

  @Test func thirtyFramesOfNTSCMakeOneSecondAndAMillisecond() {
    let frame = MediaTime(value: 1001, timescale: 30000)
    let sum = (0..<30).reduce(MediaTime.zero) { time, _ in time + frame }
    #expect(sum == MediaTime(value: 1001, timescale: 1000))
  }

  @Test func aCommonTimescaleThatIsTooLargeRoundsToTheFinerOne() {
    let sum = MediaTime(value: 1, timescale: 1_000_000_007) + MediaTime(value: 1, timescale: 998_244_353)
    #expect(sum.timescale == 1_000_000_007)
    #expect(sum.value == 2)
  }

  @Test func overflowGoesToInfinity() {
    #expect(MediaTime(value: .max, timescale: 1) + MediaTime(value: 1, timescale: 1) == .positiveInfinity)
    #expect(MediaTime(value: .min, timescale: 1) - MediaTime(value: 1, timescale: 1) == .negativeInfinity)
    #expect(MediaTime(seconds: 1e300, timescale: 600) == .positiveInfinity)
  }

  @Test(arguments: [MediaTime.invalid, .positiveInfinity, .negativeInfinity])
  func specialTimesAbsorbNumbers(special: MediaTime) {
    #expect(special + MediaTime.zero == special)
    #expect(MediaTime.zero + special == special)
  }

  @Test func contradictionsAreInvalid() {
    #expect(MediaTime.positiveInfinity + .negativeInfinity == .invalid)
    #expect(MediaTime.positiveInfinity - .positiveInfinity == .invalid)
    #expect(MediaTime.invalid + .positiveInfinity == .invalid)
    #expect(MediaTime.negativeInfinity - .invalid == .invalid)
  }

  @Test func equalTimesHaveEqualHashesWhateverTheirTimescale() {
    let half = MediaTime(value: 1, timescale: 2)
    let same = MediaTime(value: 500, timescale: 1000)
    #expect(half == same)
    #expect(half.hashValue == same.hashValue)
    #expect(Set([half, same]).count == 1)
  }

  @Test func orderIsThatOfTheNumbersWithTheSpecialTimesAround() {
    let ordered: [MediaTime] = [
      .negativeInfinity, MediaTime(value: -1, timescale: 3), .zero, MediaTime(value: 1, timescale: 3),
      MediaTime(value: .max, timescale: 1), .positiveInfinity, .invalid,
    ]
    #expect(ordered.shuffled().sorted() == ordered)
  }

  @Test func conversionRoundsHalvesAwayFromZero() {
    #expect(MediaTime(value: 1, timescale: 2).converted(to: 1).value == 1)
    #expect(MediaTime(value: -1, timescale: 2).converted(to: 1).value == -1)
    #expect(MediaTime(value: 1, timescale: 3).converted(to: 1000).value == 333)
    #expect(MediaTime.positiveInfinity.converted(to: 10) == .positiveInfinity)
  }

  @Test func aClockTimeComesOfAnyTimescale() {
    #expect(MediaTime(value: 1, timescale: 2).clockTime == 500_000_000)
    #expect(MediaTime(value: 2, timescale: 3).clockTime == 666_666_667)
    #expect(MediaTime.zero.clockTime == 0)
    #expect(MediaTime(value: .max, timescale: 1).clockTime == nil)
    #expect(MediaTime.positiveInfinity.clockTime == nil)
  }

  @Test func secondsAreTheNearestTickAndWhatIsNoNumberIsNone() {
    #expect(MediaTime(seconds: 0.3334, timescale: 3) == MediaTime(value: 1, timescale: 3))
    #expect(MediaTime(seconds: -1.5, timescale: 1).value == -2)
    #expect(MediaTime(seconds: 1.5).timescale == 1_000_000_000)
    #expect(MediaTime(seconds: .nan) == .invalid)
    #expect(MediaTime(seconds: 1, timescale: 0) == .invalid)
    #expect(MediaTime(seconds: -.infinity) == .negativeInfinity)
    #expect(MediaTime.positiveInfinity.seconds == .infinity && MediaTime.negativeInfinity.seconds == -.infinity)
    #expect(MediaTime.invalid.seconds.isNaN)
  }

  @Test func aSumTooFineForBothIsInTheFinerOnesTicksInEitherOrder() {
    let (fine, coarse) = (MediaTime(value: 7, timescale: 1_000_000_007), MediaTime(value: 1, timescale: 998_244_353))
    for sum in [fine + coarse, coarse + fine] {
      #expect(sum.timescale == 1_000_000_007)
      #expect(sum.value == 8)
    }
    #expect((coarse - fine).value == -6)
  }

  @Test func anInfinityThatIsSubtractedGoesToTheOtherSide() {
    #expect(MediaTime.zero - .positiveInfinity == .negativeInfinity)
    #expect(MediaTime.zero - .negativeInfinity == .positiveInfinity)
    #expect(MediaTime.positiveInfinity - .zero == .positiveInfinity)
    #expect(MediaTime.positiveInfinity - .negativeInfinity == .positiveInfinity)
  }

  @Test func theLeastValueCanBeSubtracted() {
    let least = MediaTime(value: .min, timescale: 1)
    #expect(MediaTime(value: -1, timescale: 1) - least == MediaTime(value: .max, timescale: 1))
    #expect(MediaTime.zero - least == .positiveInfinity)
  }

  @Test func aConversionThatOverflowsGoesToTheInfinityOfItsSide() {
    #expect(MediaTime(value: .max, timescale: 1).converted(to: 2) == .positiveInfinity)
    #expect(MediaTime(value: .min, timescale: 1).converted(to: 2) == .negativeInfinity)
    #expect(MediaTime(value: 1, timescale: 1).converted(to: 0) == .invalid)
    #expect(MediaTime(value: 1, timescale: 1).converted(to: 90_000).value == 90_000)
  }
}
