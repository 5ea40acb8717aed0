import Foundation
import Testing

@testable import PipSink
@testable import TestSupport

/// Tests from outside what the example for each toolkit does, and that `docs/toolkits.md` agrees with it.
@Suite(
  .enabled(if: Plugin.isUsable, "a plugin with a sanitizer cannot be loaded"),
  .enabled(if: PulseServer.isInstalled, "PulseAudio is not installed"))
struct ToolkitTests {
  enum Ability: String, CaseIterable {
    case inApp = "picture in the app"
    case pictureInPicture = "picture-in-picture"
    case controls
    case hiDPI = "HiDPI"
    case wayland = "Wayland"
    case x11 = "X11"
  }

  private static let document = Demo.root.appendingPathComponent("docs/toolkits.md")

  @Test(arguments: ToolkitDesktop.allCases.filter(\.isInstalled))
  func theTableSaysWhatTheExamplesDo(on desktop: ToolkitDesktop) async throws {
    let toolkits = Toolkit.allCases.filter { !Toolkit.qt.contains($0) }
    for toolkit in toolkits where !toolkit.isInstalled { Issue.record("\(toolkit.rawValue) is not installed") }
    try await expectTable(of: toolkits.filter(\.isInstalled), on: desktop)
  }

  /// Qt for Python is installed from Python's package index.
  @Test(
    .enabled(if: Toolkit.qt6.isInstalled, "NOT RUN: PySide6 is not installed (scripts/install-dependencies.sh --test)"),
    arguments: ToolkitDesktop.allCases.filter(\.isInstalled))
  func theTableSaysWhatTheExamplesForQtDo(on desktop: ToolkitDesktop) async throws {
    try await expectTable(of: Toolkit.qt, on: desktop)
  }

  /// `sdk-call/sdk` stands for a library that readers of the example have already. Calls by WebRTC may have 90 and 100
  /// lines.
  @Test func noExampleIsLongerThanSixtyLines() throws {
    let folder = Demo.root.appendingPathComponent("examples")
    let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
    let languages = ["py", "c", "swift", "js", "vala", "qml"]
    let sources = files.compactMap { $0 as? URL }.filter {
      languages.contains($0.pathExtension) && !$0.path.contains("/sdk-call/sdk/")
    }
    #expect(Toolkit.allCases.allSatisfy { toolkit in sources.contains { $0.path.hasSuffix(toolkit.path) } })
    for source in sources {
      let text = try String(contentsOf: source, encoding: .utf8)
      let limit = ["whep.py": 90, "server.py": 100][source.lastPathComponent] ?? 60
      #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= limit + 1, "\(source.path)")
    }
  }

  private func expectTable(of toolkits: [Toolkit], on desktop: ToolkitDesktop) async throws {
    let (folder, sound) = (try TemporaryFolder(), try await PulseServer())
    let ear = try await Ear(sound)
    let server = try await desktop.start()
    let environment = server.environment.merging(try Plugin.environment(folder)) { $1 }.merging(desktop.environment) {
      $1
    }
    for toolkit in toolkits {
      let expected = try documented(toolkit)
      let look = ExampleLook(toolkit: toolkit, desktop: server, ear: ear, scale: desktop.isScaled ? 2 : 1)
      let program = try await toolkit.start(
        folder, environment: environment.merging(["PULSE_SERVER": sound.address]) { $1 })
      let found = try await desktop.isScaled ? look.pixels(of: program) : look.abilities(of: program)
      for (ability, isThere) in found {
        #expect(isThere == expected[ability], "\(toolkit.rawValue), \(desktop): \(ability.rawValue)\n\(program.errors)")
      }
      #expect(!found.values.contains(false) == expected[desktop.ability], "\(toolkit.rawValue), \(desktop)")
      try await look.close(program)
    }
    server.stop()
    await ear.engine.stop()
    sound.stop()
  }

  /// The documented abilities of a toolkit, from its row in the table.
  private func documented(_ toolkit: Toolkit) throws -> [Ability: Bool] {
    let text = try String(contentsOf: Self.document, encoding: .utf8)
    let rows = text.split(separator: "\n").filter { $0.hasPrefix("|") }.map { line in
      line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
    #expect(rows.first?.dropFirst(2).elementsEqual(Ability.allCases.map(\.rawValue)) ?? false)
    let row = try #require(rows.first { $0.first == toolkit.rawValue })
    try #require(row.count == Ability.allCases.count + 2)
    #expect(row[1] == "`examples/\(toolkit.path)`")
    return Dictionary(uniqueKeysWithValues: zip(Ability.allCases, row.dropFirst(2).map { $0.hasPrefix("yes") }))
  }
}

/// A desktop on which the examples are tried.
enum ToolkitDesktop: CaseIterable, CustomTestStringConvertible {
  case x11
  case wayland
  /// The desktop has two pixels for each unit.
  case scaledWayland

  var testDescription: String { "\(self)" }
  var isScaled: Bool { self == .scaledWayland }
  var isInstalled: Bool { self == .x11 ? XServer.isInstalled : WaylandServer.isInstalled(.sway) }

  /// The ability of an example that works on this desktop.
  var ability: ToolkitTests.Ability {
    switch self {
    case .x11: .x11
    case .wayland: .wayland
    case .scaledWayland: .hiDPI
    }
  }

  func start() async throws -> any DesktopServer {
    self == .x11 ? try await XServer() : try await WaylandServer(.sway, scale: isScaled ? 2 : 1)
  }

  /// The environment for toolkits that support several display systems. GTK 4 and Qt Quick would draw with OpenGL, which
  /// is missing here.
  var environment: [String: String] {
    let name = self == .x11 ? "x11" : "wayland"
    return [
      "GDK_BACKEND": name, "SDL_VIDEODRIVER": name, "QT_QPA_PLATFORM": self == .x11 ? "xcb" : name,
      "GSK_RENDERER": "cairo", "GTK_A11Y": "none", "QT_QUICK_BACKEND": "software",
    ]
  }
}

/// The toolkit of an app's window, with its name in `docs/toolkits.md`.
enum Toolkit: String, CaseIterable {
  case gtk3 = "GTK 3"
  case gtk4 = "GTK 4"
  case gtk4InC = "GTK 4, in C"
  case qt6 = "Qt 6"
  case qtQuick = "Qt 6, Quick"
  case sdl2 = "SDL 2"
  case plain = "none, in C"
  case swift = "none, in Swift"

  /// The path of the toolkit's example in the folder of examples.
  var path: String {
    switch self {
    case .gtk3: "gtk3.py"
    case .gtk4: "gtk4.py"
    case .gtk4InC: "gtk4.c"
    case .qt6: "qt6.py"
    case .qtQuick: "qml/call.py"
    case .sdl2: "sdl2.c"
    case .plain: "plain.c"
    case .swift: "two-streams/main.swift"
    }
  }

  /// The toolkits whose examples need PySide6.
  static let qt = [Toolkit.qt6, .qtQuick]
  private static let pySide = Demo.root.appendingPathComponent(".build/pyside6")

  var isInstalled: Bool {
    let file = FileManager.default.fileExists(atPath:)
    return switch self {
    case .gtk3: !Self.files(matching: "girepository-1.0/Gtk-3.0.typelib").isEmpty
    case .gtk4: !Self.files(matching: "girepository-1.0/Gtk-4.0.typelib").isEmpty
    case .gtk4InC: file("/usr/include/gtk-4.0/gtk/gtk.h")
    case .qt6, .qtQuick: file(Self.pySide.appendingPathComponent("PySide6/__init__.py").path)
    case .sdl2: file("/usr/include/SDL2/SDL.h")
    case .plain, .swift: true
    }
  }

  private static func files(matching path: String) -> [String] {
    let folders = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib")) ?? []
    return folders.map { "/usr/lib/\($0)/\(path)" }.filter { FileManager.default.fileExists(atPath: $0) }
  }

  /// Whether the app has buttons. Other apps use keys instead.
  var hasButtons: Bool { self != .sdl2 && !isPipSinks }
  /// Whether the app's window is one of PipSink's.
  var isPipSinks: Bool { self == .plain || self == .swift }
  /// The title of the app's window. PipSink's windows are called like the program.
  var title: String {
    switch self {
    case .plain: "example-plain"
    case .swift: "two-streams"
    default: "Call"
    }
  }

  func start(_ folder: TemporaryFolder, environment: [String: String]) async throws -> RunningProgram {
    let source = Demo.root.appendingPathComponent("examples/\(path)").path
    switch self {
    case .gtk3, .gtk4: return try RunningProgram("/usr/bin/python3", [source], environment: environment)
    case .qt6, .qtQuick:
      // On Wayland Qt 6.12 itself now and then waits for its own threads forever when it is destroyed at the end of the
      // interpreter, also in programs without GStreamer. There the process ends behind the example's last line.
      let run = "import os, runpy, sys; runpy.run_path(sys.argv[1], run_name='__main__'); os._exit(0)"
      let isOnWayland = environment["QT_QPA_PLATFORM"] == "wayland"
      return try RunningProgram(
        "/usr/bin/python3", (isOnWayland ? ["-c", run] : []) + [source],
        environment: environment.merging(["PYTHONPATH": Self.pySide.path]) { $1 })
    case .sdl2, .plain, .gtk4InC:
      let program = folder.path("example-\(self)")
      let toolkit = self == .sdl2 ? "sdl2" : self == .gtk4InC ? "gtk4" : ""
      let packages = "gstreamer-video-1.0 \(toolkit)"
      let command = "cc -Wall -Werror -o \(program) \(source) $(pkg-config --cflags --libs \(packages))"
      let compiler = try await RunningProgram("/bin/sh", ["-c", command]).result()
      try #require(compiler.status == 0, "\(compiler.errors)")
      return try RunningProgram(program, [], environment: environment)
    case .swift:
      let products = URL(fileURLWithPath: Demo.path).deletingLastPathComponent()
      return try RunningProgram(products.appendingPathComponent("two-streams").path, [], environment: environment)
    }
  }
}
