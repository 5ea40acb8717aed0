import Foundation

/// Swift sources as text: what they declare, import and name. By regular expressions of Foundation's, which take a
/// fraction of the time that Swift's take in a debug build.
enum SourceText {
  /// The texts of a folder's files with this extension, and of those in folders in it, by their paths in the folder.
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

  /// What the expression's first group matches; matches without that group are passed over.
  static func matches(of pattern: String, in text: String) -> [String] {
    // The patterns are constants, tried by every test.
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

  /// Types that are not in others.
  static func declaredTypes(_ text: String) -> [String] {
    matches(of: "^\(attributes)\(kinds)\\s+(\\w+)", in: text)
  }

  /// Also those that are in other types.
  static func allDeclaredTypes(_ text: String) -> [String] {
    matches(of: "^[^/\\n\"]*\\b\(kinds)\\s+(\\w+)", in: text)
  }

  /// Swift's own modules and the system's, which every target may import.
  private static let commonModules: Set<String> = [
    "Dispatch", "FoundationEssentials", "Glibc", "Synchronization", "_Concurrency",
  ]

  /// Scripts in string literals are indented, so that what they import is passed over.
  static func importedModules(_ text: String) -> [String] {
    let access = "(?:(?:public|package|internal|\(attribute))\\s+)*"
    return matches(of: "^\(access)import\\s+(?:\(kinds)\\s+)?(\\w+)", in: text).filter { !commonModules.contains($0) }
  }

  /// Names that begin as those of types do, in code and neither in comments nor in string literals.
  static func typeNames(_ text: String) -> [String] {
    matches(of: #"//[^\n]*|"(?:\\.|[^"\\\n])*"|\b([A-Z]\w+)"#, in: text)
  }
}

/// A table of a Markdown document, by rows of cells.
struct DocumentTable {
  let rows: [[String]]

  /// - Returns: nil where the document has no table whose head begins so.
  init?(_ head: String, in text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard let start = lines.firstIndex(where: { $0.hasPrefix(head) }) else { return nil }
    rows = lines[(start + 2)...].prefix { $0.hasPrefix("|") }.map { $0.split(separator: "|").map(String.init) }
  }
}
