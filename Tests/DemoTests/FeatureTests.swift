import Foundation
import Testing

/// The document that says which features there are, and which tests show them.
@Suite struct FeatureTests {
  private struct Row {
    let name: String
    let state: String
    let tests: [String]

    init(_ line: Substring) {
      let cells = line.split(separator: "|", omittingEmptySubsequences: false).map {
        $0.trimmingCharacters(in: .whitespaces)
      }
      name = cells[1]
      state = cells[3]
      tests = cells[8].matches(of: /`(\w+)`/).map { String($0.1) }
    }
  }

  @Test func everyRowSaysWhetherItWorksAndNamesTestsThatThereAre() throws {
    let text = try String(contentsOf: Demo.root.appendingPathComponent("docs/features.md"), encoding: .utf8)
    let rows = text.split(separator: "\n").filter { $0.firstMatch(of: /^\| [A-Z]\d+ \|/) != nil }.map(Row.init)
    let counts = [("Z", 23), ("V", 4), ("S", 12), ("T", 7), ("B", 16)]
    #expect(rows.map(\.name) == counts.flatMap { letter, count in (1...count).map { "\(letter)\($0)" } })
    let known = try Set(sources().flatMap { $0.matches(of: /func (\w+)\(/).map { String($0.1) } })
    for row in rows {
      let works = row.state == "works" || row.state.hasPrefix("in part: ")
      #expect(works || row.state == "not yet", "\(row.name)")
      #expect(works == !row.tests.isEmpty || row.name == "B16", "\(row.name)")
      for test in row.tests { #expect(known.contains(test), "\(row.name): there is no test \(test)") }
    }
  }

  private func sources() throws -> [String] {
    let folder = Demo.root.appendingPathComponent("Tests")
    let enumerator = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
    let urls = enumerator.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
    return try urls.map { try String(contentsOf: $0, encoding: .utf8) }
  }
}
