import Foundation
import Testing

/// The libraries' public symbols: each has a comment, and what comments and articles link to is there.
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
        // A protocol's comment that a symbol of another module has inherited is written for that one.
        guard symbol.docComment?.module == module else { continue }
        for link in Document(Demo.root, text: comment).symbols {
          count += 1
          #expect(
            Self.isThere(link, from: symbol.pathComponents, in: all), "\(symbol.description) links to ``\(link)``")
        }
      }
    }
    // Articles are the core library's, whose documentation is made of it alone.
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
    // The numbers of errors are in no symbol graph.
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

  /// Whether DocC would find it: in the symbol that the text is about, or in one of those around it.
  private static func isThere(_ link: String, from scope: [String], in symbols: Set<String>) -> Bool {
    // Behind a hyphen a name says which of several symbols of that name is meant.
    let path = link.split(separator: "/").map { String($0.replacing(/-(?:\(.*\)|[a-z][\w.]*)$/, with: "")) }
    var paths = [path]
    // A module may have a type of its name.
    if let module = path.first, path.count > 1, BuiltModules.libraries.contains(module) {
      paths.append(Array(path.dropFirst()))
    }
    return paths.contains { path in
      (0...scope.count).contains { count in symbols.contains((scope.prefix(count) + path).joined(separator: "/")) }
    }
  }
}
