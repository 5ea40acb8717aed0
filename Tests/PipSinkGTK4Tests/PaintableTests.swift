import Foundation
import Testing

@testable import PipSink
@testable import TestSupport

/// Tests of the element's picture as a GdkPaintable of GTK 4, in programs in Python and C.
@Suite(
  .enabled(if: Plugin.isUsable, "a plugin with a sanitizer cannot be loaded"),
  .enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"),
  .enabled(if: HostLoop.installed.contains(.gtk4), "gir1.2-gtk-4.0 is not installed"))
struct PaintableTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// The environment of the programs. The servers have no OpenGL.
  private var environment: [String: String] {
    get throws { try Plugin.environment(folder).merging(["GSK_RENDERER": "cairo", "GTK_A11Y": "none"]) { $1 } }
  }

  private func start(
    _ arguments: [String], on server: any DesktopServer, environment: [String: String] = [:]
  ) throws -> RunningProgram {
    try RunningProgram(
      "/usr/bin/python3", [Demo.root.appendingPathComponent("Tests/PipSinkGTK4Tests/paintable.py").path] + arguments,
      environment: server.environment.merging(try self.environment) { $1 }.merging(environment) { $1 })
  }

  private func expectEnd(of program: RunningProgram) async throws {
    let result = try await program.result()
    #expect(result.status == 0 && result.output.hasSuffix("done\n"), "\(result.output) \(result.errors)")
    #expect(!result.errors.contains("CRITICAL"), "\(result.errors)")
  }

  @Test func aProgramWithoutGTK4HasNoPaintableAndIsToldWhatToDo() async throws {
    let server = try await XServer()
    let program = try start(["without_gtk"], on: server)
    try await expectEnd(of: program)
    #expect(program.output.contains("There is no paintable."), "\(program.output)")
    #expect(program.output.contains("load GTK 4 first"), "\(program.output)")
  }

  @Test(arguments: ["sizes", "hidden", "still", "lifetimes"])
  func thePaintable(scenario: String) async throws {
    let server = try await XServer()
    try await expectEnd(of: start([scenario], on: server))
  }

  @Test func whoOnlyLooksAtThePropertiesHasAWindowAsBefore() async throws {
    let server = try await XServer()
    let program = try start(["looked_at"], on: server)
    let window = try await server.window("python3")
    let isShown = try await eventually {
      let pixel = try await server.screenshot(of: window.id).pixel(window.width / 2, window.height / 3)
      return pixel[2] > 200 && pixel[1] < 60
    }
    #expect(isShown, "\(program.errors)")
    program.stop()
  }

  /// Compares streams of several formats, one of them rotated, with offscreen pictures at the widget's size in pixels
  /// of the screen.
  @Test(
    arguments: [
      "format=I420,width=640,height=360", "format=NV12,width=360,height=640", "format=BGRA,width=640,height=360",
    ], [1, 2])
  func thePictureIsMadeForTheWidgetsPixels(caps: String, scale: Int) async throws {
    let tag = caps.contains("BGRA") ? " ! taginject tags=image-orientation=rotate-90" : ""
    let source = "videotestsrc pattern=smpte75 ! video/x-raw,\(caps),framerate=15/1\(tag)"
    let isTall = caps.contains("NV12") || caps.contains("BGRA")
    let size = isTall ? PictureSize(width: 270, height: 480) : PictureSize(width: 480, height: 270)
    let expected = try await Demo.offscreenPictures(
      of: "\(source) ! appsink name=a", streams: ["a"], size: size, gravity: .resize)[0]
    let server = try await XServer()
    let program = try start(
      ["show", source, "\(size.width / scale)", "\(size.height / scale)"], on: server,
      environment: ["GDK_SCALE": "\(scale)"])
    let window = try await server.window("Paintable")
    var measured = 0.0
    let isAlike = try await eventually {
      let screen = try await server.screenshot(of: window.id)
      measured = screen.psnr(to: expected)
      return measured >= 40
    }
    #expect(isAlike, "\(measured) dB, \(window): \(program.errors)")
    try await server.tool("wmctrl", "-i", "-c", window.id)
    try await expectEnd(of: program)
  }

  // MARK: - The examples

  enum Example: String, CaseIterable {
    case python, c

    static var installed: [Example] {
      let headers = "/usr/include/gtk-4.0/gtk/gtk.h"
      return allCases.filter { $0 == .python || FileManager.default.fileExists(atPath: headers) }
    }
  }

  static let desktops = [Desktop.openbox, .mutter].filter(\.isInstalled)

  @Test(arguments: Example.installed, desktops)
  func theCallInGTK4ShowsItsStreamsAndTakesOneToPictureInPictureAndBack(
    example: Example, on desktop: Desktop
  ) async throws {
    let (program, arguments) = try await executable(of: example)
    let server = try await desktop.start()
    let run = try RunningProgram(
      program, arguments,
      environment: server.environment.merging(try environment) { $1 }.merging([
        "GDK_BACKEND": desktop == .openbox ? "x11" : "wayland"
      ]) { $1 })
    // The second of seven bars is yellow. The picture is 400 by 225 units large.
    var bar: PictureRect?
    func lookForTheBar(wider width: Int) async throws -> Bool {
      bar = Self.yellow(in: try await server.screen.screenshot())
      return (bar?.width ?? 0) >= width
    }
    // GNOME's compositor lets a new window grow. The test measures only once the picture has not changed for some time.
    let isThere = try await eventually(within: 90) {
      guard try await lookForTheBar(wider: 50) else { return false }
      let first = bar
      try await Task.sleep(for: .milliseconds(500))
      return try await lookForTheBar(wider: 50) && bar == first
    }
    #expect(isThere, "\(run.errors)")
    let inApp = try #require(bar)
    #expect(abs(inApp.width - 57) < 8, "\(inApp)")
    let left = inApp.x - inApp.width
    let buttons = try await Self.lowestLight(below: inApp, at: left + 10, of: server)
    // The picture moves to a smaller window in the corner, above other windows. The app shows a text on grey instead.
    try await server.click(left + 133, buttons - 17)
    #expect(
      try await eventually {
        guard try await lookForTheBar(wider: 30), let bar else { return false }
        let pixel = try await server.screen.screenshot().pixel(left + 10, inApp.y + 20)
        return bar.x > inApp.x + 400 && bar.y > inApp.y && Self.isGrey(pixel)
      }, "\(run.errors)")
    try await server.click(left + 133, buttons - 17)
    #expect(
      try await eventually {
        let isSeen = try await lookForTheBar(wider: 50)
        return isSeen && bar?.x == inApp.x
      }, "\(run.errors)")
    // The third button switches the camera off and on.
    try await server.click(left + 667, buttons - 17)
    #expect(
      try await eventually {
        let isSeen = try await lookForTheBar(wider: 1)
        let pixel = try await server.screen.screenshot().pixel(left + 10, inApp.y + 20)
        return !isSeen && Self.isGrey(pixel)
      })
    try await server.click(left + 667, buttons - 17)
    #expect(try await eventually { try await lookForTheBar(wider: 50) })
    #expect(run.isRunning && !run.errors.contains("CRITICAL"), "\(run.errors)")
    run.stop()
  }

  private func executable(of example: Example) async throws -> (program: String, arguments: [String]) {
    let source = Demo.root.appendingPathComponent("examples/gtk4.\(example == .c ? "c" : "py")").path
    let text = try String(contentsOfFile: source, encoding: .utf8)
    #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 61)
    guard example == .c else { return ("/usr/bin/python3", [source]) }
    let command =
      "cc -Wall -Werror -o \(folder.path("gtk4")) \(source) $(pkg-config --cflags --libs gtk4 gstreamer-1.0)"
    let compiler = try await RunningProgram("/bin/sh", ["-c", command]).result()
    try #require(compiler.status == 0, "\(compiler.errors)")
    return (folder.path("gtk4"), [])
  }

  /// The rectangle of the yellow bar; nil when no bar is on the screen.
  private static func yellow(in image: BGRAImage) -> PictureRect? {
    func isYellow(_ x: Int, _ y: Int) -> Bool {
      let pixel = image.pixel(x, y)
      return pixel[2] > 180 && pixel[1] > 180 && pixel[0] < 80
    }
    // The search moves in steps because this code is not optimized.
    for y in stride(from: 0, to: image.size.height, by: 8) {
      guard let x = stride(from: 0, to: image.size.width, by: 8).first(where: { isYellow($0, y) }) else { continue }
      let first = (0...x).reversed().prefix { isYellow($0, y) }.last ?? x
      let last = (x..<image.size.width).prefix { isYellow($0, y) }.last ?? x
      let top = (0...y).reversed().prefix { isYellow(x, $0) }.last ?? y
      let bottom = (y..<image.size.height).prefix { isYellow(x, $0) }.last ?? y
      return PictureRect(x: first, y: top, width: last - first + 1, height: bottom - top + 1)
    }
    return nil
  }

  private static func isGrey(_ pixel: [UInt8]) -> Bool { pixel.prefix(3).allSatisfy { (20...40).contains($0) } }

  /// The lower end of the window, which has a light background.
  private static func lowestLight(
    below bar: PictureRect, at x: Int, of server: any DesktopServer
  ) async throws -> Int {
    let image = try await server.screen.screenshot()
    // The search starts below the picture. The bar has two thirds of the picture's height.
    let start = bar.y + bar.height * 3 / 2 + 4
    return (start..<image.size.height).prefix { image.pixel(x, $0).prefix(3).allSatisfy { $0 > 180 } }.last ?? start
  }
}

extension DesktopServer {
  fileprivate func click(_ x: Int, _ y: Int) async throws {
    try await screen.tool(
      "xdotool", "mousemove", "\(x + 1)", "\(y)", "sleep", "0.1", "mousemove", "\(x)", "\(y)", "sleep", "0.1", "click",
      "1")
  }
}
