import Testing

@testable import PipSinkWindows

/// These tests decide from an app's windows whether the app counts as being in the background.
@Suite struct BackgroundSignsTests {
  private func isInBackground(
    isObscuredCounted: Bool = false, isUnfocusedCounted: Bool = false, _ change: (inout BackgroundSigns) -> Void
  ) -> Bool {
    var options = BackgroundOptions()
    (options.isObscuredCounted, options.isUnfocusedCounted) = (isObscuredCounted, isUnfocusedCounted)
    var signs = BackgroundSigns()
    signs.isMapped = true
    change(&signs)
    return signs.isInBackground(options)
  }

  @Test func aWindowThatIsShownIsInTheForeground() {
    #expect(!isInBackground { _ in })
    #expect(!isInBackground(isObscuredCounted: true, isUnfocusedCounted: true) { _ in })
    #expect(BackgroundSigns().isInBackground(.init()), "a window that was never shown is in the background")
  }

  @Test func eachOfTheSignsIsEnough() {
    #expect(isInBackground { $0.isMapped = false })
    #expect(isInBackground { $0.isMinimized = true })
    #expect(isInBackground { $0.isFrameMissing = true })
    #expect(isInBackground { $0.desktop = (0, 1) })
  }

  @Test func aWindowOfTheWorkspaceThatIsShownOrOfAllIsSeen() {
    #expect(!isInBackground { $0.desktop = (1, 1) })
    #expect(!isInBackground { $0.desktop = (.max, 0) })
    #expect(isInBackground { $0.desktop = (.max - 1, 0) })
  }

  @Test func coveredOrWithoutTheFocusCountsWhereTheAppSaysSo() {
    #expect(!isInBackground(isUnfocusedCounted: true) { $0.isObscured = true })
    #expect(isInBackground(isObscuredCounted: true) { $0.isObscured = true })
    #expect(!isInBackground(isObscuredCounted: true) { $0.isFocused = false })
    #expect(isInBackground(isUnfocusedCounted: true) { $0.isFocused = false })
  }
}
