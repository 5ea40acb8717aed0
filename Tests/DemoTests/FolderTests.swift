import Foundation
import Testing

/// Which of the library's folders use which, as ARCHITECTURE.md has it.
///
/// What counts is a name of a type that another folder declares. Members of extensions are not looked at.
@Suite struct FolderTests {
  private struct Row: Equatable, CustomStringConvertible {
    let folder: String
    let used: Set<String>
    var description: String { "\(folder): \(used.sorted().joined(separator: ", "))" }
  }

  private static let library = Demo.root.appendingPathComponent("Sources/PipSink")

  @Test func noFolderUsesOneThatUsesItAndTheTableSaysWhichUsesWhich() throws {
    let table = try documentedRows()
    let sources = try readSources()
    #expect(Set(table.map(\.folder)) == Set(sources.keys))
    let declared = sources.mapValues { Set($0.flatMap(Self.declaredTypes)) }
    let used = sources.map { folder, texts in
      let names = Set(texts.flatMap(Self.typeNames)).subtracting(declared[folder] ?? [])
      return Row(folder: folder, used: Set(declared.filter { !$0.value.isDisjoint(with: names) }.keys))
    }
    for row in table {
      #expect(used.first { $0.folder == row.folder } == row)
      let above = Set(table.prefix { $0.folder != row.folder }.map(\.folder))
      #expect(row.used.isSubset(of: above), "\(row)")
    }
  }

  /// `make fuzz` builds the demo without its entry, which has a `main` of its own.
  @Test func theDemoNeedsNothingOfTheFileWithItsEntry() throws {
    let folder = Demo.root.appendingPathComponent("Sources/pipsink-demo")
    var texts = try readSources(in: folder)
    let entry = texts.removeValue(forKey: "PipSinkDemo.swift")
    let declared = Set(Self.declaredTypes(try #require(entry)))
    #expect(declared == ["PipSinkDemo", "Program"] && texts.count > 10)
    for (name, text) in texts { #expect(declared.isDisjoint(with: Self.typeNames(text)), "\(name)") }
  }

  /// It would bring the data of the world's languages into the program that is installed.
  @Test func noSourceImportsFoundationAndOneItsEssentials() throws {
    let sources = Demo.root.appendingPathComponent("Sources")
    var imports: Set<[String]> = []
    for target in try FileManager.default.contentsOfDirectory(at: sources, includingPropertiesForKeys: nil) {
      for (name, text) in try readSources(in: target) {
        for match in text.matches(of: /(?m)^[^\/\n]*\bimport\s+(?:\w+\s+)?(Foundation\w*)/) {
          imports.insert([target.lastPathComponent, name, String(match.1)])
        }
      }
    }
    #expect(imports == [["pipsink-demo", "JSONText.swift", "FoundationEssentials"]])
  }

  @Test func whatIsUsedIsFoundInCodeAndNotInWords() {
    let text = """
      /// Like ``VideoEngine``.
      public final class Layer: Drawable {
        let title = "a Window in \\(Strange.name)"  // of the Desktop
        private func draw(_ frame: inout Frame) -> [Picture] { Frame.Plane.all }
      }
      struct Lens<Glass> {}
      """
    #expect(Self.declaredTypes(text) == ["Layer", "Lens"])
    #expect(Set(Self.typeNames(text)) == ["Layer", "Drawable", "Frame", "Picture", "Plane", "Lens", "Glass"])
  }

  // MARK: - Reading

  private func documentedRows() throws -> [Row] {
    let text = try String(contentsOf: Demo.root.appendingPathComponent("ARCHITECTURE.md"), encoding: .utf8)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let start = try #require(lines.firstIndex { $0.hasPrefix("| folder of `PipSink` |") })
    return lines[(start + 2)...].prefix { $0.hasPrefix("|") }.map { line in
      let cells = line.split(separator: "|").map(Self.quotedNames)
      return Row(folder: cells.first?.first ?? "", used: Set(cells.last ?? []))
    }
  }

  private static func quotedNames(_ cell: Substring) -> [String] {
    cell.matches(of: /`(\w+)`/).map { String($0.1) }
  }

  /// The texts of each folder's files.
  private func readSources() throws -> [String: [String]] {
    var sources: [String: [String]] = [:]
    for url in try FileManager.default.contentsOfDirectory(at: Self.library, includingPropertiesForKeys: nil) {
      let texts = try readSources(in: url).values
      if !texts.isEmpty { sources[url.lastPathComponent] = Array(texts) }
    }
    return sources
  }

  /// The texts of a folder's Swift files by their names; none of what is no folder.
  private func readSources(in folder: URL) throws -> [String: String] {
    let enumerator = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
    let urls = enumerator.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
    return try Dictionary(
      uniqueKeysWithValues: urls.map { ($0.lastPathComponent, try String(contentsOf: $0, encoding: .utf8)) })
  }

  private static func declaredTypes(_ text: String) -> [String] {
    text.matches(
      of:
        /(?m)^(?:(?:public|package|private|fileprivate|final|indirect|@\w+(?:\([^)]*\))?)\s+)*(?:class|struct|enum|protocol|actor|typealias)\s+(\w+)/
    ).map { String($0.1) }
  }

  private static func typeNames(_ text: String) -> [String] {
    text.replacing(/\/\/[^\n]*/, with: "").replacing(/"(?:\\.|[^"\\\n])*"/, with: "")
      .matches(of: /\b[A-Z]\w+/.wordBoundaryKind(.simple)).map { String($0.0) }
  }
}
