import Foundation
import Testing

@testable import PipSink
@testable import TestSupport

/// Tests of a program in C that gives an element its windows, takes them back and destroys them at once. Any X error
/// ends the program.
@Suite(
  .enabled(if: Plugin.isUsable, "a plugin with a sanitizer cannot be loaded"),
  .enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"))
struct ForeignWindowTests {
  /// The number of tries, if the environment variable `PIPSINK_TRIES` sets one.
  private static let tries = Int(ProcessInfo.processInfo.environment["PIPSINK_TRIES"] ?? "")

  private let folder: TemporaryFolder
  private let program: String

  init() async throws {
    folder = try TemporaryFolder()
    program = folder.path("foreign-window")
    let source = Demo.root.appendingPathComponent("Tests/GstPipSinkTests/foreign-window.c").path
    let command = "cc -Wall -Werror -o \(program) \(source) $(pkg-config --cflags --libs gstreamer-video-1.0 x11)"
    let compiler = try await RunningProgram("/bin/sh", ["-c", command]).result()
    try #require(compiler.status == 0, "\(compiler.errors)")
  }

  private func run(_ arguments: [String], on server: XServer) async throws -> ProgramResult {
    let run = try RunningProgram(
      program, arguments, environment: server.environment.merging(try Plugin.environment(folder)) { $1 })
    let result = try await run.result(seconds: 600)
    #expect(result.status == 0 && !result.wasKilled && result.output.hasSuffix("done\n"), "\(result.errors)")
    return result
  }

  @Test(arguments: [("null", 20), ("handle", 100)])
  func nothingIsDrawnInAWindowThatHasBeenTakenBack(mode: String, tries: Int) async throws {
    let server = try await XServer(managesWindows: false)
    _ = try await run([mode, "\(Self.tries ?? tries)"], on: server)
  }

  @Test func thePictureComesBackWhenTheUserClosesThePictureInPictureWindow() async throws {
    let server = try await XServer(managesWindows: false)
    _ = try await run(["closed", "\(Self.tries ?? 1)"], on: server)
  }

  @Test func aServerThatHasStoppedDoesNotHoldUpTheStateChange() async throws {
    let server = try await XServer(managesWindows: false)
    let result = try await run(["frozen", "\(server.processIdentifier)"], on: server)
    let milliseconds = result.output.split(separator: " ").compactMap { Int($0) }.first
    #expect(try #require(milliseconds) < 20_000, "\(result.output)")
  }
}

/// Tests of a GTK 3 program that gives an element the surface of its window and its connection to the compositor.
@Suite(
  .enabled(if: Plugin.isUsable, "a plugin with a sanitizer cannot be loaded"),
  .enabled(if: WaylandServer.isInstalled(.sway), "sway, grim and root are needed"))
struct ForeignSurfaceTests {
  /// The names under which applications know the context type in different versions of GStreamer.
  @Test(
    arguments: [
      ["GstWlDisplayHandleContextType"], ["GstWaylandDisplayHandleContextType"],
      ["GstWaylandDisplayHandleContextType", "early"],
    ])
  func theStreamIsShownInTheProgramsOwnWindowAndNothingOfItAfterwards(arguments: [String]) async throws {
    let folder = try TemporaryFolder()
    let program = folder.path("foreign-surface")
    let source = Demo.root.appendingPathComponent("Tests/GstPipSinkTests/foreign-surface.c").path
    let command =
      "cc -Wall -Werror -o \(program) \(source) $(pkg-config --cflags --libs gstreamer-video-1.0 gtk+-3.0 wayland-client)"
    let compiler = try await RunningProgram("/bin/sh", ["-c", command]).result()
    try #require(compiler.status == 0, "\(compiler.errors)")
    let server = try await WaylandServer(.sway)
    let run = try RunningProgram(
      program, arguments,
      environment: server.environment.merging(try Plugin.environment(folder)) { $1 }.merging(["GDK_BACKEND": "wayland"])
      {
        $1
      })
    // The window fills the screen. The rectangle for the picture has half the window's width and height, and the
    // picture fills its height.
    let isShown = try await eventually {
      let image = try await server.screenshot()
      let (inside, outside) = (image.pixel(512, 384), image.pixel(512, 100))
      return inside[2] > 200 && inside[0] < 60 && outside[0] > 100
    }
    #expect(isShown, "\(run.errors)")
    _ = try await server.swaymsg("[title=Host]", "kill")
    let result = try await run.result()
    #expect(result.status == 0 && !result.wasKilled && result.output.hasSuffix("done\n"), "\(result.errors)")
    #expect(!result.errors.contains("CRITICAL") && !result.errors.contains("rror"), "\(result.errors)")
  }
}
