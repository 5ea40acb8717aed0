import Foundation

@testable import TestSupport

/// A manual page in the man(7) language, divided into its sections.
struct ManualPage {
  /// An entry that follows `.TP`: its tags and the text that describes them.
  struct Entry {
    var tags: [String]
    var text = ""

    /// All words of the tags that begin with a hyphen.
    var options: [String] { tags.flatMap { $0.matches(of: /-{1,2}[A-Za-z?][\w\-]*/).map { String($0.0) } } }
  }

  /// A section or a subsection.
  struct Section {
    /// The section's title. For a subsection, its own title follows after a slash.
    let title: String
    var entries: [Entry] = []
    /// The section's whole text in one line, including the text of its entries.
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

  /// The titles of a section's subsections.
  func parts(of section: String) -> [String] {
    sections.filter { $0.title.hasPrefix("\(section)/") }.map { String($0.title.dropFirst(section.count + 1)) }
  }

  /// The text of a line as a reader sees it.
  private static func text(of line: Substring) -> String {
    var text = String(line)
    if let macro = text.firstMatch(of: /^\.([A-Z]+)\s*/) {
      let arguments = text[macro.range.upperBound...].matches(of: /"([^"]*)"|(\S+)/).map { $0.1 ?? $0.2 ?? "" }
      // A macro with two letters, such as BR, changes the font with every argument, and puts no space between the
      // arguments.
      text = arguments.joined(separator: macro.1.count == 2 && !["SH", "SS"].contains(macro.1) ? "" : " ")
    }
    return text.replacing(/\\f[BIR]/, with: "").replacing("\\-", with: "-").replacing("\\&", with: "")
  }
}
