import Foundation
import Testing

/// What `make install` puts into a folder.
@Suite struct InstallTests {
  /// With the programs that were built for the tests.
  private func make(_ target: String, into folder: TemporaryFolder) async throws {
    let built = URL(fileURLWithPath: Demo.path).deletingLastPathComponent().path
    let result = try await RunningProgram(
      "/usr/bin/make",
      [
        "-C", Demo.root.path, "-o", "install-build", target, "install_products=\(built)", "DESTDIR=\(folder.url.path)",
        "PREFIX=/usr",
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

  /// Linked into the program that `make install` builds, they would make it three times as large.
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
    ] { #expect(installed.contains(name), "\(name)") }
    #expect(installed.contains { $0.hasSuffix("/gstreamer-1.0/libgstpipsink.so") })
    try await make("uninstall", into: folder)
    #expect(try files(in: folder) == ["usr/bin/another"])
    #expect(!FileManager.default.fileExists(atPath: folder.path("usr/share/pipsink")))
  }
}
