import Foundation
import Testing

@testable import PipSink
@testable import TestSupport
@testable import pipsink_demo

/// Tests from outside of runs whose display server, session bus or sound server stops answering.
///
/// The deadlines only tell a run that ends from one that hangs.
@Suite(
  .enabled(if: XServer.isInstalled && SessionBus.isInstalled && PulseServer.isInstalled),
  .enabled(if: WaylandServer.isInstalled(.sway), "sway, grim and root are needed"), .timeLimit(.minutes(5)))
struct ServerSilenceTests {
  enum Kind: CaseIterable {
    case x11, wayland, bus, sound
  }

  /// What happens to the server, and when.
  enum Fate: CaseIterable {
    case silentFromTheStart, frozen, frozenAndInterrupted
  }

  /// A server of any kind, and what a program needs for using it.
  private struct Server {
    let process: Int32
    let environment: [String: String]
    let options: [String]
    /// Keeps the server running.
    let owner: AnyObject

    init(_ kind: Kind) async throws {
      switch kind {
      case .x11:
        let server = try await XServer()
        (process, environment, owner) = (server.processIdentifier, server.environment, server)
        options = ["--mode", "pip"]
      case .wayland:
        let server = try await WaylandServer(.sway)
        (process, environment, owner) = (server.processIdentifier, server.environment, server)
        options = ["--mode", "pip"]
      case .bus:
        let server = try await SessionBus()
        (process, environment, owner) = (server.processIdentifier, server.environment, server)
        options = ["--surface", "offscreen", "--dbus"]
      case .sound:
        let server = try await PulseServer()
        (process, environment, owner) = (try server.processIdentifier, server.environment, server)
        options = ["--surface", "offscreen"]
      }
    }
  }

  private static let video = "videotestsrc is-live=true ! video/x-raw,width=320,height=180,framerate=30/1 ! "
  private static let description =
    video + "appsink name=a audiotestsrc is-live=true ! audioconvert ! audioresample ! volume ! pulsesink name=speaker"

  /// Starts a run, lets the server meet its fate, and returns how the run has ended.
  private func result(_ kind: Kind, _ fate: Fate) async throws -> ProgramResult {
    let server = try await Server(kind)
    defer { kill(server.process, SIGKILL) }
    if fate == .silentFromTheStart { kill(server.process, SIGSTOP) }
    let demo = try Demo.start(
      ["play", kind == .sound ? Self.description : Self.video + "appsink name=a", "--report", "-"] + server.options
        + (fate == .frozenAndInterrupted ? [] : ["--duration", fate == .silentFromTheStart ? "5" : "2.5"]),
      environment: server.environment)
    switch fate {
    case .silentFromTheStart: break
    case .frozen, .frozenAndInterrupted:
      let runs = await demo.wait { Self.statusLineCount($0) > 0 }
      #expect(runs, "\(kind), \(fate): \(demo.errors)")
      kill(server.process, SIGSTOP)
    }
    if fate == .frozenAndInterrupted {
      let count = Self.statusLineCount(demo)
      let goesOn = await demo.wait { Self.statusLineCount($0) > count + 1 }
      #expect(goesOn, "the main actor waits for the server: \(kind): \(demo.errors)")
      demo.interrupt()
    }
    return try await demo.result(seconds: 40)
  }

  /// The number of lines that say how a run goes. There is one each second.
  private static func statusLineCount(_ program: RunningProgram) -> Int {
    program.errors.components(separatedBy: " fps, ").count - 1
  }

  @Test(arguments: [[Fate.silentFromTheStart], [.frozen, .frozenAndInterrupted]])
  func noServerKeepsARunFromItsEnd(fates: [Fate]) async throws {
    try await withThrowingTaskGroup(of: (Kind, Fate, ProgramResult).self) { group in
      for kind in Kind.allCases {
        for fate in fates { group.addTask { (kind, fate, try await result(kind, fate)) } }
      }
      for try await (kind, fate, result) in group {
        #expect(!result.wasKilled, "\(kind), \(fate): \(result.errors)")
        // A run that has not begun has no report.
        if kind == .bus, fate == .silentFromTheStart {
          #expect(result.status == 69, "\(result.errors)")
          continue
        }
        let report = try result.report()
        // A stream whose surface has refused frames, and shown none since, is an error.
        #expect(result.status == (report.errors.isEmpty ? 0 : 74), "\(kind), \(fate): \(result.errors)")
        if kind != .x11 { #expect(report.errors == [], "\(kind), \(fate)") }
        #expect(report.durationSeconds < 20, "\(kind), \(fate)")
        #expect(report.streams["a"].map { $0.received > 0 } == true, "pictures go on: \(kind), \(fate)")
        let ending: Report.Outcome = fate == .frozenAndInterrupted ? .interrupted : .duration
        #expect(report.outcome == (report.errors.isEmpty ? ending : .failed), "\(kind), \(fate)")
      }
    }
  }
}
