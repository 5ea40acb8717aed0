import Foundation
import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport

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

  @Test func windowsOfOtherProgramsThatWereThereBeforeGetRoomToo() {
    let moment = { (seconds: UInt64) in MonotonicTime(nanoseconds: seconds * 1_000_000_000) }
    var stack = WindowStack<Int>()
    for (id, seconds) in [(0, 10), (1, 30)] as [(Int, UInt64)] {
      stack.open(id, at: moment(seconds))
      stack.note(WindowPlacement(corner: .bottomRight, width: 320, height: 100), on: "screen", of: id)
    }
    let other = { (seconds: UInt64, corner: WindowCorner, monitor: String) in
      StackedWindow(opened: moment(seconds), corner: corner, height: 180, monitor: monitor)
    }
    stack.others = [
      other(20, .bottomRight, "screen"), other(5, .topLeft, "screen"), other(5, .bottomRight, "other screen"),
      other(40, .bottomRight, "screen"),
    ]
    #expect([0, 1].map { stack.offset(of: $0, in: .bottomRight, on: "screen") } == [0, 108 + 188])
    #expect(stack.offset(of: 0, in: .topLeft, on: "screen") == 188)
    #expect(stack.own.map(\.opened) == [moment(10), moment(30)])
  }

  @MainActor
  @Test func programsTellEachOtherWhereTheirWindowsAre() throws {
    let folder = try TemporaryFolder()
    let windows = WindowCorner.allCases.enumerated().map { index, corner in
      StackedWindow(
        opened: MonotonicTime(nanoseconds: UInt64(index) << 40), corner: corner, height: 100 + index,
        monitor: index == 0 ? " " : ":0 Dell [U2720Q] \(index)")
    }
    let (one, other) = (WindowRegister(folder: folder.url.path), WindowRegister(folder: folder.url.path))
    #expect(other.others == [])
    one.publish(windows)
    #expect(other.others == windows)
    #expect(one.others == [], "a program does not hear of its own windows")
    one.publish([windows[3]])
    other.publish([windows[1]])
    #expect(other.others == [windows[3]] && one.others == [windows[1]])
    one.publish([])
    #expect(other.others == [] && folder.files.count == 1)
  }

  @MainActor
  @Test func whatAProgramLeavesWhenItIsKilledIsRemoved() throws {
    let folder = try TemporaryFolder()
    try "1 top-left 180 :0 screen\n".write(toFile: folder.path("windows-1-1"), atomically: true, encoding: .utf8)
    let register = WindowRegister(folder: folder.url.path)
    #expect(register.others == [] && folder.files.isEmpty)
    // Nothing is written where the folder cannot be made.
    try Data().write(to: folder.url.appendingPathComponent("file"))
    let nowhere = WindowRegister(folder: folder.path("file/windows"))
    nowhere.publish([StackedWindow(opened: .now, corner: .topLeft, height: 1, monitor: "")])
    #expect(nowhere.others == [] && folder.files == ["file"])
  }

  @MainActor
  @Test func theFolderIsTheUsersAloneNoLinkInItIsFollowedAndNoFileReadWithoutLimit() throws {
    let folder = try TemporaryFolder()
    let (one, other) = (WindowRegister(folder: folder.path("pipsink")), WindowRegister(folder: folder.path("pipsink")))
    let window = StackedWindow(
      opened: MonotonicTime(nanoseconds: 1), corner: .topLeft, height: 180, monitor: ":0 screen")
    one.publish([window])
    let mode = try FileManager.default.attributesOfItem(atPath: folder.path("pipsink"))[.posixPermissions] as? Int
    #expect(mode == 0o700)
    // Locked like the file of a program that runs: one is a link to another folder, one is larger than the limit.
    let line = "1 top-left 180 :0 other\n"
    let files = [
      ("elsewhere", line), ("pipsink/windows-1-1", String(repeating: "x", count: 1 << 16) + "\n" + line),
    ].map { name, text in
      #expect(FileManager.default.createFile(atPath: folder.path(name), contents: Data(text.utf8)))
      let file = open(folder.path(name), O_RDWR | O_CLOEXEC)
      #expect(flock(file, LOCK_EX) == 0)
      return file
    }
    defer { for file in files { close(file) } }
    #expect(symlink(folder.path("elsewhere"), folder.path("pipsink/windows-2-2")) == 0)
    #expect(other.others == [window])
  }

  @Test func aLimitOnFilesEndsNoProgramWithAWindow() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      signal(SIGXFSZ, SIG_DFL)
      var limit = rlimit(rlim_cur: 0, rlim_max: rlim_t.max)
      try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
      await MainActor.run {
        let registers = (0..<2).map { _ in WindowRegister(folder: folder.path("pipsink")) }
        registers[0].publish([StackedWindow(opened: .now, corner: .topLeft, height: 1, monitor: "")])
        #expect(registers[1].others == [])
      }
    }
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
