import Foundation
import Testing

/// ARCHITECTURE.md and the pages in docs/decisions are short, and what they name is in the sources.
///
/// ``FolderTests`` compares the tables of targets and folders.
@Suite struct ArchitectureTests {
  private static let document = Demo.root.appendingPathComponent("ARCHITECTURE.md")
  private static let decisions = Demo.root.appendingPathComponent("docs/decisions")
  private static let index = "README.md"

  private static let sources: [String: String] = texts(in: ["Sources"], "swift")

  /// The names of the pages about decisions, without the index.
  private static let pages: [String] = texts(in: ["docs/decisions"], "md").keys.filter { $0 != index }.sorted()

  private static func page(_ name: String) throws -> String {
    try String(contentsOf: decisions.appendingPathComponent(name), encoding: .utf8)
  }

  // MARK: - What is named

  @Test func theTableNamesEveryThreadThatIsStarted() throws {
    let started = Self.sources.filter { !$0.key.contains("/Bench/") }.values.flatMap { text in
      text.matches(of: /WorkerThread\(name: "([^"]+)"/).map { $0.1.replacing(/\\\([^)]*\)/, with: "*") }
    }
    let named = try rows("| thread or lock |").flatMap { row in
      row.first.matches(of: /`(pip[\w-]*(?:<\w+>)?)`/).map { $0.1.replacing(/<\w+>/, with: "*") }
    }
    #expect(Set(named) == Set(started) && named.count > 10)
  }

  @Test func everyLockOfTheTableIsOneInTheSources() throws {
    let locks = try rows("| thread or lock |").flatMap { row in row.first.matches(of: /`([A-Z]\w+)\.(\w+)`/) }
    #expect(locks.count > 8)
    for lock in locks {
      let (type, property) = (String(lock.1), String(lock.2))
      let declaration = try Regex("(?m)^\\s.*\\blet \(property)(?:: Locked<| = Locked[<(])")
      let isDeclared = Self.sources.values.contains { text in
        Self.declaredTypes(text).contains(type) && text.contains(declaration)
      }
      #expect(isDeclared, "\(type).\(property)")
    }
  }

  @Test func everyTypeThatIsNamedIsDeclared() throws {
    let declared = Set(Self.texts(in: ["Sources", "Tests"], "swift").values.flatMap(Self.declaredTypes))
    let paths = Self.texts(in: ["Sources", "Tests"], "swift").keys
    let folders = Set(paths.flatMap { $0.split(separator: "/").dropLast().map(String.init) })
    let targets = Set(try rows("| target |").flatMap { $0.first.matches(of: /`([\w-]+)`/).map { String($0.1) } })
    // What is GLib's, GStreamer's, GTK's, Swift's, or the C++ standard library's begins so, or is listed here.
    let foreign = /^(?:G[a-z]|Gst|Gdk|Gtk|GIO|GType|GObject|Xlib|XCB|wl_|[A-Z0-9_]+$)/
    let others: Set<String> = [
      "Foundation", "FoundationEssentials", "FuzzTests", "Process", "SplitRGBPlane", "Synchronization",
    ]
    for (name, text) in try documents() {
      for match in text.matches(of: /`([A-Z][A-Za-z0-9]+)(?:[.(+][^`]*)?`/) {
        let type = String(match.1)
        let isKnown =
          declared.contains(type) || folders.contains(type) || targets.contains(type) || others.contains(type)
          || type.contains(foreign)
        #expect(isKnown, "\(name): \(type)")
      }
    }
  }

  // MARK: - How it is written

  @Test func thePageIsShort() throws {
    let text = try String(contentsOf: Self.document, encoding: .utf8)
    #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 151)
  }

  @Test func noSentenceHasMoreThan40Words() throws {
    for (name, text) in try documents() {
      for sentence in Self.sentences(in: text) {
        #expect(sentence.split(separator: " ").count <= 40, "\(name): \(sentence)")
      }
    }
  }

  @Test func noLineIsWiderThan120Columns() throws {
    for (name, text) in try documents() {
      for line in text.split(separator: "\n") { #expect(line.count <= 120, "\(name): \(line)") }
    }
  }

  @Test(arguments: pages) func everyDecisionHasItsContextAndConsequenceOnOnePage(name: String) throws {
    let lines = try Self.page(name).split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count <= 61)
    #expect(lines.first?.hasPrefix("# ") == true)
    let headings = lines.filter { $0.hasPrefix("## ") }
    #expect(headings == ["## Context", "## Decision", "## Consequence"])
    for heading in headings {
      let text = lines[(lines.firstIndex(of: heading)! + 1)...].prefix { !$0.hasPrefix("#") }.joined(separator: " ")
      #expect(text.count > 100, "\(heading)")
    }
  }

  @Test func theIndexLinksEachPageOnceWithASentenceOfItsOwn() throws {
    let links = try Self.page(Self.index).matches(of: /(?m)^- \[([^\]]+)\]\(([^)]+)\): (.+)$/)
    #expect(links.map { String($0.2) }.sorted() == Self.pages)
    #expect(Self.pages.count >= 15 && Set(links.map(\.3)).count == links.count)
    for link in links {
      let title = try Self.page(String(link.2)).prefix { $0 != "\n" }
      #expect(title == "# \(link.1)")
    }
  }

  @Test func sentencesAreFoundInParagraphsListsAndTables() {
    let text = """
      # A title

      One sentence, which `is.code` on
      two lines. Another one.
      - an entry
        with a second line: here
      - **To do this.** Do that. Then rest.

      | a cell. | another cell |
      | --- | --- |

          code that is. no sentence
      """
    #expect(
      Self.sentences(in: text) == [
        "A title", "One sentence, which `is.code` on two lines.", "Another one.",
        "an entry with a second line: here", "**To do this.**", "Do that.", "Then rest.", "a cell.", "another cell",
      ])
  }

  // MARK: - Reading

  private func documents() throws -> [String: String] {
    var documents = ["ARCHITECTURE.md": try String(contentsOf: Self.document, encoding: .utf8)]
    for name in Self.pages + [Self.index] { documents[name] = try Self.page(name) }
    return documents
  }

  /// The cells of each row of the table whose head begins so.
  private func rows(_ head: String) throws -> [(first: Substring, last: Substring)] {
    let lines = try String(contentsOf: Self.document, encoding: .utf8).split(separator: "\n")
    let start = try #require(lines.firstIndex { $0.hasPrefix(head) })
    return lines[(start + 2)...].prefix { $0.hasPrefix("|") }.map { line in
      let cells = line.split(separator: "|")
      return (cells.first ?? "", cells.last ?? "")
    }
  }

  /// By their paths below the package's folder.
  private static func texts(in folders: [String], _ fileExtension: String) -> [String: String] {
    var texts: [String: String] = [:]
    for folder in folders {
      let url = Demo.root.appendingPathComponent(folder)
      for case let file as String in FileManager.default.enumerator(atPath: url.path) ?? .init() {
        guard file.hasSuffix(".\(fileExtension)") else { continue }
        let key = folders == ["docs/decisions"] ? file : "\(folder)/\(file)"
        texts[key] = try? String(contentsOf: url.appendingPathComponent(file), encoding: .utf8)
      }
    }
    return texts
  }

  /// Also those in other types.
  private static func declaredTypes(_ text: String) -> [String] {
    text.matches(of: /(?m)^[^\/\n"]*\b(?:class|struct|enum|protocol|actor|typealias)\s+(\w+)/).map { String($0.1) }
  }

  private static func sentences(in text: String) -> [String] {
    var blocks: [String] = []
    var isOpen = false
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let words = line.drop { $0 == " " }
      if line.hasPrefix("    ") || words.isEmpty {
        isOpen = false
      } else if line.hasPrefix("|") {
        blocks += line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
          .filter { $0.contains { $0.isLetter } }
        isOpen = false
      } else if words.hasPrefix("- ") || words.hasPrefix("#") {
        blocks.append(String(words.drop { "-# ".contains($0) }))
        isOpen = words.hasPrefix("- ")
      } else if isOpen {
        blocks[blocks.count - 1] += " \(words)"
      } else {
        blocks.append(String(words))
        isOpen = true
      }
    }
    return blocks.flatMap { block in
      block.replacing(/([.?!](?:\*\*)?)\s/) { "\($0.1)\n" }.split(separator: "\n").map(String.init)
    }
  }
}
