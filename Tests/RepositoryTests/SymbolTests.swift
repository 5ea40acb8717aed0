import Foundation
import Testing

@testable import TestSupport

/// Tests that every public symbol of the libraries has a comment, and that the links in comments and articles lead to
/// symbols.
@Suite struct SymbolTests {
  @Test func everyPublicSymbolHasADocumentationComment() async throws {
    let symbols = try await SymbolGraph.extract(BuiltModules.libraries)
    for module in BuiltModules.libraries {
      let symbols = try #require(symbols[module])
      #expect(symbols.count >= 3, "\(module)")
      let bare = symbols.filter { !$0.isDocumented }
      #expect(
        bare.isEmpty,
        """
        \(bare.count) of \(symbols.count) public symbols of \(module) have no comment:
        \(bare.map(\.description).sorted().joined(separator: "\n"))
        """)
    }
  }

  @Test func everySymbolThatACommentOrAnArticleLinksToIsThere() async throws {
    let modules = try await SymbolGraph.extract(BuiltModules.libraries)
    let all = Set(modules.values.flatMap { $0.map(\.path) })
    var count = 0
    for (module, symbols) in modules {
      for symbol in symbols {
        let comment = symbol.docComment?.lines.map(\.text).joined(separator: "\n") ?? ""
        // A comment that a symbol inherits from a protocol in another module has the links of that module.
        guard symbol.docComment?.module == module else { continue }
        for link in Document(Demo.root, text: comment).symbols {
          count += 1
          #expect(
            Self.isThere(link, from: symbol.pathComponents, in: all), "\(symbol.description) links to ``\(link)``")
        }
      }
    }
    // The articles belong to the core library, whose documentation contains no other module.
    let core = Set(try #require(modules["PipSink"]).map(\.path))
    for article in try Document.all().filter({ $0.url.path.contains(".docc/") }) {
      for link in article.symbols where link != "PipSink" {
        count += 1
        #expect(Self.isThere(link, from: [], in: core), "\(article.name) links to ``\(link)``")
      }
    }
    #expect(count >= 100)
  }

  @Test func everyErrorHasARemedyInTheArticleAboutTroubles() async throws {
    let url = Demo.root.appendingPathComponent("Sources/PipSink/PipSink.docc/Troubleshooting.md")
    let article = try Document(url)
    let symbols = try #require(try await SymbolGraph.extract(["PipSink"])["PipSink"])
    let cases = symbols.filter { $0.kind.displayName == "Case" && $0.pathComponents.first == "PipSinkError" }
    #expect(cases.count >= 40)
    for path in cases.map(\.path) { #expect(article.symbols.contains(path), "\(path)") }
    // The symbol graph does not contain the numbers of the errors.
    let folder = Demo.root.appendingPathComponent("Sources/PipSink")
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL }
    let sources = try files?.filter { $0.lastPathComponent.hasPrefix("PipSinkError") }.map {
      try String(contentsOf: $0, encoding: .utf8)
    }
    let codes = Set((sources ?? []).flatMap { $0.matches(of: /Text\(\s*(\d{4}),/).map { String($0.1) } })
    #expect(codes.count >= 40)
    let text = article.lines.joined(separator: "\n")
    #expect(Set(text.matches(of: /\*\*(\d{4})\.\*\*/).map { String($0.1) }) == codes)
    for code in ["-11847", "-11848", "1011003"] { #expect(text.contains("**\(code)**"), "\(code)") }
  }

  /// Whether DocC would find the link, in the symbol that has the text or in one of the symbols around it.
  private static func isThere(_ link: String, from scope: [String], in symbols: Set<String>) -> Bool {
    // A suffix after a hyphen selects one of several symbols with the same name.
    let path = link.split(separator: "/").map { String($0.replacing(/-(?:\(.*\)|[a-z][\w.]*)$/, with: "")) }
    var paths = [path]
    // A module may contain a type with the module's name.
    if let module = path.first, path.count > 1, BuiltModules.libraries.contains(module) {
      paths.append(Array(path.dropFirst()))
    }
    return paths.contains { path in
      (0...scope.count).contains { count in symbols.contains((scope.prefix(count) + path).joined(separator: "/")) }
    }
  }
}
