import Testing

@testable import PipSink
@testable import PipSinkWindows

/// Tests of several picture-in-picture windows in the corners of one screen.
@Suite struct WindowStackTests {
  private let area = PictureRect(x: 0, y: 0, width: 1024, height: 768)

  /// A stack of windows with these heights in these corners. They are opened in this order, and their numbers are their
  /// IDs.
  private func stack(_ windows: [(WindowCorner, height: Int)]) -> WindowStack<Int> {
    var stack = WindowStack<Int>()
    for (id, window) in windows.enumerated() {
      stack.open(id)
      stack.note(WindowPlacement(corner: window.0, width: 320, height: window.height), of: id)
    }
    return stack
  }

  @Test func windowsInOneCornerLeaveRoomForThoseThatWereThereBefore() {
    let stack = stack([(.bottomRight, 180), (.bottomRight, 100), (.bottomRight, 240)])
    #expect([0, 1, 2].map { stack.offset(of: $0, in: .bottomRight) } == [0, 188, 296])
  }

  @Test func windowsInOtherCornersTakeNoRoom() {
    let stack = stack([(.topRight, 180), (.bottomRight, 100), (.topRight, 240)])
    #expect([0, 1, 2].map { stack.offset(of: $0, in: .topRight) } == [0, 188, 188])
    #expect(stack.offset(of: 2, in: .bottomRight) == 108)
    #expect(stack.offset(of: 2, in: .topLeft) == 0)
  }

  @Test func aWindowThatIsClosedLeavesItsRoomAndComesLastWhenItIsOpenedAgain() {
    var stack = stack([(.bottomRight, 180), (.bottomRight, 100)])
    stack.close(0)
    #expect(stack.offset(of: 1, in: .bottomRight) == 0)
    stack.open(0)
    // The corner of the window that was just opened is not yet known.
    #expect(stack.offset(of: 1, in: .bottomRight) == 0)
    stack.note(WindowPlacement(corner: .bottomRight, width: 320, height: 180), of: 0)
    #expect(stack.offset(of: 1, in: .bottomRight) == 0)
    #expect(stack.offset(of: 0, in: .bottomRight) == 108)
  }

  @Test func aWindowThatIsOpenedTwiceKeepsItsTurn() {
    var stack = stack([(.bottomRight, 180), (.bottomRight, 100)])
    stack.open(0)
    #expect(stack.offset(of: 0, in: .bottomRight) == 0)
    #expect(stack.offset(of: 1, in: .bottomRight) == 188)
  }

  @Test func aWindowThatMovesOrGrowsIsFollowed() {
    var stack = stack([(.bottomRight, 180), (.bottomRight, 100)])
    stack.note(WindowPlacement(corner: .bottomRight, width: 320, height: 300), of: 0)
    #expect(stack.offset(of: 1, in: .bottomRight) == 308)
    stack.note(WindowPlacement(corner: .topLeft, width: 320, height: 300), of: 0)
    #expect(stack.offset(of: 1, in: .bottomRight) == 0)
    #expect(stack.offset(of: 1, in: .topLeft) == 308)
    // A window that is not open has no place.
    stack.note(WindowPlacement(corner: .bottomRight, width: 320, height: 300), of: 7)
    #expect(stack.offset(of: 1, in: .bottomRight) == 0)
  }

  @Test func aWindowStaysInItsCornerAsLongAsThatHasRoom() {
    // There are 736 pixels between the margins. Three windows of 180 and their gaps take 564 of them.
    let three = Array(repeating: (WindowCorner.bottomRight, height: 180), count: 3)
    var stack = stack(three)
    stack.open(3)
    let corner = { (height: Int) in
      stack.freeCorner(for: WindowPlacement(corner: .bottomRight, width: 320, height: height), of: 3, in: area)
    }
    #expect(corner(172) == .bottomRight)
    #expect(corner(173) == .topLeft)
  }

  @Test func whereItsCornerIsFullItTakesTheFirstThatHasRoom() {
    var stack = stack([(.bottomRight, 600), (.topLeft, 600), (.topRight, 100)])
    stack.open(3)
    let placement = WindowPlacement(corner: .bottomRight, width: 320, height: 180)
    #expect(stack.freeCorner(for: placement, of: 3, in: area) == .topRight)
    stack.note(WindowPlacement(corner: .topRight, width: 320, height: 700), of: 2)
    #expect(stack.freeCorner(for: placement, of: 3, in: area) == .bottomLeft)
  }

  @Test func whereEveryCornerIsFullItStaysInItsOwn() {
    var stack = stack(WindowCorner.allCases.map { ($0, height: 600) })
    stack.open(9)
    let placement = WindowPlacement(corner: .bottomLeft, width: 320, height: 180)
    #expect(stack.freeCorner(for: placement, of: 9, in: area) == .bottomLeft)
  }
}
