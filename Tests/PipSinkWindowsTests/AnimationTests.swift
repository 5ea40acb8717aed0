import Glibc
import Testing

@testable import PipSinkWindows
@testable import TestSupport

/// The steps of a transition.
@MainActor @Suite struct AnimationTests {
  /// A camera that goes off must hide its picture at once and for good, however busy the main thread is.
  @Test func whatIsStoppedChangesNothingMoreEvenWhereItsNextStepIsDue() async throws {
    let animation = Animation()
    var values: [Double] = []
    animation.run(from: 0, to: 1) { values.append($0) }
    #expect(await eventually { !values.isEmpty })
    // The next step waits for the main thread.
    usleep(50_000)
    animation.stop()
    let last = values.last
    var hasEnded = false
    let other = Animation()
    other.run(from: 0, to: 1) { hasEnded = $0 == 1 }
    #expect(await eventually { hasEnded })
    #expect(values.last == last)
  }
}
