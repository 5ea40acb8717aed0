import CWindows
import Foundation
import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport
@testable import pipsink_demo

/// Tests with X servers that lack something, or do not answer.
@Suite(.enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"), .timeLimit(.minutes(5)))
struct X11ConnectionTests {
  private static let video = "videotestsrc is-live=true ! video/x-raw,width=320,height=180,framerate=30/1 ! "

  /// The extensions of Xvfb that can be switched off.
  private static let extensions = [
    "MIT-SHM", "RANDR", "XFIXES", "RENDER", "Composite", "DAMAGE", "DOUBLE-BUFFER", "MIT-SCREEN-SAVER", "SECURITY",
    "GLX",
  ]

  @Test func everyExtensionCanBeMissing() async throws {
    // A few at a time, so that the machine keeps up.
    for start in stride(from: 0, to: Self.extensions.count, by: 5) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for name in Self.extensions[start..<min(start + 5, Self.extensions.count)] {
          group.addTask { try await expectPictures(without: name) }
        }
        try await group.waitForAll()
      }
    }
  }

  private func expectPictures(without name: String) async throws {
    let server = try await XServer(managesWindows: false, options: ["-extension", name])
    // Xvfb ignores the option for some extensions.
    let known = try await RunningProgram("/usr/bin/xdpyinfo", [], environment: server.environment).result().output
    #expect(known.contains("    XTEST\n"))
    #expect(!known.contains("    \(name)\n"))
    let demo = try Demo.start(
      ["play", Self.video + "appsink name=a", "--surface", "window", "--mode", "pip", "--report", "-"],
      environment: server.environment)
    // By then the first frames have been presented, or never will be.
    let line = /, [1-9][0-9]+ pip/
    _ = await demo.wait { !$0.isRunning || $0.output.contains(line) || $0.errors.contains(line) }
    demo.interrupt()
    let result = try await demo.result(seconds: 60)
    // Xvfb itself ends when some of its extensions are used without others.
    guard kill(server.processIdentifier, 0) == 0 else { return }
    #expect(result.status == 0, "without \(name): \(result.errors)")
    #expect(try result.report().streams["a"].map { $0.shown > 0 } == true, "without \(name): \(result.errors)")
  }

  @Test(arguments: [8, 16, 24, 30]) func doctorAgreesWithPlayAtEveryDepth(depth: Int) async throws {
    let server = try await XServer(managesWindows: false, depth: depth)
    let doctor = try await Demo.start(["doctor"], environment: server.environment).result(seconds: 60)
    let play = try await Demo.start(
      ["play", Self.video + "appsink name=a", "--surface", "window", "--mode", "pip", "--duration", "1"],
      environment: server.environment
    ).result(seconds: 60)
    #expect(doctor.status == play.status, "\(doctor.output)\n\(play.errors)")
    #expect(play.status == (depth < 24 ? 69 : 0), "\(play.errors)")
    #expect(doctor.output.contains("picture-in-picture: possible") == (play.status == 0), "\(doctor.output)")
  }

  @Test func nobodyWaitsForAServerThatDoesNotAnswer() async throws {
    let server = try await XServer(managesWindows: false)
    let connection = try #require(X11Connection(server.display))
    let screen = try #require(X11Screen(connection, number: connection.screenNumber))
    #expect(connection.synchronize())
    kill(server.processIdentifier, SIGSTOP)
    #expect(!connection.synchronize() && !connection.isBroken)
    #expect(screen.monitors.map(\.name) == ["screen"] && screen.windowManagerName == nil)
    kill(server.processIdentifier, SIGCONT)
    #expect(await eventually { connection.synchronize() })
    #expect(!screen.monitors.isEmpty)
  }

  @Test func whatAServerDoesNotTakeInTimeReachesItLater() async throws {
    let server = try await XServer(managesWindows: false)
    let connection = try #require(X11Connection(server.display))
    let screen = try #require(X11Screen(connection, number: connection.screenNumber))
    let name = connection.atom("PIPSINK_TEST")
    kill(server.processIdentifier, SIGSTOP)
    while connection.canSend {
      for _ in 0..<1000 { xcb_no_operation(connection.pointer) }
      xcb_flush(connection.pointer)
    }
    connection.set(name, of: screen.root, to: "here", type: UInt32(XCB_ATOM_STRING.rawValue))
    connection.flush()
    kill(server.processIdentifier, SIGCONT)
    #expect(try await eventually { try await server.tool("xprop", "-root", "PIPSINK_TEST").contains("\"here\"") })
  }

  @Test func aNewServerIsNotTakenForTheSilentOneBeforeIt() async throws {
    let server = try await XServer(managesWindows: false)
    let connection = try #require(X11Connection(server.display))
    kill(server.processIdentifier, SIGSTOP)
    #expect(!connection.synchronize())
    let soon = MonotonicTime.now.advanced(by: .seconds(1))
    #expect(connection.deadline < soon, "it has just missed a deadline")
    kill(server.processIdentifier, SIGCONT)
    // Who has connected has had answers.
    let next = try #require(X11Connection(server.display))
    #expect(next.deadline > soon)
  }
}
