import Foundation
import Testing

@testable import PipSink
@testable import TestSupport
@testable import pipsink_demo

/// A touch screen, with KWin's fingers. A window of 320x180 is in the lower right corner, 16 pixels from the edges.
@Suite(.enabled(if: KWinServer.isInstalled, "no KWin"), .timeLimit(.minutes(5))) struct TouchTests {
  /// The touch screen of a compositor. It is gone when this is released.
  private final class Fingers {
    private let folder: TemporaryFolder
    private let program: RunningProgram
    private let commands: FileHandle
    private var count = 0

    init(_ server: KWinServer) throws {
      folder = try TemporaryFolder()
      let path = folder.path("commands")
      try #require(mkfifo(path, 0o600) == 0)
      let script = Demo.root.appendingPathComponent("Tests/PipSinkWindowsTests/touch-kwin.py").path
      program = try RunningProgram("/usr/bin/python3", [script, path], environment: server.environment)
      commands = try #require(FileHandle(forUpdatingAtPath: path))
    }

    /// Carries out commands, each of which is "down FINGER X Y", "move FINGER X Y", "up FINGER" or "cancel".
    func perform(_ commands: String...) async throws {
      try self.commands.write(contentsOf: Data(commands.map { "\($0)\n" }.joined().utf8))
      count += commands.count
      try #require(await program.wait(forText: "\(count) done"), "\(program.errors)")
    }
  }

  private typealias Point = (x: Int, y: Int)

  /// Points of the screen that are in the white window when that is in a corner.
  private static let (lowerRight, upperLeft): (Point, Point) = ((1100, 700), (200, 150))

  /// The program and the desktop of one test.
  private struct Call {
    let server: KWinServer
    let demo: RunningProgram

    init() async throws {
      server = try await KWinServer()
      let source = "videotestsrc is-live=true pattern=white ! video/x-raw,width=320,height=180 ! appsink name=a"
      demo = try Demo.start(["play", source, "--mode", "pip", "--report", "-"], environment: server.environment)
      try #require(await eventually { try await isWhite(TouchTests.lowerRight) })
    }

    func isWhite(_ point: Point) async throws -> Bool {
      try await server.outer.screenshot().pixel(point.x, point.y)[0..<3].allSatisfy { $0 > 200 }
    }

    /// Drags the window with the first finger to another corner of the screen, while a second finger does something else.
    /// The program learns of a touch screen when that is there, so that the first drag may be too early for it.
    func drag(_ fingers: Fingers, from start: Point, to end: Point, ending last: String = "up 1") async throws -> Bool {
      try await eventually {
        try await fingers.perform(
          "down 1 \(start.x) \(start.y)", "down 2 640 400", "move 2 300 700", "up 2", "move 1 640 400",
          "move 1 \(end.x) \(end.y)", last)
        return try await eventually(within: 3) { try await isWhite(end) }
      }
    }

    /// Ends the run.
    ///
    /// - Returns: what picture-in-picture has reported.
    func events() async throws -> [String] {
      demo.interrupt()
      let result = try await demo.result(seconds: 30)
      server.stop()
      return try result.report().pictureInPictureEvents.map(\.event)
    }
  }

  @Test func theFirstFingerDragsTheWindowAndOthersAreIgnored() async throws {
    let call = try await Call()
    let fingers = try Fingers(call.server)
    #expect(try await call.drag(fingers, from: Self.lowerRight, to: Self.upperLeft))
    // A touch that the compositor takes for itself ends the drag where it is.
    #expect(try await call.drag(fingers, from: Self.upperLeft, to: Self.lowerRight, ending: "cancel"))
    // The controls appear with the first touch. The second one is on that for closing.
    try await fingers.perform("down 1 964 620", "up 1", "down 1 964 620", "up 1")
    #expect(try await eventually { try await !call.isWhite(Self.lowerRight) })
    #expect(try await call.events().suffix(2) == ["willStop", "didStop"])
  }
}
