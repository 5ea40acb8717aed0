import PipSink
import Testing

@testable import PipSinkGTK

/// Whether a compositor shows a window, by the frames that it asks for.
@MainActor @Suite struct FrameWatchTests {
  /// A window that the test paints.
  @MainActor
  private final class Window {
    let clock = ManualClock()
    var isShown = true
    var asked = 0
    var changes: [Bool] = []
    private(set) var looks = 0
    private(set) var watch: FrameWatch?

    init() {
      watch = FrameWatch(
        clock: clock.clock,
        isWatching: { [weak self] in
          self?.looks += 1
          return self?.isShown ?? false
        },
        ask: { [weak self] in self?.asked += 1 },
        changed: { [weak self] in self?.changes.append(self?.watch?.isFrameMissing ?? false) })
    }

    /// Lets it look again, as often as is said.
    func tick(_ count: Int) async throws {
      for _ in 0..<count {
        let before = looks
        try #require(await clock.reach(0.025))
        for _ in 0..<10_000 where looks == before { try await Task.sleep(for: .milliseconds(1)) }
        try #require(looks == before + 1)
      }
    }

    func forget() { watch = nil }
  }

  @Test func aWindowWithoutAFrameIsAskedForOneAndCountsAsHiddenWhenNoneComes() async throws {
    let window = Window()
    try await window.tick(1)
    #expect(window.asked == 0 && window.changes.isEmpty)
    try await window.tick(1)
    #expect(window.asked == 1 && window.changes.isEmpty)
    try await window.tick(1)
    #expect(window.asked == 2 && window.changes == [true])
    // It goes on asking, and says it once.
    try await window.tick(3)
    #expect(window.asked == 5 && window.changes == [true])
    window.watch?.didPaint()
    #expect(window.changes == [true, false])
    try await window.tick(2)
    #expect(window.changes == [true, false])
    try await window.tick(1)
    #expect(window.changes == [true, false, true])
  }

  @Test func aWindowThatPaintsByItselfIsNotAskedAndNotHidden() async throws {
    let window = Window()
    for _ in 0..<10 {
      try await window.tick(1)
      window.watch?.didPaint()
    }
    #expect(window.asked == 0 && window.changes.isEmpty)
  }

  @Test func aWindowThatIsNotThereIsNotWaitedFor() async throws {
    let window = Window()
    window.isShown = false
    try await window.tick(10)
    #expect(window.asked == 0 && window.changes.isEmpty)
    window.isShown = true
    try await window.tick(2)
    #expect(window.changes.isEmpty)
  }

  @Test func aWatchThatHasGoneLooksNoMore() async throws {
    let window = Window()
    try await window.tick(1)
    window.forget()
    for _ in 0..<10_000 where window.clock.alarmCount > 0 { try await Task.sleep(for: .milliseconds(1)) }
    #expect(window.clock.alarmCount == 0)
    #expect(window.looks == 1)
  }
}
