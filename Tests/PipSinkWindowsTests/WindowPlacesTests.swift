import Foundation
import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport

/// Tests where a picture-in-picture window was left on each monitor.
@Suite struct WindowPlacesTests {
  private let small = WindowPlacement(corner: .topLeft, width: 200, height: 112)
  private let large = WindowPlacement(corner: .bottomLeft, width: 480, height: 270)

  @Test func eachMonitorHasItsOwnPlaceAndOthersHaveTheLastOne() {
    var places = WindowPlaces()
    places.note(small, on: "DP-1")
    places.note(large, on: "HDMI-A-1")
    #expect(places.placement(on: "DP-1") == small && places.placement(on: "HDMI-A-1") == large)
    #expect(places.placement(on: "eDP-1") == large && places.placement(on: nil) == large)
    places.note(small, on: nil)
    #expect(places.placement(on: "eDP-1") == small && places.placement(on: "HDMI-A-1") == large)
  }

  @Test(arguments: ["DP-1", "Dell [U2720Q] = \\ \"x\"", " blank ", "tab\tand\nline", "Écran 1", "", "#;"])
  func whatIsRememberedOfAMonitorIsThereAfterARestart(name: String) throws {
    let folder = try TemporaryFolder()
    var places = WindowPlaces(monitor: name)
    places.note(small, on: name)
    places.note(large, on: "other")
    #expect(places.save(to: folder.path("place.ini")))
    let read = try #require(WindowPlaces(from: folder.path("place.ini")))
    #expect(read == places)
    #expect(read.monitor == name && read.placement(on: name) == small)
  }

  @Test func whatIsNoSmallFileIsNotReadAndNotWaitedFor() throws {
    let folder = try TemporaryFolder()
    mkfifo(folder.path("fifo"), 0o600)
    #expect(WindowPlaces(from: folder.path("fifo")) == nil)
    #expect(WindowPlaces(from: "/dev/zero") == nil)
    #expect(WindowPlaces().save(to: folder.path("large.ini")))
    #expect(WindowPlaces(from: folder.path("large.ini")) != nil)
    truncate(folder.path("large.ini"), 1 << 30)
    #expect(WindowPlaces(from: folder.path("large.ini")) == nil)
    // The limit is 64 KiB. Lines that begin with # are comments.
    let text = "[picture-in-picture]\ncorner=top-left\nwidth=200\nheight=112\n#"
    for (size, isRead) in [(1 << 16, true), (1 << 16 + 1, false)] {
      let comment = String(repeating: "x", count: size - text.utf8.count)
      try (text + comment).write(toFile: folder.path("comment.ini"), atomically: true, encoding: .utf8)
      #expect((WindowPlaces(from: folder.path("comment.ini")) != nil) == isRead)
    }
  }

  @Test func aFileFromBeforeThereWereMonitorsIsRead() throws {
    let folder = try TemporaryFolder()
    try "[picture-in-picture]\ncorner=top-left\nwidth=200\nheight=112\n".write(
      toFile: folder.path("place.ini"), atomically: true, encoding: .utf8)
    #expect(WindowPlaces(from: folder.path("place.ini")) == WindowPlaces(small))
  }

  @Test func aMonitorWithoutAUsefulPlaceIsPassedOver() throws {
    let folder = try TemporaryFolder()
    try """
    [picture-in-picture]
    corner=top-left
    width=200
    height=112
    monitor=a
    [monitor-1]
    name=a
    corner=middle
    width=1
    height=1
    [monitor-2]
    corner=top-left
    width=1
    height=1
    [monitor-3]
    name=b
    corner=bottom-left
    width=480
    height=270
    """.write(toFile: folder.path("place.ini"), atomically: true, encoding: .utf8)
    let places = try #require(WindowPlaces(from: folder.path("place.ini")))
    #expect(places.monitor == "a" && places.placement(on: "a") == small && places.placement(on: "b") == large)
  }

  @Test func ofManyMonitorsTheOldestAreForgotten() throws {
    let folder = try TemporaryFolder()
    var places = WindowPlaces()
    for number in 0...WindowPlaces.maximumMonitorCount { places.note(small, on: "\(number)") }
    places.note(large, on: nil)
    #expect(places.placement(on: "0") == large)
    #expect(places.placement(on: "1") == small)
    #expect(places.save(to: folder.path("place.ini")))
    #expect(WindowPlaces(from: folder.path("place.ini")) == places)
  }

  @Test func aPlaceForEveryMonitorLeavesTheMonitorAsItIs() throws {
    let folder = try TemporaryFolder()
    var places = WindowPlaces(monitor: "a")
    for name in ["a", "b"] { places.note(large, on: name) }
    #expect(places.save(to: folder.path("place.ini")))
    #expect(small.save(to: folder.path("place.ini")))
    let read = try #require(WindowPlaces(from: folder.path("place.ini")))
    #expect(read.monitor == "a")
    for name in ["a", "b", "c"] { #expect(read.placement(on: name) == small) }
  }

  // MARK: - Which monitor a window is on

  @Test func aWindowIsOnTheMonitorThatMostOfItIsOn() {
    let monitors = [
      WindowMonitor(name: "left", area: PictureRect(x: 0, y: 0, width: 640, height: 800)),
      WindowMonitor(name: "right", area: PictureRect(x: 640, y: 0, width: 640, height: 800)),
    ]
    let under = { (x: Int, y: Int, current: String?) in
      monitors.under(PictureRect(x: x, y: y, width: 100, height: 50), current: current)?.name
    }
    #expect(under(589, 0, "right") == "left" && under(591, 0, "left") == "right")
    #expect(under(590, 0, "right") == "right" && under(590, 0, "left") == "left" && under(590, 0, nil) == "left")
    #expect(under(2000, 0, "left") == nil)
  }

  @Test func monitorsHaveTheNamesOfTheOthersWhereTheyAre() {
    let monitor = { (name: String, x: Int) in
      WindowMonitor(name: name, area: PictureRect(x: x, y: 0, width: 640, height: 800))
    }
    let (left, right) = (monitor("a", 0), monitor("b", 640))
    let others = [monitor("right", 640), monitor("left", 0)]
    #expect([left, right].named(as: others) == [monitor("left", 0), monitor("right", 640)])
    // One that has just been connected is not known yet, or is still known where another one is now.
    #expect([left, right].named(as: [monitor("left", 0)]) == [monitor("left", 0), right])
    #expect([left, monitor("b", 100)].named(as: [monitor("left", 0)]) == [left, monitor("b", 100)])
    #expect([left, right].named(as: []) == [left, right])
  }

  @Test func windowsInTheSameCornerOfAnotherMonitorTakeNoRoom() {
    var stack = WindowStack<Int>()
    for (id, monitor) in ["left", "right", "left"].enumerated() {
      stack.open(id)
      stack.note(small, on: monitor, of: id)
    }
    #expect(stack.offset(of: 1, in: .topLeft, on: "right") == 0)
    #expect(stack.offset(of: 2, in: .topLeft, on: "left") == 112 + 8)
  }
}
