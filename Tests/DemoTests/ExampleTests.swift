import Foundation
import Testing

@testable import PipSink

/// The examples, run as their readers run them.
@Suite(.enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"))
struct ExampleTests {
  @Test func theGTKCallShowsTwoWindowsThatDoNotOverlapAndTakesThemBack() async throws {
    let source = try String(
      contentsOf: Demo.root.appendingPathComponent("examples/gtk-call/main.swift"), encoding: .utf8)
    #expect(source.split(separator: "\n", omittingEmptySubsequences: false).count <= 101)
    let server = try await XServer()
    let example = try RunningProgram(
      URL(fileURLWithPath: Demo.path).deletingLastPathComponent().appendingPathComponent("gtk-call").path, [],
      environment: server.environment)
    let call = try await server.window("Call")
    // Its button fills the lower edge. (wmctrl counts the title bar twice.)
    #expect(
      try await eventually { try await server.screenshot(of: call.id).pixel(call.width / 4, call.height / 2)[1] > 100 })
    try await server.tool("xdotool", "mousemove", "\(call.x + 400)", "\(call.y + call.height - 38)", "click", "1")
    let anna = try await server.window("Picture in Picture: anna")
    let ben = try await server.window("Picture in Picture: ben")
    #expect(anna.y >= ben.y + ben.height || ben.y >= anna.y + anna.height, "\(anna) \(ben)")
    #expect(anna.x + anna.width == ben.x + ben.width)
    let screen = try await server.screenshot()
    // Bars with a white one first, and a white ball on black.
    #expect(screen.pixel(anna.x + 10, anna.y + 20)[0] > 180)
    #expect(screen.pixel(ben.x + 2, ben.y + 2)[0] < 40)
    try await server.tool("xdotool", "mousemove", "\(call.x + 400)", "\(call.y + call.height - 38)", "click", "1")
    #expect(try await eventually { try await server.windows().count == 1 })
    // Minimised, both start by themselves; closed, the program ends.
    try await server.tool("xdotool", "windowminimize", call.id)
    #expect(try await eventually { try await server.windows().count == 3 })
    try await server.tool("wmctrl", "-i", "-c", call.id)
    let result = try await example.result(seconds: 30)
    #expect(result.status == 0 && !result.wasKilled, "\(result.errors)")
    #expect(!result.errors.contains("CRITICAL"), "\(result.errors)")
  }
}
