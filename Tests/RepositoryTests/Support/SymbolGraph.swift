import Foundation

@testable import TestSupport

/// The public interface of a built module, as `swift-symbolgraph-extract` describes it for documentation tools.
struct SymbolGraph: Decodable {
  struct Symbol: Decodable {
    struct Kind: Decodable {
      let displayName: String
    }

    struct Identifier: Decodable {
      /// A name that no other symbol has.
      let precise: String
    }

    struct DeclarationFragment: Decodable {
      let spelling: String
    }

    struct DocComment: Decodable {
      struct Line: Decodable {
        let text: String
      }

      /// The module in which the comment is written. A symbol without a comment inherits that of a protocol, which may
      /// belong to another module.
      let module: String?
      let lines: [Line]
    }

    struct Location: Decodable {
      struct Position: Decodable {
        let line: Int
      }

      let uri: String
      let position: Position
    }

    let identifier: Identifier
    let kind: Kind
    let pathComponents: [String]
    let declarationFragments: [DeclarationFragment]
    let docComment: DocComment?
    /// Where the symbol is declared; nil for what the compiler makes, such as `init(rawValue:)` of an enumeration.
    let location: Location?

    /// The path of the symbol, as DocC's links name it.
    var path: String { pathComponents.joined(separator: "/") }

    var isDocumented: Bool {
      docComment?.lines.contains { !$0.text.trimmingCharacters(in: .whitespaces).isEmpty } ?? false
    }

    /// The symbol's file, line, kind and path.
    var description: String {
      let file = location.flatMap { URL(string: $0.uri)?.lastPathComponent } ?? "?"
      return "\(file):\((location?.position.line ?? -1) + 1): \(kind.displayName) \(path)"
    }
  }

  /// What one symbol is to another, for instance a type that conforms to a protocol.
  struct Relationship: Decodable {
    let kind: String
    let source: String
    let target: String
    /// The name of a target that belongs to another module.
    let targetFallback: String?
  }

  let symbols: [Symbol]
  let relationships: [Relationship]

  /// The public symbols of some of the package's modules, except those that the compiler has synthesized.
  static func extract(_ modules: [String]) async throws -> [String: [Symbol]] {
    try await graphs(of: modules).mapValues { $0.flatMap(\.symbols) }
  }

  /// The graphs of some of the package's modules. A module has one for itself, and one for each module that it extends.
  static func graphs(of modules: [String]) async throws -> [String: [SymbolGraph]] {
    let folder = try TemporaryFolder()
    let options = try await BuiltModules.searchOptions(moduleCache: folder.path("cache"))
    var graphs: [String: [SymbolGraph]] = [:]
    for module in modules {
      let result = try await RunningProgram(
        "/usr/bin/env",
        [
          "swift-symbolgraph-extract", "-module-name", module, "-target", target, "-minimum-access-level", "public",
          "-skip-synthesized-members", "-output-dir", folder.url.path,
        ] + options
      ).result()
      guard result.status == 0 else { throw ExtractionError(text: "\(module): \(result.errors)") }
      let files = folder.files.filter { $0.hasPrefix("\(module).") || $0.hasPrefix("\(module)@") }
      graphs[module] = try files.map { file in
        let data = try Data(contentsOf: URL(fileURLWithPath: folder.path(file)))
        return try JSONDecoder().decode(SymbolGraph.self, from: data)
      }
    }
    return graphs
  }

  private struct ExtractionError: Error {
    let text: String
  }

  private static var target: String {
    #if arch(arm64)
      "aarch64-unknown-linux-gnu"
    #else
      "x86_64-unknown-linux-gnu"
    #endif
  }
}
