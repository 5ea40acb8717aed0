import Foundation
import Testing

@testable import PipSink
@testable import TestSupport
@testable import pipsink_bench
@testable import pipsink_demo

/// Tests that what the first document says, which a newcomer reads, is true and works.
@Suite struct ReadmeTests {
  private let readme: MarkdownText

  init() throws {
    readme = try MarkdownText(contentsOf: "README.md")
  }

  // MARK: - What it says

  @Test func itsBenchmarksAreThoseOfTheResults() throws {
    func result(_ name: String) throws -> BenchResult {
      try BenchResult(contentsOf: Demo.root.appendingPathComponent("Benchmarks/results/\(name).json").path)
    }
    func median(_ name: String, _ row: String, _ quantity: String) throws -> String {
      BenchTable.decimal(try #require(result(name).measurement(row, quantity), "\(row), \(quantity)").median)
    }
    let window = "x11, NV12 to 640x360"
    let sinks = try result("present").measurements.filter {
      $0.name == window && $0.quantity.hasSuffix("ximagesink, ms")
    }
    let best = try #require(sinks.map(\.median).min())
    let numbers = try [
      [
        median("instructions", "1 stream: PipSink (wrap, route, mailbox)", "instructions a frame"),
        median("instructions", "1 stream: appsink in C (pull, map, unmap, unref)", "instructions a frame"),
      ],
      [median("present", window, "PipSink, ms") + " ms", BenchTable.decimal(best) + " ms"],
      [
        median("switch", "offscreen, 1280x720 at 60 frames/s", "p50, ms") + " ms",
        BenchTable.decimal(1000.0 / 60) + " ms",
      ],
    ]
    let rows = try readme.section("Benchmarks").rows.dropFirst()
    #expect(rows.count == numbers.count)
    for (row, numbers) in zip(rows, numbers) {
      #expect(row[1] == numbers[0] && row[2].hasPrefix("\(numbers[1]): "), "\(row) is not \(numbers)")
    }
  }

  @Test func itsDesktopsAreThoseOfTheDocument() throws {
    let section = try readme.section("Desktops")
    let document = try MarkdownText(contentsOf: "docs/desktops.md")
    // Each row of the README summarises these abilities of the document.
    let abilities = [
      "above other windows": ["above the window with the focus", "above a maximised one"],
      "above a fullscreen window": ["above a fullscreen one"],
      "takes no focus, on all workspaces": ["takes no focus", "on all workspaces"],
      "dragged, resized": ["dragged", "goes to its corner", "resized by the wheel"],
      "starts by itself, and goes back": ["starts in the background", "back to the app"],
    ]
    #expect(section.rows.dropFirst().map { $0[0] }.sorted() == abilities.keys.sorted())
    let columns = ["openbox (X11)", "sway", "KWin (KDE)", "mutter (GNOME)"]
    #expect(Array(try #require(section.rows.first).dropFirst()) == columns)
    for (column, desktop) in zip(columns, Desktop.allCases) {
      #expect(column.hasPrefix(desktop.rawValue))
      for (row, names) in abilities {
        let isSo = try names.allSatisfy { try document.cell($0, desktop.rawValue).hasPrefix("yes") }
        #expect(try section.cell(row, column) == (isSo ? "yes" : "no"), "\(desktop.rawValue): \(row)")
      }
    }
  }

  @Test func itsToolkitsAreThoseOfTheDocument() throws {
    let rows = try readme.section("Toolkits").rows.dropFirst()
    let document = try MarkdownText(contentsOf: "docs/toolkits.md").rows.filter { $0[1].hasPrefix("`examples/") }
    #expect(document.count == 8)
    for cells in document {
      let example = cells[1].trimmingCharacters(in: ["`"])
      let row = try #require(rows.first { $0[1].contains("](\(example))") }, "\(example) is missing")
      #expect(cells[0].hasPrefix(row[0]), "\(example)")
      #expect(Array(row[2...]) == [cells[2], cells[3], cells[5]], "\(example)")
    }
  }

  // MARK: - What one types

  /// Lines that build or install are compared with the files that they use. The tests below run all other lines.
  @Test func whatBuildsAndInstallsIsWhatTheRepositoryHas() throws {
    let lines = readme.shellLines.filter { ShellLine($0) == .builds }
    #expect(
      lines.count > 8 && lines.contains { $0.hasPrefix("make test") } && lines.contains { $0.hasPrefix("make demo") })
    let makefile = try Self.source("Makefile")
    let packages = try Set(
      ["scripts/install-dependencies.sh", "scripts/test-in-debian.sh"].flatMap {
        try Self.source($0).split { $0.isWhitespace || $0 == "\\" }.map(String.init)
      })
    for line in lines {
      let words = line.split(separator: " ").map(String.init).drop { $0 == "sudo" }
      let rest = words.dropFirst()
      switch words.first {
      case "make":
        for word in rest {
          if let equals = word.firstIndex(of: "=") {
            #expect(makefile.contains("\n\(word[..<equals]) ?="), "\(line)")
          } else {
            #expect(makefile.contains("\n\(word):"), "\(line)")
          }
        }
      case "apt-get":
        #expect(rest.first == "install" && rest.count > 1)
        for package in rest.dropFirst() {
          #expect(packages.contains(package), "\(package) is not known to the scripts")
        }
      case "swift":
        #expect(rest.first == "build")
        if let option = rest.firstIndex(of: "--product") {
          #expect(try Self.source("Package.swift").contains("name: \"\(rest[option + 1])\", type: .dynamic"), "\(line)")
        }
      default:
        Issue.record("no check covers \(line)")
      }
    }
    // A bare Debian needs the same packages for the toolchain as the test of other releases installs.
    let bare = try #require(lines.first { $0.hasPrefix("sudo apt-get install ca-certificates") })
    let install = try #require(
      try Self.source("scripts/test-in-debian.sh").firstMatch(
        of: /--no-install-recommends \\\n(\s+ca-certificates(?:.|\\\n)*?)\n  mv/))
    let installed = install.1.replacing("\\", with: " ").split(whereSeparator: \.isWhitespace)
    #expect(bare.split(separator: " ").dropFirst(3) == installed[...])
  }

  @Test(.enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"))
  func theDemosLinesPlay() async throws {
    try await run("The demo program", number: 4)
  }

  @Test(
    .enabled(if: Plugin.isUsable, "a plugin with a sanitizer cannot be loaded"),
    .enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"))
  func theElementsLinesPlay() async throws {
    try await run("The element", number: 4)
  }

  /// Runs those lines of a section that build nothing, in a folder that has links to everything that they name.
  private func run(_ title: String, number: Int) async throws {
    let (folder, server) = (try TemporaryFolder(), try await XServer())
    try FileManager.default.createDirectory(atPath: folder.path(".build/release"), withIntermediateDirectories: true)
    let products = URL(fileURLWithPath: Demo.path).deletingLastPathComponent()
    for (link, target) in [
      (".build/release/pipsink-demo", Demo.path),
      (".build/release/libgstpipsink.so", products.appendingPathComponent("libgstpipsink.so").path),
      ("examples", Demo.root.appendingPathComponent("examples").path),
    ] {
      try FileManager.default.createSymbolicLink(atPath: folder.path(link), withDestinationPath: target)
    }
    try await Tool.makeVideo(folder.path("film.mkv"), frames: 450)
    let environment = server.environment.merging([
      "GST_REGISTRY": folder.path("registry.bin"), "GSK_RENDERER": "cairo", "GTK_A11Y": "none",
    ]) { $1 }
    let lines = try readme.section(title).shellLines
    let settings = lines.filter { ShellLine($0) == .sets }
    let programs = lines.filter { ShellLine($0) == .runs }
    #expect(programs.count == number, "\(programs)")
    for line in programs {
      let script = (["cd '\(folder.url.path)'"] + settings + ["exec \(line)"]).joined(separator: "\n")
      let program = try RunningProgram("/bin/bash", ["-ec", script], environment: environment)
      let showsPictureInPicture = line.contains("mode pip") || line.contains("mode=pip")
      if showsPictureInPicture || line.contains("examples/") {
        let window = try await server.window(showsPictureInPicture ? "Picture-in-Picture" : "Call")
        let picture = try await server.screenshot(of: window.id)
        #expect(picture.size.width >= 300, "\(line)")
      }
      if line.contains("auto-pip") {
        let app = try await server.window(line.contains("gst-launch-1.0") ? "gst-launch-1.0" : "PipSink")
        try await server.tool("xdotool", "windowminimize", app.id)
        _ = try await server.window("Picture-in-Picture")
      }
      // A line that ends by itself has to end without an error.
      if line.contains("--duration") || line.contains("num-buffers") || line.contains(" doctor") {
        let result = try await program.result()
        #expect(result.status == 0, "\(line): \(result.errors)")
      } else {
        #expect(program.isRunning, "\(line): \(program.errors)")
        program.stop()
        #expect(try await eventually { try await server.windows().isEmpty })
      }
    }
  }

  /// Runs the package's commands, and compiles and links its program. It uses the modules that were built with the
  /// tests, and the options that SwiftPM used for the same products, since a new build would take minutes.
  @Test(
    .enabled(if: Plugin.isUsable, "a program with a sanitizer's modules is linked otherwise"),
    .enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"))
  func theSwiftPackageOpensItsWindowAndStartsPictureInPicture() async throws {
    let (folder, section) = (try TemporaryFolder(), try readme.section("The Swift package"))
    try FileManager.default.createSymbolicLink(
      atPath: folder.path("pipsink"), withDestinationPath: Demo.root.path)
    let commands = section.shellLines.joined(separator: "\n")
    let made = try await RunningProgram("/bin/bash", ["-ec", "cd '\(folder.path("pipsink"))'\n\(commands)"]).result()
    #expect(made.status == 0, "\(made.errors)")
    let manifest = try String(contentsOfFile: folder.path("call/Package.swift"), encoding: .utf8)
    let code = try #require(section.blocks.first { $0.language == "swift" }).code
    #expect(manifest.contains(".package(path: \"../pipsink\")"))
    // The program imports exactly the products that the package depends on.
    let imports = code.split(separator: "\n").filter { $0.hasPrefix("import ") }.map { $0.dropFirst("import ".count) }
    for name in imports { #expect(manifest.contains(".product(name: \"\(name)\", package: \"pipsink\")")) }
    #expect(manifest.components(separatedBy: ".product(").count - 1 == imports.count && imports.count == 2)

    let sources = folder.path("call/Sources/call")
    #expect(try FileManager.default.contentsOfDirectory(atPath: sources).isEmpty, "only the README's program is there")
    let source = sources + "/main.swift"
    try code.write(toFile: source, atomically: true, encoding: .utf8)
    try await build(source, as: folder.path("call/call"), moduleCache: folder.path("cache"))

    let server = try await XServer()
    let program = try RunningProgram(folder.path("call/call"), [], environment: server.environment)
    let app = try await server.window("call")
    try await server.tool("xdotool", "windowactivate", "--sync", app.id, "key", "p")
    let pictureInPicture = try await server.window("Picture-in-Picture: anna")
    try await server.tool("wmctrl", "-i", "-c", pictureInPicture.id)
    #expect(try await eventually { try await server.windows().count == 1 })
    try await server.tool("xdotool", "windowminimize", app.id)
    _ = try await server.window("Picture-in-Picture: anna")
    try await server.tool("wmctrl", "-i", "-c", app.id)
    let result = try await program.result(seconds: 30)
    #expect(result.status == 0 && !result.wasKilled, "\(result.errors)")
  }

  /// Builds a program as SwiftPM builds the example `call`, which uses the same products.
  private func build(_ source: String, as program: String, moduleCache: String) async throws {
    let products = URL(fileURLWithPath: Demo.path).deletingLastPathComponent()
    let scratch = products.deletingLastPathComponent().deletingLastPathComponent()
    let objects = try String(
      contentsOf: products.appendingPathComponent("call.product/Objects.LinkFileList"), encoding: .utf8
    ).split(separator: "\n").map { $0.trimmingCharacters(in: ["'", "\""]) }.filter { !$0.contains("/call.build/") }
    #expect(objects.count > 100)
    let libraries = [
      "gstreamer-allocators-1.0", "gstreamer-app-1.0", "gstreamer-video-1.0", "gstreamer-pbutils-1.0", "gio-2.0", "xcb",
      "xcb-shm", "xcb-present", "xcb-randr", "xcb-shape", "xcb-xkb", "xkbcommon", "xkbcommon-x11", "wayland-client",
      "wayland-cursor", "cairo", "pangocairo",
    ]
    func flags(_ option: String) async throws -> [String] {
      let result = try await RunningProgram("/usr/bin/pkg-config", [option] + libraries).result()
      #expect(result.status == 0, "\(result.errors)")
      return result.output.split(whereSeparator: \.isWhitespace).map(String.init)
    }
    var maps = ["CGL", "CGStreamer", "CLibYUV", "CWindows"].map {
      Demo.root.appendingPathComponent("Sources/\($0)/module.modulemap").path
    }
    maps.append(
      scratch.appendingPathComponent("checkouts/swift-numerics/Sources/_NumericsShims/include/module.modulemap").path)
    var options = ["swiftc", "-swift-version", "6", "-module-cache-path", moduleCache]
    options += ["-I", products.appendingPathComponent("Modules").path]
    for map in maps { options += ["-Xcc", "-fmodule-map-file=\(map)"] }
    for flag in try await flags("--cflags-only-I") { options += ["-Xcc", flag] }
    options += [source, "-o", program]
    options += objects
    options += try await flags("--libs")
    let result = try await RunningProgram("/usr/bin/env", options).result()
    #expect(result.status == 0, "\(result.errors)")
  }

  private static func source(_ path: String) throws -> String {
    try String(contentsOf: Demo.root.appendingPathComponent(path), encoding: .utf8)
  }
}

/// The kind of a line in a document's shell code.
private enum ShellLine {
  /// The line builds or installs something, which takes minutes or needs root.
  case builds
  /// The line sets a variable for the lines after it.
  case sets
  case runs

  init(_ line: String) {
    let words = line.split(separator: " ").drop { $0 == "sudo" }
    self =
      switch words.first {
      case "make", "apt-get": .builds
      case "swift" where words.dropFirst().first == "build": .builds
      case "export": .sets
      default: .runs
      }
  }
}

/// A Markdown document, or a part of one.
private struct MarkdownText {
  let text: String

  init(_ text: String) {
    self.text = text
  }

  /// - Parameter name: the document's path in the repository.
  init(contentsOf name: String) throws {
    text = try String(contentsOf: Demo.root.appendingPathComponent(name), encoding: .utf8)
  }

  var lines: [Substring] {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    if lines.last == "" { lines.removeLast() }
    return lines
  }

  /// The text below a heading of the second level.
  func section(_ title: String) throws -> MarkdownText {
    let parts = ("\n" + text).components(separatedBy: "\n## ")
    return MarkdownText(try #require(parts.first { $0.hasPrefix("\(title)\n") }, "there is no section \"\(title)\""))
  }

  /// The code blocks of the text.
  var blocks: [(language: String, code: String)] {
    text.components(separatedBy: "\n```").enumerated().compactMap { index, part in
      guard index % 2 == 1, let end = part.firstIndex(of: "\n") else { return nil }
      return (String(part[..<end]), String(part[part.index(after: end)...]))
    }
  }

  /// The lines of shell code without their comments. Lines that continue another one are joined with it.
  var shellLines: [String] {
    blocks.filter { $0.language == "sh" }.flatMap { block in
      block.code.replacing(/\\\n\s*/, with: "").split(separator: "\n")
    }.map { String($0.replacing(/\s+#.*/, with: "")) }
  }

  /// The cells of all rows in the tables. Headers are included; the lines below them are not.
  var rows: [[String]] {
    lines.filter { $0.hasPrefix("|") && !$0.hasPrefix("| ---") }.map { line in
      line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
  }

  /// The cell in the first table at the row of one title and the column of the other. The titles may be given in either
  /// order.
  func cell(_ title: String, _ other: String) throws -> String {
    let header = try #require(rows.first)
    let column = try #require(header.firstIndex { $0 == title || $0 == other }, "no column is \(title) or \(other)")
    let name = header[column] == title ? other : title
    let row = try #require(rows.first { $0[0] == name }, "no row is \(name)")
    return row[column]
  }
}
