import Foundation
import Testing

/// Which targets import which modules, and which of the library's folders use which, as ARCHITECTURE.md has it.
///
/// Between folders a use is a name of a type that another folder declares. Members of extensions are not looked at.
@Suite struct FolderTests {
  private struct Row: Equatable, CustomStringConvertible {
    let name: String
    let used: Set<String>
    var description: String { "\(name): \(used.sorted().joined(separator: ", "))" }
  }

  private static let sources = Demo.root.appendingPathComponent("Sources")

  @Test func noFolderUsesOneThatUsesItAndTheTableSaysWhichUsesWhich() throws {
    let table = try documentedRows("| folder of `PipSink` |")
    let sources = try readFolders(of: "PipSink")
    #expect(Set(table.map(\.name)) == Set(sources.keys))
    let declared = sources.mapValues { Set($0.flatMap(Self.declaredTypes)) }
    let used = sources.map { folder, texts in
      let names = Set(texts.flatMap(Self.typeNames)).subtracting(declared[folder] ?? [])
      return Row(name: folder, used: Set(declared.filter { !$0.value.isDisjoint(with: names) }.keys))
    }
    for row in table {
      #expect(used.first { $0.name == row.name } == row)
      let above = Set(table.prefix { $0.name != row.name }.map(\.name))
      #expect(row.used.isSubset(of: above), "\(row)")
    }
  }

  @Test func noTargetUsesOneThatUsesItAndTheTableSaysWhatEachImports() throws {
    let table = try documentedRows("| target |")
    let targets = try Self.folders(in: Self.sources)
    #expect(table.map(\.name).sorted() == targets.sorted() && targets.count > 10)
    for row in table {
      let texts = try readSources(in: Self.sources.appendingPathComponent(row.name)).values
      #expect(Set(texts.flatMap(Self.importedModules)) == row.used, "\(row.name)")
      let above = Set(table.prefix { $0.name != row.name }.map(\.name))
      #expect(row.used.intersection(targets).isSubset(of: above), "\(row)")
    }
  }

  @Test func everyTargetNamesATypeOfEachOneThatItImports() throws {
    let table = try documentedRows("| target |")
    var texts: [String: [String]] = [:]
    for row in table {
      texts[row.name] = Array(try readSources(in: Self.sources.appendingPathComponent(row.name)).values)
    }
    for row in table {
      let names = Set((texts[row.name] ?? []).flatMap(Self.typeNames))
      for used in row.used {
        let declared = Set((texts[used] ?? []).flatMap(Self.declaredTypes))
        #expect(declared.isEmpty || !declared.isDisjoint(with: names), "\(row.name) uses nothing of \(used)")
      }
    }
  }

  @Test func thePackageGivesEachTargetWhatTheTableSays() throws {
    let package = try String(contentsOf: Demo.root.appendingPathComponent("Package.swift"), encoding: .utf8)
    for row in try documentedRows("| target |") where !row.used.isEmpty {
      #expect(Self.dependencies(of: row.name, in: package) == row.used, "\(row.name)")
    }
  }

  /// `make fuzz` builds the demo without its entry, which has a `main` of its own.
  @Test func theDemoNeedsNothingOfTheFileWithItsEntry() throws {
    var texts = try readSources(in: Self.sources.appendingPathComponent("pipsink-demo"))
    let entry = texts.removeValue(forKey: "PipSinkDemo.swift")
    let declared = Set(Self.declaredTypes(try #require(entry)))
    #expect(declared == ["PipSinkDemo", "Program"] && texts.count > 10)
    for (name, text) in texts { #expect(declared.isDisjoint(with: Self.typeNames(text)), "\(name)") }
  }

  /// It would bring the data of the world's languages into the program that is installed.
  @Test func noSourceImportsFoundationAndOneItsEssentials() throws {
    var imports: Set<[String]> = []
    for target in try Self.folders(in: Self.sources) {
      for (name, text) in try readSources(in: Self.sources.appendingPathComponent(target)) {
        for match in text.matches(of: /(?m)^[^\/\n]*\bimport\s+(?:\w+\s+)?(Foundation\w*)/) {
          imports.insert([target, name, String(match.1)])
        }
      }
    }
    #expect(imports == [["pipsink-demo", "JSONText.swift", "FoundationEssentials"]])
  }

  @Test func whatIsUsedIsFoundInCodeAndNotInWords() {
    let text = """
      import CLens
      @testable import Desk
      import struct Shop.Order
      import Glibc
      /// Like ``VideoEngine``.
      public final class Layer: Drawable {
        let title = "a Window in \\(Strange.name)"  // of the Desktop
        let script = ""\"
          import gi
          ""\"
        private func draw(_ frame: inout Frame) -> [Picture] { Frame.Plane.all }
      }
      struct Lens<Glass> {}
      open class Base {}
      """
    #expect(Self.declaredTypes(text) == ["Layer", "Lens", "Base"])
    #expect(Self.importedModules(text) == ["CLens", "Desk", "Shop"])
    let names = Set(Self.typeNames(text)).subtracting(["CLens", "Desk", "Shop", "Order", "Glibc"])
    #expect(names == ["Layer", "Drawable", "Frame", "Picture", "Plane", "Lens", "Glass", "Base"])
  }

  @Test func dependenciesAreFoundByTheTargetTheyBelongTo() {
    let package = """
      let dependencies: [Target.Dependency] = ["CLens", .product(name: "Log", package: "log")]
      let targets = [
        .systemLibrary(name: "CLens"),
        .target(name: "Desk", dependencies: ["CLens"], swiftSettings: warnings),
        .target(
          name: "Shop",
          dependencies: ["Desk", .product(name: "Log", package: "log")],
          exclude: ["Notes"]),
        .executableTarget(name: "pipsink-demo", dependencies: demoDependencies),
      ]
      let demoDependencies: [Target.Dependency] = ["Shop"]
      """
    #expect(Self.dependencies(of: "Desk", in: package) == ["CLens"])
    #expect(Self.dependencies(of: "Shop", in: package) == ["Desk", "Log"])
    #expect(Self.dependencies(of: "pipsink-demo", in: package) == ["Shop"])
    #expect(Self.dependencies(of: "CLens", in: package) == nil)
  }

  // MARK: - Reading

  /// The rows of the table whose head begins so. The first cell may name several things, all of which use the same.
  private func documentedRows(_ head: String) throws -> [Row] {
    let text = try String(contentsOf: Demo.root.appendingPathComponent("ARCHITECTURE.md"), encoding: .utf8)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let start = try #require(lines.firstIndex { $0.hasPrefix(head) })
    return lines[(start + 2)...].prefix { $0.hasPrefix("|") }.flatMap { line in
      let cells = line.split(separator: "|")
      let used = Set((cells.last ?? "").matches(of: /\w+/).map { String($0.0) })
      return (cells.first ?? "").matches(of: /`([\w-]+)`/).map { Row(name: String($0.1), used: used) }
    }
  }

  /// The modules that a manifest gives a target, by their names in Swift; nil where it gives none.
  private static func dependencies(of target: String, in package: String) -> Set<String>? {
    // A program with the fuzzer's entry has the demo's dependencies, too, so that they have a name.
    let isDemo = target == "pipsink-demo"
    let beginning = isDemo ? "let demoDependencies: [Target.Dependency] = [" : "name: \"\(target)\", dependencies: ["
    // A target may be on one line or on several.
    let text = package.replacing(/\s+/, with: " ")
    guard let start = text.firstRange(of: beginning)?.upperBound else { return nil }
    // Of a product, the package's name does not count.
    let list = text[start...].prefix { $0 != "]" }.replacing(/package: "[^"]*"/, with: "")
    return Set(list.matches(of: /"([\w-]+)"/).map { String($0.1) })
  }

  private static func folders(in folder: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: [.isDirectoryKey])
      .filter { try $0.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true }.map(\.lastPathComponent)
  }

  /// The texts of the files in each folder of a target.
  private func readFolders(of target: String) throws -> [String: [String]] {
    let folder = Self.sources.appendingPathComponent(target)
    var sources: [String: [String]] = [:]
    for name in try Self.folders(in: folder) {
      let texts = try readSources(in: folder.appendingPathComponent(name)).values
      if !texts.isEmpty { sources[name] = Array(texts) }
    }
    return sources
  }

  /// The texts of a folder's Swift files, and of those in folders in it, by the files' names.
  private func readSources(in folder: URL) throws -> [String: String] {
    let enumerator = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
    let urls = enumerator.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
    return try Dictionary(
      uniqueKeysWithValues: urls.map { ($0.lastPathComponent, try String(contentsOf: $0, encoding: .utf8)) })
  }

  private static func declaredTypes(_ text: String) -> [String] {
    text.matches(
      of:
        /(?m)^(?:(?:open|public|package|private|fileprivate|final|indirect|@\w+(?:\([^)]*\))?)\s+)*(?:class|struct|enum|protocol|actor|typealias)\s+(\w+)/
    ).map { String($0.1) }
  }

  /// Swift's own modules and the system's, which every target may import.
  private static let commonModules: Set<Substring> = [
    "Dispatch", "FoundationEssentials", "Glibc", "Synchronization", "_Concurrency",
  ]

  /// What a file imports; scripts in string literals are indented.
  private static func importedModules(_ text: String) -> [String] {
    text.matches(
      of:
        /(?m)^(?:(?:public|package|internal|@\w+(?:\([^)]*\))?)\s+)*import\s+(?:(?:class|struct|enum|protocol|func|var)\s+)?(\w+)/
    ).map(\.1).filter { !commonModules.contains($0) }.map(String.init)
  }

  private static func typeNames(_ text: String) -> [String] {
    text.replacing(/\/\/[^\n]*/, with: "").replacing(/"(?:\\.|[^"\\\n])*"/, with: "")
      .matches(of: /\b[A-Z]\w+/.wordBoundaryKind(.simple)).map { String($0.0) }
  }
}
