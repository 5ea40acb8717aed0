import Foundation
import Testing

@testable import TestSupport

/// What docs/embedding.md says of programs in Swift that have a main loop of their own.
@Suite struct MainLoopTests {
  private static let sources = Demo.root.appendingPathComponent("Tests/RepositoryTests")

  @Test func theSnippetsOfTheDocumentAreThoseThatAreTested() throws {
    let page = try String(contentsOf: Demo.root.appendingPathComponent("docs/embedding.md"), encoding: .utf8)
    let section = try #require(page.components(separatedBy: "\n## ").first { $0.hasPrefix("Main loops\n") })
    let tested = try ["swift", "cpp"].map {
      try String(contentsOf: Self.sources.appendingPathComponent("main-loops.\($0)"), encoding: .utf8)
    }
    let snippets = section.matches(of: /```(?:swift|cpp)\n((?:.*\n)*?)```/).map(\.1)
    #expect(snippets.count == 3)
    for snippet in snippets { #expect(tested.joined().contains("\n\n" + snippet), "\(snippet)") }
  }

  /// The program shows a session's window, and ends when that is closed: the session runs on the main actor, and its
  /// end ends the loop.
  @Test(
    .enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"),
    .enabled(if: Plugin.isUsable, "objects with a sanitizer need its runtime"))
  func theMainActorRunsInALoopOfTheAppsOwnAndInThoseOfSDLAndQt() async throws {
    let (folder, server) = (try TemporaryFolder(), try await XServer())
    let program = try await compile(in: folder)
    let environment = server.environment.merging(["QT_QPA_PLATFORM": "xcb", "SDL_VIDEODRIVER": "x11"]) { $1 }
    for (loop, variables) in [
      ("poll", [:]), ("sdl", [:]), ("qt-glib", [:]), ("qt-notifier", ["QT_NO_GLIB": "1"]),
    ] {
      let running = try RunningProgram(program, [loop], environment: environment.merging(variables) { $1 })
      let window = try await server.window("main-loops")
      // The fourth of seven bars is green.
      let isShown = try await eventually {
        try await server.screenshot(of: window.id).pixel(window.width / 2, window.height / 3)[1] > 150
      }
      #expect(isShown, "\(loop): \(running.errors)")
      try await server.tool("wmctrl", "-i", "-c", window.id)
      let result = try await running.result(seconds: 30)
      #expect(result.status == 0 && result.output == "The loop has ended.\n", "\(loop): \(result.errors)")
    }
  }

  /// - Returns: the path of the program.
  private func compile(in folder: TemporaryFolder) async throws -> String {
    let (program, object) = (folder.path("main-loops"), folder.path("qt.o"))
    try "module CLoops [system] { header \"loops.h\" link \"SDL2\" link \"Qt6Gui\" link \"Qt6Core\" link \"stdc++\" }"
      .write(toFile: folder.path("module.modulemap"), atomically: true, encoding: .utf8)
    try """
    #include <SDL2/SDL.h>
    void runQt(int descriptor, void (*runPendingJobs)(void));
    void quitQt(void);
    """.write(toFile: folder.path("loops.h"), atomically: true, encoding: .utf8)
    let source = { (name: String) in Self.sources.appendingPathComponent("main-loops.\(name)").path }
    let command = "c++ -Wall -Werror -std=c++17 -fPIC -c -o \(object) \(source("cpp")) $(pkg-config --cflags Qt6Gui)"
    let qt = try await RunningProgram("/bin/sh", ["-c", command]).result()
    try #require(qt.status == 0, "\(qt.errors)")
    var options = try await BuiltModules.searchOptions(moduleCache: folder.path("cache"))
    options += try await BuiltModules.objectsAndLibraries(of: "call", listedIn: folder.path("objects"))
    options += ["-swift-version", "6", "-module-name", "loops", "-I", folder.url.path, "-o", program, object]
    options.append(source("swift"))
    let swift = try await RunningProgram("/usr/bin/env", ["swiftc"] + options).result()
    try #require(swift.status == 0, "\(swift.errors)")
    return program
  }
}
