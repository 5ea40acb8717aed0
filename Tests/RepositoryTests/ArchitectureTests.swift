import Foundation
import Testing

@testable import TestSupport

/// The types, threads and locks that ARCHITECTURE.md and the pages in docs/decisions name exist in the sources.
///
/// ``FolderTests`` compares the tables of targets and folders.
@Suite struct ArchitectureTests {
  private static let folder = "docs/decisions"
  private static let index = "README.md"

  /// The names of the pages about decisions, without the index.
  private static let pages = ((try? SourceText.files(in: folder, "md")) ?? [:]).keys.filter { $0 != index }.sorted()

  private static func architecture() throws -> String {
    try String(contentsOf: Demo.root.appendingPathComponent("ARCHITECTURE.md"), encoding: .utf8)
  }

  private static func page(_ name: String) throws -> String {
    try String(contentsOf: Demo.root.appendingPathComponent("\(folder)/\(name)"), encoding: .utf8)
  }

  /// ARCHITECTURE.md and the pages about decisions, by their names.
  private static func documents() throws -> [String: String] {
    var documents = ["ARCHITECTURE.md": try architecture()]
    for (name, text) in try SourceText.files(in: folder, "md") { documents["\(folder)/\(name)"] = text }
    return documents
  }

  // MARK: - What is named

  /// The first cells of the rows in the table of threads and locks.
  private static func threadsAndLocks() throws -> String {
    let table = try #require(DocumentTable("| thread or lock |", in: try architecture()))
    return table.rows.compactMap(\.first).joined(separator: "\n")
  }

  @Test func theTableNamesEveryThreadThatIsStarted() throws {
    // Benchmarks start threads of their own, which the table does not list.
    let sources = try SourceText.files(in: "Sources").filter { !$0.key.hasPrefix("pipsink-bench/") }
    let started = sources.values.flatMap { SourceText.matches(of: #"WorkerThread\(name: "([^"]+)""#, in: $0) }
    let named = SourceText.matches(of: #"`(pip[\w-]*(?:<\w+>)?)`"#, in: try Self.threadsAndLocks())
    // A part of the name that depends on a layer, for instance, is `\(name)` in code and `<layer>` in the table.
    let parts = #"\\\([^)]*\)|<\w+>"#
    let withoutParts = { (name: String) in name.replacingOccurrences(of: parts, with: "*", options: .regularExpression)
    }
    #expect(Set(named.map(withoutParts)) == Set(started.map(withoutParts)))
    #expect(named.count > 10)
  }

  @Test func nobodyCallsAFunctionOfXCBThatWaitsWithoutADeadline() throws {
    let pattern = #"\b(xcb_(?:wait_for_\w+|request_check|(?!poll_for_|discard_)\w+_reply))\("#
    for (path, text) in try SourceText.files(in: "Sources") {
      #expect(SourceText.matches(of: pattern, in: text) == [], "\(path)")
    }
  }

  @Test func everyLockOfTheTableIsOneInTheSources() throws {
    let sources = try SourceText.files(in: "Sources").values
    let locks = SourceText.matches(of: #"`([A-Z]\w+\.\w+)`"#, in: try Self.threadsAndLocks())
    #expect(locks.count > 8)
    for lock in locks {
      let parts = lock.split(separator: ".").map(String.init)
      let isDeclared = sources.contains { text in
        SourceText.declaredTypes(text).contains(parts[0])
          && !SourceText.matches(of: "^ +.*\\blet (\(parts[1]))(?:: Locked<| = Locked[<(])", in: text).isEmpty
      }
      #expect(isDeclared, "\(lock)")
    }
  }

  @Test func everyTypeThatIsNamedIsDeclared() throws {
    var files: [String: String] = [:]
    for folder in ["Sources", "Tests", "Fuzz"] {
      for (path, text) in try SourceText.files(in: folder) { files["\(folder)/\(path)"] = text }
    }
    var known = Set(files.values.flatMap(SourceText.allDeclaredTypes))
    known.formUnion(files.keys.flatMap { $0.split(separator: "/").dropLast().map(String.init) })
    known.formUnion(try SourceText.folders(in: "Sources"))
    // These names are not PipSink's, or name a target whose folder has another name.
    known.formUnion(["Foundation", "FoundationEssentials", "FuzzTests", "Process", "SplitRGBPlane", "Synchronization"])
    for (name, text) in try Self.documents() {
      for type in SourceText.matches(of: #"`([A-Z][A-Za-z0-9]+)(?:[.(+][^`]*)?`"#, in: text) {
        // These are names of GLib, GStreamer, GDK and GTK, of macros, of signals and of environment variables.
        let isForeign = !SourceText.matches(of: #"^(G[a-z]|GObject|GType|[A-Z0-9_]+$)"#, in: type).isEmpty
        if !isForeign { #expect(known.contains(type), "\(name): \(type)") }
      }
    }
  }

  // MARK: - How it is written

  @Test(arguments: pages) func everyDecisionHasItsContextAndConsequence(name: String) throws {
    let lines = try Self.page(name).split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.first?.hasPrefix("# ") == true)
    #expect(lines.filter { $0.hasPrefix("## ") } == ["## Context", "## Decision", "## Consequence"])
    for part in lines.drop(while: { !$0.hasPrefix("## ") }).split(whereSeparator: { $0.hasPrefix("## ") }) {
      #expect(part.joined(separator: " ").count > 100, "\(name): \(part)")
    }
  }

  @Test func theIndexLinksEachPageOnceWithASentenceOfItsOwn() throws {
    let entries = SourceText.matches(of: #"^(- \[[^\]]+\]\([^)]+\): .+)$"#, in: try Self.page(Self.index))
    let links = entries.map { SourceText.matches(of: #"\(([^)]+\.md)\)"#, in: $0).first ?? "" }
    #expect(links.sorted() == Self.pages && links.count >= 15)
    #expect(Set(entries.map { $0.split(separator: ": ", maxSplits: 1).last ?? "" }).count == entries.count)
    for (entry, link) in zip(entries, links) {
      let title = try Self.page(link).prefix { $0 != "\n" }.dropFirst(2)
      #expect(entry.hasPrefix("- [\(title)]("), "\(link)")
    }
  }
}
