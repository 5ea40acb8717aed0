import Foundation
import PipSink
import Testing

@testable import TestSupport

/// Tests of what `make install` puts into a folder.
@Suite struct InstallTests {
  /// Runs a target of the Makefile with the programs that were built for the tests.
  private func make(_ target: String, into folder: TemporaryFolder, prefix: String = "/usr") async throws {
    let built = URL(fileURLWithPath: Demo.path).deletingLastPathComponent().path
    let result = try await RunningProgram(
      "/usr/bin/make",
      [
        "-C", Demo.root.path, "-o", "install-build", target, "install_products=\(built)", "DESTDIR=\(folder.url.path)",
        "PREFIX=\(prefix)",
      ]
    ).result(seconds: 300)
    #expect(result.status == 0, "\(result.errors)")
  }

  private func files(in folder: TemporaryFolder) throws -> [String] {
    let enumerator = try #require(FileManager.default.enumerator(atPath: folder.url.path))
    return enumerator.compactMap { $0 as? String }.filter { name in
      var isFolder: ObjCBool = false
      return FileManager.default.fileExists(atPath: folder.path(name), isDirectory: &isFolder) && !isFolder.boolValue
    }
  }

  /// The other libraries of Foundation would make the program that `make install` builds three times as large.
  @Test func theInstalledProgramNeedsOfFoundationItsEssentialsAlone() async throws {
    let folder = try TemporaryFolder()
    try await make("install", into: folder)
    for file in ["usr/bin/pipsink-demo"] + (try files(in: folder).filter { $0.hasSuffix("/libgstpipsink.so") }) {
      let result = try await RunningProgram("/usr/bin/readelf", ["--dynamic", "--wide", folder.path(file)]).result()
      try #require(result.status == 0 && result.output.contains("libgstreamer-1.0.so.0"), "\(result.errors)")
      let foundations = result.output.matches(of: /\[(lib_?Foundation\w*)\.so\]/).map { String($0.1) }
      #expect(Set(foundations).isSubset(of: ["libFoundationEssentials"]), "\(file)")
    }
  }

  @Test func whatIsInstalledIsTakenAwayAgainAndNothingElse() async throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(atPath: folder.path("usr/bin"), withIntermediateDirectories: true)
    try Data().write(to: URL(fileURLWithPath: folder.path("usr/bin/another")))
    try await make("install", into: folder)
    let installed = try files(in: folder)
    for name in [
      "usr/bin/pipsink-demo", "usr/share/man/man1/pipsink-demo.1", "usr/share/man/man7/pipsink.7",
      "usr/share/pipsink/pipelines/webcam.launch", "usr/share/bash-completion/completions/pipsink-demo",
      "usr/share/applications/pipsink-demo.desktop", "usr/share/applications/pipsink-open.desktop",
      "usr/share/icons/hicolor/scalable/apps/pipsink-demo.svg", "usr/share/metainfo/org.pipsink.demo.metainfo.xml",
      "usr/share/locale/de/LC_MESSAGES/pipsink.mo", "usr/share/locale/zh_CN/LC_MESSAGES/pipsink.mo",
    ] { #expect(installed.contains(name), "\(name)") }
    #expect(installed.contains { $0.hasSuffix("/gstreamer-1.0/libgstpipsink.so") })
    #expect(!installed.contains { $0.contains("bench") })
    try await make("uninstall", into: folder)
    #expect(try files(in: folder) == ["usr/bin/another"])
    #expect(!FileManager.default.fileExists(atPath: folder.path("usr/share/pipsink")))
  }

  // MARK: - The desktop's menus and software centres

  @Test func desktopEntriesAndMetadataAreValid() async throws {
    let folder = try TemporaryFolder()
    try await make("install", into: folder)
    let described = try files(in: folder).filter { $0.hasSuffix(".desktop") || $0.hasSuffix(".metainfo.xml") }
    #expect(described.count == 3)
    let result = try await RunningProgram(
      Demo.root.appendingPathComponent("scripts/validate-desktop-files.sh").path, described.map(folder.path)
    ).result()
    #expect(result.status == 0, "\(result.output)\(result.errors)")
  }

  /// Every entry starts with the pipelines of the prefix that it was installed to. Films that a file manager would pass
  /// are replaced with a test source.
  @Test func whatDesktopEntriesStartRuns() async throws {
    let folder = try TemporaryFolder()
    try await make("install", into: folder, prefix: "/opt/pipsink")
    let share = folder.path("opt/pipsink/share")
    var commands = 0
    for entry in try FileManager.default.contentsOfDirectory(atPath: share + "/applications") {
      let text = try String(contentsOfFile: share + "/applications/" + entry, encoding: .utf8)
      let icon = try #require(text.firstMatch(of: /\nIcon=(.*)\n/)).1
      #expect(FileManager.default.fileExists(atPath: "\(share)/icons/hicolor/scalable/apps/\(icon).svg"), "\(entry)")
      for match in text.matches(of: /\nExec=(.*)/) {
        commands += 1
        var words = match.1.split(separator: " ").map(String.init)
        #expect(words.removeFirst() == "pipsink-demo")
        #expect(words.removeFirst() == "play")
        let arguments = words.map { word in
          word == "%U"
            ? "videotestsrc ! appsink" : word.replacing("/opt/pipsink/share", with: share, maxReplacements: 1)
        }
        let result = try await Demo.play(arguments + ["--surface", "offscreen", "--duration", "0.5"])
        #expect(result.status == 0, "\(entry): \(match.1): \(result.errors)")
      }
    }
    #expect(commands == 4)
  }

  // MARK: - Packages

  @Test func theVersionIsTheSameInPackagesAndMetadata() throws {
    let read = { (name: String) in
      try String(contentsOf: Demo.root.appendingPathComponent(name), encoding: .utf8)
    }
    // A distribution's revision follows a hyphen.
    let changelog = try read("debian/changelog")
    #expect(try #require(changelog.firstMatch(of: /^pipsink \(([0-9.]+)[^)]*\)/)).1 == PipSink.version)
    let metadata = try read("data/org.pipsink.demo.metainfo.xml")
    #expect(try #require(metadata.firstMatch(of: /<release version="([^"]+)"/)).1 == PipSink.version)
  }
}
