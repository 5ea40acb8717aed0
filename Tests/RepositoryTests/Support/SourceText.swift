import Foundation

@testable import TestSupport

/// Reads from the text of Swift sources what they declare, import and name. It uses Foundation's regular expressions,
/// which take a fraction of the time of Swift's in a debug build.
enum SourceText {
  /// The texts of all files with this extension in a folder and its subfolders, by their paths in the folder.
  static func files(in folder: String, _ fileExtension: String = "swift") throws -> [String: String] {
    let url = Demo.root.appendingPathComponent(folder)
    var texts: [String: String] = [:]
    for case let file as String in FileManager.default.enumerator(atPath: url.path) ?? .init() {
      guard file.hasSuffix(".\(fileExtension)") else { continue }
      texts[file] = try String(contentsOf: url.appendingPathComponent(file), encoding: .utf8)
    }
    return texts
  }

  static func folders(in folder: String) throws -> [String] {
    let url = Demo.root.appendingPathComponent(folder)
    return try FileManager.default.contentsOfDirectory(at: url, includingPropertiesForKeys: [.isDirectoryKey])
      .filter { try $0.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true }.map(\.lastPathComponent)
  }

  /// The matches of the expression's first group. Matches without that group are skipped.
  static func matches(of pattern: String, in text: String) -> [String] {
    // All patterns are constants that the tests use, so they are valid.
    guard let expression = try? NSRegularExpression(pattern: pattern, options: .anchorsMatchLines) else { return [] }
    let all = NSRange(text.startIndex..., in: text)
    return expression.matches(in: text, range: all).compactMap { match in
      Range(match.range(at: 1), in: text).map { String(text[$0]) }
    }
  }

  private static let attribute = #"@\w+(?:\([^)]*\))?"#
  private static let attributes =
    #"(?:(?:open|public|package|private|fileprivate|final|indirect|"# + attribute + #")\s+)*"#
  private static let kinds = "(?:class|struct|enum|protocol|actor|typealias)"

  /// The types that are declared at the top level.
  static func declaredTypes(_ text: String) -> [String] {
    matches(of: "^\(attributes)\(kinds)\\s+(\\w+)", in: text)
  }

  /// All declared types, including nested ones.
  static func allDeclaredTypes(_ text: String) -> [String] {
    matches(of: "^(?!import )[^/\\n\"]*\\b\(kinds)\\s+(\\w+)", in: text)
  }

  /// Modules of Swift and of the system, which every target may import.
  private static let commonModules: Set<String> = [
    "Dispatch", "FoundationEssentials", "Glibc", "Synchronization", "_Concurrency",
  ]

  /// The modules that the source imports. Scripts in string literals are indented, so their imports are skipped.
  static func importedModules(_ text: String) -> [String] {
    let access = "(?:(?:public|package|internal|\(attribute))\\s+)*"
    return matches(of: "^\(access)import\\s+(?:\(kinds)\\s+)?(\\w+)", in: text).filter { !commonModules.contains($0) }
  }

  /// The names in the code that begin like names of types. Comments and string literals are skipped.
  static func typeNames(_ text: String) -> [String] {
    matches(of: #"//[^\n]*|"(?:\\.|[^"\\\n])*"|\b([A-Z]\w+)"#, in: text)
  }
}

/// A table of a Markdown document, as rows of cells.
struct DocumentTable {
  let rows: [[String]]

  /// - Returns: nil when the document has no table whose header begins with `head`.
  init?(_ head: String, in text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard let start = lines.firstIndex(where: { $0.hasPrefix(head) }) else { return nil }
    rows = lines[(start + 2)...].prefix { $0.hasPrefix("|") }.map { $0.split(separator: "|").map(String.init) }
  }
}
