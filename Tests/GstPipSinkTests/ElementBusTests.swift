import Foundation
import Testing

@testable import TestSupport

/// Tests of an element's session that other processes control over the session bus.
@Suite(
  .enabled(
    if: Plugin.isUsable && SessionBus.isInstalled,
    "a plugin with a sanitizer cannot be loaded, or dbus-daemon, gdbus or playerctl is not installed"))
struct ElementBusTests {
  private let folder: TemporaryFolder
  private static let source = "videotestsrc is-live=true ! video/x-raw,width=64,height=36,framerate=30/1"

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test func otherProcessesControlTheSessionOfAProgramThatKnowsNothingOfIt() async throws {
    let bus = try await SessionBus()
    let launch = try Plugin.launch(
      "\(Self.source) ! pipsink stream-id=a surface=offscreen dbus=true "
        + "\(Self.source) ! pipsink stream-id=b surface=offscreen", folder, environment: bus.environment,
      options: ["-m"])
    #expect(try await eventually { try await bus.property("Streams") == "{'a': 'playing', 'b': 'playing'}" })
    #expect(try await bus.property("State") == "'playing'")
    _ = try await bus.call("Enable", "b")
    #expect(try await eventually { try await bus.property("PictureInPictureStream") == "'b'" })
    #expect(await eventually { launch.output.contains("pip-did-start") })
    #expect(try await bus.playerctl("metadata", "xesam:title") == "b")
    try await bus.playerctl("next")
    #expect(try await eventually { try await bus.property("PictureInPictureStream") == "'a'" })

    try await bus.playerctl("pause")
    #expect(try await eventually { try await bus.playerctl("status") == "Paused" })
    #expect(launch.output.contains("Setting state to PAUSED as requested by"))
    #expect(try await bus.property("State") == "'paused'")
    let count = try await bus.receivedCount(of: "a")
    try await bus.playerctl("play")
    #expect(try await eventually { try await bus.playerctl("status") == "Playing" })
    #expect(try await eventually { try await bus.receivedCount(of: "a") > count + 5 })

    _ = try await bus.call("Stop")
    #expect(try await eventually { try await bus.property("PictureInPictureStream") == "''" })
    #expect(await eventually { launch.output.contains("pip-did-stop") })
    launch.stop()
  }

  @Test func aProgramWithASessionOnTheBusEndsInOrder() async throws {
    let bus = try await SessionBus()
    let launch = try Plugin.launch(
      Self.source.replacing("is-live=true", with: "is-live=true num-buffers=120")
        + " ! pipsink surface=offscreen dbus=true", folder, environment: bus.environment)
    #expect(try await eventually { try await bus.property("State") == "'playing'" })
    let result = try await launch.result()
    #expect(result.status == 0 && !result.wasKilled, "\(result.errors)")
    #expect(try await bus.call("Statistics").status != 0, "the session has left the bus")
  }

  @Test(arguments: [
    ("offscreen", "the session bus"), ("none", "It has no surface."),
  ]) func whereThereIsNoBusOrNoSessionTheStreamGoesOnWithAWarning(surface: String, reason: String) async throws {
    let launch = try Plugin.launch(
      "videotestsrc num-buffers=30 ! video/x-raw,framerate=30/1 ! pipsink surface=\(surface) dbus=true", folder,
      environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere"], options: ["-m"])
    let result = try await launch.result()
    #expect(result.status == 0, "\(result.errors)")
    let all = result.output + result.errors
    #expect(all.contains("The session cannot be controlled by D-Bus."), "\(all)")
    #expect(all.contains(reason), "\(all)")
  }
}
