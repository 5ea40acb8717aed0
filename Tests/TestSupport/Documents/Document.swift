import Foundation

/// A Markdown document of the repository, with its links and the anchors that links can name.
struct Document {
  let url: URL
  /// The document's lines. Lines in code blocks are empty here.
  private let prose: [String]
  let lines: [String]

  init(_ url: URL) throws {
    self.init(url, text: try String(contentsOf: url, encoding: .utf8))
  }

  init(_ url: URL, text: String) {
    self.url = url
    lines = text.components(separatedBy: "\n")
    var fence: Substring?
    prose = lines.map { line in
      if let mark = line.firstMatch(of: /^\s*(```+|~~~+)/)?.1 {
        if let open = fence {
          if mark.hasPrefix(open) { fence = nil }
        } else {
          fence = mark
        }
        return ""
      }
      return fence == nil ? line : ""
    }
  }

  var name: String { url.path.replacing(Demo.root.path + "/", with: "") }

  /// Every document in the repository except those in build folders.
  static func all(_ extensions: Set<String> = ["md"]) throws -> [Document] {
    let skipped: Set<String> = [".build", ".git", ".swiftpm", "demo-output", "build", "node_modules"]
    let enumerator = FileManager.default.enumerator(at: Demo.root, includingPropertiesForKeys: nil)
    var urls: [URL] = []
    while let url = enumerator?.nextObject() as? URL {
      if skipped.contains(url.lastPathComponent) {
        enumerator?.skipDescendants()
      } else if extensions.contains(url.pathExtension) {
        urls.append(url)
      }
    }
    return try urls.sorted { $0.path < $1.path }.map { try Document($0) }
  }

  /// The anchors that links can name: the headings, in the form that GitHub gives them, and the `id`s.
  var anchors: Set<String> {
    var counts: [String: Int] = [:]
    var anchors: Set<String> = []
    for line in prose {
      for match in line.matches(of: /<[^>]*(?:id|name)="([^"]+)"/) { anchors.insert(String(match.1)) }
      guard let heading = line.firstMatch(of: /^#{1,6}\s+(.+?)\s*#*$/)?.1 else { continue }
      let slug = Self.anchor(of: String(heading))
      let count = counts[slug, default: 0]
      counts[slug] = count + 1
      anchors.insert(count == 0 ? slug : "\(slug)-\(count)")
    }
    return anchors
  }

  static func anchor(of heading: String) -> String {
    let text = heading.replacing(/!?\[([^\]]*)\]\([^)]*\)/) { String($0.1) }.lowercased()
    return String(
      text.compactMap { character in
        if character == " " { return "-" }
        return character.isLetter || character.isNumber || character == "-" || character == "_" ? character : nil
      })
  }

  /// The targets of the document's links, as they are written.
  var targets: [String] {
    prose.flatMap { line -> [String] in
      let text = line.replacing(/`[^`]*`/, with: "")
      let inline = text.matches(of: /\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/).map { String($0.1) }
      let references = text.matches(of: /^\s{0,3}\[[^\]]+\]:\s*<?(\S+?)>?(?:\s|$)/).map { String($0.1) }
      let tags = text.matches(of: /(?:src|href|srcset)="([^"]+)"/).map { String($0.1) }
      let articles = text.matches(of: /<(doc:[^>]+)>/).map { String($0.1) }
      return inline + references + tags + articles
    }
  }

  /// The names of symbols between two pairs of backquotes, which DocC turns into links.
  var symbols: [String] {
    prose.flatMap { $0.matches(of: /``([^`\s]+)``/).map { String($0.1) } }
  }

  /// The faults in the document's links to files, to anchors in files, and to articles. Links to other sites are not
  /// checked.
  func brokenLinks() -> [String] {
    targets.compactMap { target in
      fault(of: target).map { "\(name): \(target): \($0)" }
    }
  }

  private func fault(of target: String) -> String? {
    if target.prefixMatch(of: /(?:https?|mailto):/) != nil { return nil }
    let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let file: URL
    if target.hasPrefix("doc:") {
      file = url.deletingLastPathComponent().appendingPathComponent("\(parts[0].dropFirst(4)).md")
    } else if parts[0].isEmpty {
      file = url
    } else {
      let path = parts[0].removingPercentEncoding ?? parts[0]
      file = url.deletingLastPathComponent().appendingPathComponent(path).standardizedFileURL
      guard file.path == Demo.root.path || file.path.hasPrefix(Demo.root.path + "/") else {
        return "it leads out of the repository"
      }
    }
    guard FileManager.default.fileExists(atPath: file.path) || file == url else { return "there is no such file" }
    guard parts.count == 2 else { return nil }
    guard file.pathExtension == "md" else { return "only a document has anchors" }
    let other = file == url ? self : try? Document(file)
    let anchor = target.hasPrefix("doc:") ? Self.anchor(of: parts[1]) : parts[1]
    return other?.anchors.contains(anchor) ?? false ? nil : "there is no such heading"
  }
}
