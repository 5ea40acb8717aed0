import Foundation
import Testing

@testable import TestSupport

/// Tests that the document of features and the sources agree on which features there are and which tests show them.
@Suite struct FeatureTests {
  private struct Row {
    let name: String
    /// The fields of the row, each by its subject: state, Swift, demo, element, D-Bus or tests.
    var fields: [String: String] = [:]

    var state: String { fields["state"] ?? "" }

    /// The names in backquotes in a field.
    func names(_ field: String) -> [String] {
      fields[field]?.matches(of: /`([^`]+)`/).map { String($0.1) } ?? []
    }
  }

  private let rows: [Row]

  init() throws {
    let document = try Document(Demo.root.appendingPathComponent("docs/features.md"))
    var rows: [Row] = []
    var field: String?
    for line in document.lines {
      if let heading = line.firstMatch(of: /^### ([A-Z]\d+): ./) {
        rows.append(Row(name: String(heading.1)))
        field = nil
      } else if rows.isEmpty {
        continue
      } else if let item = line.firstMatch(of: /^- ([\w\-]+): (.+)$/) {
        field = String(item.1)
        rows[rows.count - 1].fields[String(item.1)] = String(item.2)
      } else if let field, line.hasPrefix("  ") {
        rows[rows.count - 1].fields[field]? += " " + line.trimmingCharacters(in: .whitespaces)
      } else {
        field = nil
      }
    }
    self.rows = rows
  }

  @Test func everyRowSaysWhetherItWorksAndNamesTestsThatThereAre() throws {
    let counts = [("Z", 24), ("V", 4), ("S", 12), ("T", 7), ("B", 17)]
    #expect(rows.map(\.name) == counts.flatMap { letter, count in (1...count).map { "\(letter)\($0)" } })
    let known = try Set(sources().flatMap { $0.matches(of: /func (\w+)\(/).map { String($0.1) } })
    for row in rows {
      let state = row.state.hasPrefix("in part: ") ? "in part" : row.state
      #expect(["works", "in part", "not yet"].contains(state), "\(row.name)")
      let tests = row.names("tests")
      // B16 has all tests, and so names none.
      #expect(!tests.isEmpty == (state != "not yet" && row.name != "B16"), "\(row.name)")
      #expect(
        Set(row.fields.keys).isSubset(of: ["state", "Swift", "demo", "element", "D-Bus", "tests"]), "\(row.name)")
      for test in tests { #expect(known.contains(test), "\(row.name): there is no test \(test)") }
    }
  }

  @Test func everyNameInARowIsThatOfSomethingThatIsThere() async throws {
    let symbols = try await SymbolGraph.extract(BuiltModules.libraries).values.joined()
    let swift = Set(symbols.flatMap { $0.pathComponents.map { String($0.prefix { $0 != "(" }) } })
    let program = try ManualPage("pipsink-demo.1")
    let options = Set(program.sections.flatMap { $0.entries.flatMap(\.options) })
    let element = try ManualPage("pipsink.7")
    let parts = Set(element.sections.flatMap(\.tags).map { String($0.prefix { $0 != " " }) })
    let bus = try Document(Demo.root.appendingPathComponent("docs/dbus.md")).lines.joined(separator: "\n")
    var count = 0
    for row in rows {
      for name in row.names("Swift") {
        count += 1
        let last = name.prefix { $0 != "(" }.split(separator: ".").last.map(String.init) ?? ""
        #expect(swift.contains(last), "\(row.name): Swift has no \(name)")
      }
      for name in row.names("demo") where name.hasPrefix("--") {
        count += 1
        let option = name.prefix { $0 != " " }
        #expect(options.contains(String(option)), "\(row.name): the demo has no \(name)")
      }
      for name in row.names("element") where name.wholeMatch(of: /[a-z][a-z\-]*(=.*)?/) != nil {
        count += 1
        guard !["pipsink", "pipsinkfilter"].contains(name) else { continue }
        let property = String(name.prefix { $0 != "=" })
        let isField = element.section("PROPERTIES/pipsink")?.entries.contains { $0.text.contains("\(name):") } ?? false
        if !isField { #expect(parts.contains(property), "\(row.name): the element has no \(name)") }
      }
      for name in row.names("D-Bus") {
        count += 1
        let isThere = ["`\(name)(", "`\(name)` (", "`\(name)`"].contains { bus.contains($0) }
        #expect(isThere, "\(row.name): the bus has no \(name)")
      }
    }
    #expect(count >= 150)
  }

  private func sources() throws -> [String] {
    let folder = Demo.root.appendingPathComponent("Tests")
    let enumerator = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
    let urls = enumerator.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
    return try urls.map { try String(contentsOf: $0, encoding: .utf8) }
  }
}
