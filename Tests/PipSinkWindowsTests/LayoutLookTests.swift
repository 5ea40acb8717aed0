import Foundation
import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport
@testable import pipsink_demo

/// How streams are arranged in the picture-in-picture window, as it is seen on each desktop.
@Suite struct LayoutLookTests {
  /// The streams' colours, none of which is in a desktop or in the controls.
  enum Colour {
    case red, green, magenta, blue

    init?(blue: UInt8, green: UInt8, red: UInt8) {
      switch (blue > 200, green > 200, red > 200, blue < 60, green < 60, red < 60) {
      case (_, _, true, true, true, _): self = .red
      case (_, true, _, true, _, true): self = .green
      case (true, _, true, _, true, _): self = .magenta
      case (true, _, _, _, true, true): self = .blue
      default: return nil
      }
    }
  }

  private static let streams = [
    ("red", "a"), ("green", "b"), ("solid-color foreground-color=0xffff00ff", "c"), ("blue", "me"),
  ].map { pattern, name in
    "videotestsrc is-live=true pattern=\(pattern) ! video/x-raw,width=640,height=360,framerate=8/1 "
      + "! appsink name=\(name)"
  }.joined(separator: " ")

  /// The smallest rectangles around the colours that are in a part of the screen, accurate to a few pixels.
  private func rectangles(on desktop: any DesktopServer, in area: PictureRect) async throws -> [Colour: PictureRect] {
    let (image, step) = (try await desktop.screen.screenshot(), 4)
    var found: [Colour: PictureRect] = [:]
    image.bytes.withUnsafeBufferPointer { bytes in
      for y in stride(from: area.y, to: min(area.y + area.height, image.size.height), by: step) {
        for x in stride(from: area.x, to: min(area.x + area.width, image.size.width), by: step) {
          let start = (y * image.size.width + x) * 4
          let colour = Colour(blue: bytes[start], green: bytes[start + 1], red: bytes[start + 2])
          guard let colour else { continue }
          let dot = PictureRect(x: x, y: y, width: step, height: step)
          found[colour] = found[colour].map { $0.union(dot) } ?? dot
        }
      }
    }
    return found
  }

  /// Waits until a part of the screen shows these streams and no others, each in its place.
  ///
  /// - Parameters:
  ///   - expected: the left and upper edge, width and height of each stream, in eighths of the part.
  ///   - area: the part; nil for the rectangle around all streams on the screen.
  /// - Returns: the part.
  @discardableResult
  private func expect(
    _ expected: [Colour: [Int]], on desktop: any DesktopServer, in area: PictureRect? = nil, _ what: String
  ) async throws -> PictureRect? {
    var (found, part): ([Colour: [Int]], PictureRect?) = ([:], area)
    _ = try await eventually(within: 30) {
      let screen = PictureRect(x: 0, y: 0, width: desktop.size.width, height: desktop.size.height)
      let rectangles = try await rectangles(on: desktop, in: area ?? screen)
      let all = rectangles.values.reduce(nil as PictureRect?) { $0?.union($1) ?? $1 }
      part = area ?? all
      guard let part else { return false }
      found = rectangles.mapValues { $0.eighths(of: part) }
      return found == expected
    }
    #expect(found == expected, "\(what)")
    return part
  }

  /// Clicks on the window's layout control until the window changes. On a busy machine a compositor may show the
  /// pointer's motion so late that a user has to click again.
  private func click(_ desktop: any DesktopServer, x: Int, y: Int, in window: PictureRect) async throws {
    let corner = PictureRect(x: x - 12, y: y - 12, width: 4, height: 4)
    let before = try await rectangles(on: desktop, in: window)
    for _ in 0..<5 {
      var offset = 0
      // The controls fade in with the pointer, and their ground hides the pictures' colours.
      _ = try await eventually(within: 20) {
        offset = 3 - offset
        try await desktop.screen.tool("xdotool", "mousemove", "\(x)", "\(y + offset)", "sleep", "0.3")
        return try await rectangles(on: desktop, in: corner).isEmpty
      }
      try await desktop.screen.tool("xdotool", "mousemove", "\(x)", "\(y + 1)", "sleep", "0.3", "click", "1")
      // The controls are not in the way of what is looked at next.
      try await desktop.screen.tool("xdotool", "mousemove", "10", "10")
      if try await eventually(within: 10, { try await rectangles(on: desktop, in: window) != before }) { return }
    }
  }

  @Test(arguments: Desktop.allCases.filter(\.isInstalled))
  func theWindowsControlLeadsThroughAllLayouts(desktop: Desktop) async throws {
    let server = try await desktop.start()
    let demo = try Demo.start(
      [
        "play", Self.streams, "--local", "me", "--surface", "window", "--mode", "pip", "--pip-layout", "grid",
        "--report", "-",
      ], environment: server.environment)
    // All streams are in picture-in-picture, so that the app's window shows none of the colours.
    let window = try #require(
      try await expect(
        [.red: [0, 0, 4, 4], .green: [4, 0, 4, 4], .magenta: [0, 4, 4, 4], .blue: [4, 4, 4, 4]], on: server, "grid"))
    #expect(abs(window.width * 9 - window.height * 16) <= 48, "\(window)")
    let control = (x: window.x + window.width - 50, y: 20)

    try await click(server, x: control.x, y: window.y + control.y, in: window)
    try await expect([.red: [0, 0, 8, 8]], on: server, in: window, "single")

    // The window keeps its width and its lower edge, and two pictures beside each other are half as high.
    try await click(server, x: control.x, y: window.y + control.y, in: window)
    let lower = PictureRect(
      x: window.x, y: window.y + window.height / 2, width: window.width, height: window.height / 2)
    try await expect([.red: [0, 0, 4, 8], .green: [4, 0, 4, 8]], on: server, in: lower, "split")

    try await click(server, x: control.x, y: lower.y + control.y, in: window)
    try await expect([.red: [0, 0, 8, 8], .blue: [6, 6, 2, 2]], on: server, in: window, "speaker")

    // The user drags the small picture into another corner, which moves the window nowhere.
    let small = (x: window.x + window.width * 27 / 32, y: window.y + window.height * 27 / 32)
    try await server.screen.tool("xdotool", "mousemove", "\(small.x)", "\(small.y)", "mousedown", "1")
    for part in [24, 18, 10] {
      try await server.screen.tool(
        "xdotool", "mousemove", "\(window.x + window.width * part / 32)", "\(window.y + window.height * part / 32)")
    }
    try await server.screen.tool("xdotool", "mouseup", "1", "mousemove", "10", "10")
    try await expect([.red: [0, 0, 8, 8], .blue: [0, 0, 2, 2]], on: server, in: window, "dragged")

    try await click(server, x: control.x, y: window.y + control.y, in: window)
    try await expect(
      [.red: [0, 0, 4, 4], .green: [4, 0, 4, 4], .magenta: [0, 4, 4, 4], .blue: [4, 4, 4, 4]], on: server, in: window,
      "grid again")
    demo.interrupt()
    let report = try await demo.result(seconds: 60).report()
    #expect(
      report.pictureInPictureEvents.filter { $0.event == "layoutChanged" }.map(\.detail)
        == ["single", "split", "speaker", "grid"])
    #expect(report.modeChanges.allSatisfy { $0.framesLost == 0 && $0.framesRepeated == 0 })
  }

  /// In a grid of three, nobody is on either side of the last one.
  @Test(arguments: Desktop.allCases.filter(\.isInstalled))
  func theControlsAreWholeBesideALastRowThatIsNotFull(desktop: Desktop) async throws {
    let server = try await desktop.start()
    let demo = try Demo.start(
      [
        "play", Self.streams.components(separatedBy: " videotestsrc").dropLast().joined(separator: " videotestsrc"),
        "--surface", "window", "--mode", "pip", "--pip-layout", "grid", "--report", "-",
        "--pip-controls=one:The first answer,two:The second answer",
      ], environment: server.environment)
    let window = try #require(
      try await expect([.red: [0, 0, 4, 4], .green: [4, 0, 4, 4], .magenta: [2, 4, 4, 4]], on: server, "grid"))
    let gap = (width: window.width / 4, y: window.y + window.height / 2, height: window.height / 2)
    /// The number of pixels of the controls' texts and icons on each side of the last row.
    func light() async throws -> [Int] {
      let image = try await server.screen.screenshot()
      return [window.x, window.x + window.width - gap.width].map { left in
        let part = image.cropped(x: left + 2, y: gap.y + 2, width: gap.width - 4, height: gap.height - 4)
        let pixels = 0..<part.size.width * part.size.height
        return pixels.count { part.bytes[$0 * 4..<$0 * 4 + 3].allSatisfy { $0 > 200 } }
      }
    }
    // A nested mutter follows the pointer from the first press on.
    try await server.screen.tool("xdotool", "mousemove", "10", "10", "click", "1")
    #expect(try await eventually { try await light() == [0, 0] }, "it is black")
    var seen: [Int] = []
    // Texts of 12 units in height, of which a part is over the last picture.
    let isWhole = try await eventually(within: 30) {
      // Nothing is noticed of a pointer that does not move.
      let x = window.x + window.width / 2 + Int.random(in: 0..<9)
      try await server.screen.tool("xdotool", "mousemove", "\(x)", "\(window.y + 30)", "sleep", "0.4")
      seen = try await light()
      return seen.allSatisfy { $0 > 10 }
    }
    #expect(isWhole, "\(seen)")
    // What has the pointer in a gap is in the window, too: the control there can be used.
    try await server.screen.tool(
      "xdotool", "mousemove", "\(window.x + gap.width - 12)", "\(window.y + window.height - 26)", "sleep", "0.3",
      "mousemove", "\(window.x + gap.width - 10)", "\(window.y + window.height - 25)", "sleep", "0.3", "click", "1")
    try await server.screen.tool("xdotool", "mousemove", "10", "10")
    let isBlack = try await eventually(within: 20) { try await light() == [0, 0] }
    #expect(isBlack, "nothing of the controls stays")
    demo.interrupt()
    let report = try await demo.result(seconds: 60).report()
    #expect(report.pictureInPictureEvents.filter { $0.event == "action" }.map(\.detail) == ["one"])
  }
}

extension PictureRect {
  /// The left and upper edge, width and height in eighths of another rectangle's.
  fileprivate func eighths(of whole: PictureRect) -> [Int] {
    func part(_ length: Int, _ all: Int) -> Int { Int((Double(length) * 8 / Double(all)).rounded()) }
    return [
      part(x - whole.x, whole.width), part(y - whole.y, whole.height), part(width, whole.width),
      part(height, whole.height),
    ]
  }
}
