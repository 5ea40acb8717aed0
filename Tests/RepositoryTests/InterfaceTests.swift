import Foundation
import Testing

@testable import TestSupport

/// The public interface of the libraries changes only where somebody wants it to: `docs/interface` has all of it.
@Suite struct InterfaceTests {
  /// `make interface` sets this. The files are written then.
  private static let isWriting = ProcessInfo.processInfo.environment["PIPSINK_WRITE_INTERFACE"] == "1"

  @Test func thePublicInterfaceIsWhatTheRepositorySaysItIs() async throws {
    let graphs = try await SymbolGraph.graphs(of: PublicInterface.libraries)
    for library in PublicInterface.libraries {
      let interface = PublicInterface(try #require(graphs[library]))
      #expect(interface.declarationCount >= 2, "\(library)")
      if Self.isWriting { try interface.write(for: library) }
      let differences = try interface.differences(from: PublicInterface(readFor: library))
      #expect(
        differences.isEmpty,
        """
        The public interface of \(library) has changed:
        \(differences)
        If that is wanted, run "make interface", and name it in CHANGELOG.md.
        """)
    }
    let files = try FileManager.default.contentsOfDirectory(atPath: PublicInterface.folder.path)
    #expect(files.sorted() == PublicInterface.libraries.map { "\($0).txt" }.sorted())
  }

  /// The test above shows that the file is true.
  @Test func theCoreLibraryHasAtMostSevenHundredPublicDeclarations() throws {
    let count = try PublicInterface(readFor: "PipSink").declarationCount
    #expect(
      count <= 700,
      "\(count) declarations of PipSink are public. What no app needs is package or internal.")
  }

  /// The examples, and the code in the documents on frames, are built with the package, where they could use what is not
  /// public.
  @Test(arguments: [
    "examples/call/main.swift", "examples/gtk-call/main.swift", "examples/poll/main.swift",
    "examples/sdk-call/main.swift", "examples/two-streams/main.swift",
    "Tests/RepositoryTests/Support/FrameSnippets.swift",
  ])
  func codeForAppsUsesOnlyWhatIsPublic(file: String) async throws {
    let cache = try TemporaryFolder()
    let options = try await BuiltModules.searchOptions(moduleCache: cache.path("cache"))
    let result = try await RunningProgram(
      "/usr/bin/env",
      ["swiftc", "-typecheck", "-swift-version", "6", Demo.root.appendingPathComponent(file).path] + options
        + BuiltModules.moduleMapOption(of: "CCallSDK")
    ).result()
    #expect(result.status == 0, "\(result.errors)")
  }

  @Test func anInterfaceIsItsDeclarationsAndTheDifferencesAreNamed() throws {
    let graph = """
      {"symbols": [
        {"identifier": {"precise": "A"}, "kind": {"displayName": "Protocol"}, "pathComponents": ["Door"],
         "declarationFragments": [{"spelling": "protocol"}, {"spelling": " "}, {"spelling": "Door"}],
         "location": {"uri": "file:///Door.swift", "position": {"line": 1}}},
        {"identifier": {"precise": "A.a"}, "kind": {"displayName": "Instance Method"},
         "pathComponents": ["Door", "open()"], "declarationFragments": [{"spelling": "func open()"}],
         "location": {"uri": "file:///Door.swift", "position": {"line": 2}}},
        {"identifier": {"precise": "A.b"}, "kind": {"displayName": "Instance Method"},
         "pathComponents": ["Door", "open()"], "declarationFragments": [{"spelling": "func open()"}],
         "location": {"uri": "file:///Door.swift", "position": {"line": 9}}},
        {"identifier": {"precise": "B"}, "kind": {"displayName": "Enumeration"}, "pathComponents": ["Gate"],
         "declarationFragments": [{"spelling": "enum Gate"}],
         "location": {"uri": "file:///Gate.swift", "position": {"line": 1}}},
        {"identifier": {"precise": "B.c"}, "kind": {"displayName": "Case"}, "pathComponents": ["Gate", "shut"],
         "declarationFragments": [{"spelling": "case shut"}],
         "location": {"uri": "file:///Gate.swift", "position": {"line": 2}}},
        {"identifier": {"precise": "B.d"}, "kind": {"displayName": "Initializer"},
         "pathComponents": ["Gate", "init(rawValue:)"], "declarationFragments": [{"spelling": "init?(rawValue: Int)"}]}
      ], "relationships": [
        {"kind": "conformsTo", "source": "B", "target": "s:s8SendableP", "targetFallback": "Swift.Sendable"},
        {"kind": "conformsTo", "source": "B", "target": "s:x", "targetFallback": "Swift.Copyable"},
        {"kind": "conformsTo", "source": "B", "target": "A"},
        {"kind": "defaultImplementationOf", "source": "A.b", "target": "A.a"}
      ]}
      """
    let interface = PublicInterface([try JSONDecoder().decode(SymbolGraph.self, from: Data(graph.utf8))])
    #expect(
      interface.lines == [
        "Door: protocol Door", "Door.open(): func open() // has a default", "Gate: enum Gate // Door, Sendable",
        "Gate.shut: case shut",
      ])
    #expect(interface.declarationCount == 3)
    let old = PublicInterface(lines: [interface.lines[0], "Door.close(): func close()"] + interface.lines[2...])
    #expect(
      interface.differences(from: old) == """
        - Door.close(): func close()
        + Door.open(): func open() // has a default
        """)
  }
}
