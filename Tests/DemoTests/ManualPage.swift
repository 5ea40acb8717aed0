import Foundation

/// A manual page in man(7), by its sections.
struct ManualPage {
  /// What follows `.TP`: what is described, and the text that does.
  struct Entry {
    var tags: [String]
    var text = ""

    /// Every word of its tags that begins with a hyphen.
    var options: [String] { tags.flatMap { $0.matches(of: /-{1,2}[A-Za-z?][\w\-]*/).map { String($0.0) } } }
  }

  /// A section, or a part of one.
  struct Section {
    /// The section's title, and behind a slash that of the part.
    let title: String
    var entries: [Entry] = []
    /// All of its text in one line, that of the entries included.
    var text = ""

    var tags: [String] { entries.flatMap(\.tags) }
  }

  let url: URL
  private(set) var sections: [Section] = []

  init(_ name: String) throws {
    url = Demo.root.appendingPathComponent("docs/\(name)")
    var title = ""
    var nextIsTag = false
    var isEntry = false
    for line in try String(contentsOf: url, encoding: .utf8).split(separator: "\n") {
      let macro = line.firstMatch(of: /^\.([A-Z]+)\s*/)
      let text = Self.text(of: line)
      switch macro.map({ String($0.1) }) {
      case "SH":
        title = text
        sections.append(Section(title: title))
        (isEntry, nextIsTag) = (false, false)
      case "SS":
        sections.append(Section(title: "\(title)/\(text)"))
        (isEntry, nextIsTag) = (false, false)
      case "PP": isEntry = false
      case "TP":
        sections[sections.count - 1].entries.append(Entry(tags: []))
        (isEntry, nextIsTag) = (true, true)
      case "TQ": nextIsTag = true
      case _ where sections.isEmpty: break
      case _:
        let last = sections.count - 1
        sections[last].text += text + " "
        guard isEntry else { continue }
        let entry = sections[last].entries.count - 1
        if nextIsTag {
          sections[last].entries[entry].tags.append(text.hasSuffix(",") ? String(text.dropLast()) : text)
        } else {
          sections[last].entries[entry].text += text + " "
        }
        nextIsTag = false
      }
    }
  }

  func section(_ title: String) -> Section? { sections.first { $0.title == title } }

  /// The titles of a section's parts.
  func parts(of section: String) -> [String] {
    sections.filter { $0.title.hasPrefix("\(section)/") }.map { String($0.title.dropFirst(section.count + 1)) }
  }

  /// A line as it is read.
  private static func text(of line: Substring) -> String {
    var text = String(line)
    if let macro = text.firstMatch(of: /^\.([A-Z]+)\s*/) {
      let arguments = text[macro.range.upperBound...].matches(of: /"([^"]*)"|(\S+)/).map { $0.1 ?? $0.2 ?? "" }
      // Two letters, such as BR, change the font with every argument, and put nothing between them.
      text = arguments.joined(separator: macro.1.count == 2 && !["SH", "SS"].contains(macro.1) ? "" : " ")
    }
    return text.replacing(/\\f[BIR]/, with: "").replacing("\\-", with: "-").replacing("\\&", with: "")
  }
}
