import Foundation
import Testing

@testable import PipSink
@testable import TestSupport

/// A program in Python learns how large the pictures of its streams have to be, whatever becomes of their windows.
@Suite(
  .enabled(if: Plugin.isUsable, "a plugin with a sanitizer cannot be loaded"),
  .enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"))
struct HostDemandTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// The program, and what it has been told last.
  private struct Host {
    let program: RunningProgram

    var demands: [String: String] {
      let lines = program.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
      return Dictionary(lines.filter { $0.count == 2 }.map { ($0[0], $0[1]) }) { $1 }
    }

    func expect(
      _ demands: [String: String], _ comment: Comment, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
      let isThere = await eventually(within: 20) { self.demands == demands }
      #expect(isThere, "\(comment): \(self.demands), \(program.errors)", sourceLocation: sourceLocation)
    }
  }

  private func start(on server: XServer, _ arguments: [String] = []) throws -> Host {
    let script = Demo.root.appendingPathComponent("Tests/GstPipSinkTests/demand-host.py").path
    let program = try RunningProgram(
      "/usr/bin/python3", [script] + arguments,
      environment: server.environment.merging(try Plugin.environment(folder)) { $1 }.merging([
        // The X server has no OpenGL.
        "GSK_RENDERER": "cairo", "XDG_RUNTIME_DIR": folder.url.path,
      ]) { $1 })
    return Host(program: program)
  }

  private func all(_ size: String) -> [String: String] { ["a": size, "b": size, "c": size, "d": size] }

  @Test func theDemandFollowsWhatCanBeSeenOfTheWindows() async throws {
    let server = try await XServer()
    let host = try start(on: server)
    let app = try await server.window("python3")
    let grid = all("\(app.width / 2)x\(app.height / 2)")
    await host.expect(grid, "a grid of four")

    try await server.tool("wmctrl", "-i", "-r", app.id, "-b", "add,fullscreen")
    await host.expect(all("640x400"), "a screen of 1280x800")
    try await server.tool("wmctrl", "-i", "-r", app.id, "-b", "remove,fullscreen")
    await host.expect(grid, "no longer on the whole screen")

    let cover = try server.start("xclock", "-geometry", "1280x800+0+0")
    await host.expect(all("0x0"), "covered")
    cover.stop()
    await host.expect(grid, "no longer covered")

    try await server.tool("xdotool", "windowminimize", app.id)
    await host.expect(all("0x0"), "minimised")
    try await server.tool("wmctrl", "-i", "-a", app.id)
    await host.expect(grid, "no longer minimised")

    try await server.tool("wmctrl", "-s", "1")
    await host.expect(all("0x0"), "on another workspace")
    try await server.tool("wmctrl", "-s", "0")
    await host.expect(grid, "on its workspace again")

    try await server.tool("xdotool", "windowactivate", "--sync", app.id, "key", "p")
    let floating = try await server.window("Picture-in-Picture")
    await host.expect(
      grid.merging(["a": "\(floating.width)x\(floating.height)"]) { $1 }, "one in picture-in-picture")
    try await server.tool("xdotool", "windowminimize", app.id)
    await host.expect(
      all("0x0").merging(["a": "\(floating.width)x\(floating.height)"]) { $1 },
      "one in picture-in-picture, and the app minimised")
    host.program.stop()
  }

  @Test(.enabled(if: HostLoop.installed.contains(.gtk4), "GTK 4 for Python is not installed"))
  func theDemandFollowsAPaintable() async throws {
    let server = try await XServer()
    let host = try start(on: server, ["paintable"])
    let window = try await server.window("Paintable")
    await host.expect(["a": "320x180"], "a picture of GTK 4")
    try await server.tool("xdotool", "windowminimize", window.id)
    await host.expect(["a": "0x0"], "minimised")
    try await server.tool("wmctrl", "-i", "-a", window.id)
    await host.expect(["a": "320x180"], "no longer minimised")
    host.program.stop()
  }
}
