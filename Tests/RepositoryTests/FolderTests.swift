import Foundation
import Testing

@testable import TestSupport

/// Tests that targets import the modules, and that the library's folders use the folders, that ARCHITECTURE.md lists.
///
/// One folder uses another when it names a type that the other declares. The tests ignore members of extensions.
@Suite struct FolderTests {
  private struct Row: Equatable, CustomStringConvertible {
    let name: String
    let used: Set<String>
    var description: String { "\(name): \(used.sorted().joined(separator: ", "))" }
  }

  @Test func noFolderUsesOneThatUsesItAndTheTableSaysWhichUsesWhich() throws {
    let table = try documentedRows("| folder of `PipSink` |")
    let files = try SourceText.files(in: "Sources/PipSink").filter { $0.key.contains("/") }
    let sources = Dictionary(grouping: files, by: { String($0.key.prefix { $0 != "/" }) })
    #expect(Set(table.map(\.name)) == Set(sources.keys))
    let declared = sources.mapValues { Set($0.flatMap { SourceText.declaredTypes($0.value) }) }
    let used = sources.map { folder, files in
      let names = Set(files.flatMap { SourceText.typeNames($0.value) }).subtracting(declared[folder] ?? [])
      return Row(name: folder, used: Set(declared.filter { !$0.value.isDisjoint(with: names) }.keys))
    }
    for row in table {
      #expect(used.first { $0.name == row.name } == row)
      let above = Set(table.prefix { $0.name != row.name }.map(\.name))
      #expect(row.used.isSubset(of: above), "\(row)")
    }
  }

  @Test func noTargetUsesOneThatUsesItAndTheTableSaysWhatEachImportsAndUses() throws {
    let table = try documentedRows("| target |")
    let targets = try SourceText.folders(in: "Sources")
    #expect(table.map(\.name).sorted() == targets.sorted() && targets.count > 10)
    let texts = Dictionary(
      uniqueKeysWithValues: try targets.map { ($0, Array(try SourceText.files(in: "Sources/\($0)").values)) })
    let declared = texts.mapValues { Set($0.flatMap(SourceText.declaredTypes)) }
    for row in table {
      let own = texts[row.name] ?? []
      #expect(Set(own.flatMap(SourceText.importedModules)) == row.used, "\(row.name)")
      let above = Set(table.prefix { $0.name != row.name }.map(\.name))
      #expect(row.used.intersection(targets).isSubset(of: above), "\(row)")
      // A target in C has no declarations that the test can read, so the test knows only that it is imported.
      let names = Set(own.flatMap(SourceText.typeNames))
      for used in row.used.filter({ declared[$0]?.isEmpty == false }) {
        #expect(declared[used]?.isDisjoint(with: names) == false, "\(row.name) uses nothing of \(used)")
      }
    }
  }

  @Test func thePackageGivesEachTargetWhatTheTableSays() throws {
    let package = try String(contentsOf: Demo.root.appendingPathComponent("Package.swift"), encoding: .utf8)
    for row in try documentedRows("| target |") where !row.used.isEmpty {
      #expect(Self.dependencies(of: row.name, in: package) == row.used, "\(row.name)")
    }
  }

  /// Foundation would add the data of all languages to the program that is installed.
  @Test func noSourceImportsFoundationAndOneItsEssentials() throws {
    var imports: Set<[String]> = []
    for (path, text) in try SourceText.files(in: "Sources") {
      for module in SourceText.matches(of: #"^[^/\n]*\bimport\s+(?:\w+\s+)?(Foundation\w*)"#, in: text) {
        let parts = path.split(separator: "/").map(String.init)
        imports.insert([parts[0], parts[parts.count - 1], module])
      }
    }
    #expect(imports == [["PipSinkCommandLine", "JSONText.swift", "FoundationEssentials"]])
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
        private struct Inner {}
      }
      struct Lens<Glass> {}
      open class Base {}
      """
    #expect(SourceText.declaredTypes(text) == ["Layer", "Lens", "Base"])
    #expect(SourceText.allDeclaredTypes(text) == ["Layer", "Inner", "Lens", "Base"])
    #expect(SourceText.importedModules(text) == ["CLens", "Desk", "Shop"])
    let names = Set(SourceText.typeNames(text)).subtracting(["CLens", "Desk", "Shop", "Order", "Glibc"])
    #expect(names == ["Layer", "Drawable", "Frame", "Picture", "Plane", "Inner", "Lens", "Glass", "Base"])
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
        .executableTarget(name: "pipsink-demo", dependencies: ["Shop"]),
      ]
      """
    #expect(Self.dependencies(of: "Desk", in: package) == ["CLens"])
    #expect(Self.dependencies(of: "Shop", in: package) == ["Desk", "Log"])
    #expect(Self.dependencies(of: "pipsink-demo", in: package) == ["Shop"])
    #expect(Self.dependencies(of: "CLens", in: package) == nil)
  }

  // MARK: - Reading

  /// The first cell may name several targets or folders, all of which use the same ones. A last cell with a plus sign
  /// adds to what the row above uses.
  private func documentedRows(_ head: String) throws -> [Row] {
    let text = try String(contentsOf: Demo.root.appendingPathComponent("ARCHITECTURE.md"), encoding: .utf8)
    var used: Set<String> = []
    return try #require(DocumentTable(head, in: text)).rows.flatMap { cells in
      let last = cells.last ?? ""
      used = (last.contains("+") ? used : []).union(SourceText.matches(of: #"(\w+)"#, in: last))
      return SourceText.matches(of: #"`([\w-]+)`"#, in: cells.first ?? "").map { Row(name: $0, used: used) }
    }
  }

  /// The modules that a manifest lists as a target's dependencies, by their Swift names; nil when it has no list for
  /// the target.
  private static func dependencies(of target: String, in package: String) -> Set<String>? {
    let beginning = "name: \"\(target)\", dependencies: ["
    // A target may be written on one line or on several.
    let text = package.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    guard let start = text.firstRange(of: beginning)?.upperBound else { return nil }
    // The package's name in a product does not count.
    let list = String(text[start...].prefix { $0 != "]" })
    return Set(SourceText.matches(of: #"package: "[^"]*"|"([\w-]+)""#, in: list))
  }
}
