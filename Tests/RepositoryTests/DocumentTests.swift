import Foundation
import Testing

@testable import TestSupport

/// Tests that hold for every document of the repository: its links lead to something, and its lines fit into a
/// terminal.
@Suite struct DocumentTests {
  private static let longestLine = 120

  @Test func everyLinkInADocumentLeadsToAFileAndToAHeadingThatAreThere() throws {
    let documents = try Document.all()
    #expect(documents.count >= 15)
    #expect(documents.flatMap(\.targets).count >= 30)
    for fault in documents.flatMap({ $0.brokenLinks() }) { Issue.record("\(fault)") }
  }

  @Test func aLinkToNothingIsFound() throws {
    let text = """
      # A title, with `code`

      [a](docs/no-such.md) ![b](docs/no-such.png) [c](#no-such) [d](#a-title-with-code) [e](https://example.org/x)
      <a href="../elsewhere.md">f</a> `[not](a-link.md)` <doc:NoSuchArticle> [g](README.md#no-such-heading)

      [h]: LICENSE
      [i]: LICENCE

      ```
      [not](a-link-either.md)
      ```
      """
    let faults = Document(Demo.root.appendingPathComponent("example.md"), text: text).brokenLinks()
    let targets = faults.map { $0.split(separator: ": ")[1] }
    #expect(
      targets == [
        "docs/no-such.md", "docs/no-such.png", "#no-such", "README.md#no-such-heading", "../elsewhere.md",
        "doc:NoSuchArticle", "LICENCE",
      ])
  }

  @Test func everyPageThatAManualPageRefersToIsThere() throws {
    let pages = try Document.all(["1", "7"])
    #expect(pages.map(\.name) == ["docs/pipsink-demo.1", "docs/pipsink.7"])
    for page in pages {
      let references = page.lines.flatMap { $0.matches(of: /^\.BR ([\w.\-]+) \((\d)\)/) }
      #expect(!references.isEmpty, "\(page.name)")
      for reference in references {
        let (name, section) = (String(reference.1), String(reference.2))
        guard !pages.contains(where: { $0.url.lastPathComponent == "\(name).\(section)" }) else { continue }
        // A page of another package is present only where that package's program is installed.
        let isInstalled = section == "1" && FileManager.default.isExecutableFile(atPath: "/usr/bin/\(name)")
        #expect(isInstalled, "\(page.name) refers to \(name)(\(section))")
      }
    }
  }

  @Test func noLineOfADocumentIsLongerThanATerminalIsWide() throws {
    for document in try Document.all(["md", "1", "7"]) {
      let long = document.lines.enumerated().filter { $0.element.count > Self.longestLine }
      let numbers = long.map { "\($0.offset + 1)" }.joined(separator: ", ")
      #expect(long.isEmpty, "\(document.name) has lines of more than \(Self.longestLine) columns: \(numbers)")
    }
  }
}
