import Foundation
import FoundationXML
import Testing

@testable import PipSink
@testable import PipSinkDBus
@testable import TestSupport

/// `docs/dbus.md` describes the interfaces on the session bus as their introspection data does.
@Suite struct BusDocumentTests {
  private let document: Document

  init() throws {
    document = try Document(Demo.root.appendingPathComponent("docs/dbus.md"))
  }

  /// The members of an interface, each as one line of text, sorted.
  private struct Members: Equatable {
    var methods: [String] = []
    var properties: [String] = []
    var signals: [String] = []

    func sorted() -> Members {
      Members(methods: methods.sorted(), properties: properties.sorted(), signals: signals.sorted())
    }
  }

  @MainActor private static func introspect() -> [String: Members] {
    let interfaces: [BusInterface] = [.session(), .player(), .mediaPlayer(identity: "", quit: nil)]
    let members = interfaces.map { interface in
      let reader = MemberReader()
      let parser = XMLParser(data: Data(interface.description.utf8))
      parser.delegate = reader
      #expect(parser.parse(), "\(interface.name)")
      return (interface.name, reader.members.sorted())
    }
    return Dictionary(uniqueKeysWithValues: members)
  }

  /// Reads D-Bus's introspection format.
  private final class MemberReader: NSObject, XMLParserDelegate {
    var members = Members()
    private var name = ""
    private var inputs: [String] = []
    private var outputs: [String] = []

    func parser(
      _ parser: XMLParser, didStartElement element: String, namespaceURI: String?, qualifiedName: String?,
      attributes: [String: String]
    ) {
      switch element {
      case "method", "signal": (name, inputs, outputs) = (attributes["name"] ?? "", [], [])
      case "arg":
        let argument = "\(attributes["type"] ?? "") \(attributes["name"] ?? "")"
        if attributes["direction"] == "out" { outputs.append(argument) } else { inputs.append(argument) }
      case "property":
        let access = attributes["access"] == "read" ? "" : ", can be written"
        members.properties.append("\(attributes["name"] ?? "") (\(attributes["type"] ?? "")\(access))")
      default: break
      }
    }

    func parser(_ parser: XMLParser, didEndElement element: String, namespaceURI: String?, qualifiedName: String?) {
      let inputs = inputs.joined(separator: ", ")
      let result = outputs.isEmpty ? "" : " → \(outputs.joined(separator: ", "))"
      if element == "method" { members.methods.append("\(name)(\(inputs))\(result)") }
      if element == "signal" { members.signals.append("\(name)(\(inputs))") }
    }
  }

  /// The members that the document describes under the headings of each interface.
  private var described: [String: Members] {
    var all: [String: Members] = [:]
    var interface = ""
    for line in document.lines {
      if let heading = line.firstMatch(of: /^## (.*)$/) {
        interface = heading.1.contains(".") ? String(heading.1) : ""
      } else if let heading = line.firstMatch(of: /^#### `(.*)`$/) {
        all[interface, default: Members()].methods.append(String(heading.1))
      } else if line.hasPrefix("- "), !interface.isEmpty {
        let text = line.prefix { $0 != ":" }
        for match in text.matches(of: /`(\w+)` \(([^)]*)\)/) {
          all[interface, default: Members()].properties.append("\(match.1) (\(match.2))")
        }
        if let match = line.firstMatch(of: /^- `(\w+\([^)`]*\))`:/) {
          all[interface, default: Members()].signals.append(String(match.1))
        }
      }
    }
    return all.mapValues { $0.sorted() }
  }

  @Test @MainActor func everyMethodPropertyAndSignalIsDescribedWithItsTypesAndNoOther() {
    let (described, introspected) = (described, Self.introspect())
    #expect(described.keys.sorted() == introspected.keys.sorted())
    for (name, members) in introspected {
      #expect(members.methods.count + members.properties.count >= 8)
      #expect(described[name]?.methods == members.methods, "\(name)")
      #expect(described[name]?.properties == members.properties, "\(name)")
      #expect(described[name]?.signals == members.signals, "\(name)")
    }
  }

  @Test func everyErrorIsDescribedAndNoOther() throws {
    let folder = Demo.root.appendingPathComponent("Sources/PipSinkDBus")
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL }
    let text = try (files ?? []).filter { $0.pathExtension == "swift" }
      .map { try String(contentsOf: $0, encoding: .utf8) }.joined(separator: "\n")
    // One property has the names of the errors and ends with the prefix that they have in common.
    let names = try #require(text.firstMatch(of: /var busName: String \{(?s)(.*?)"org\.pipsink\.Error\./)?.1)
    let kinds = names.matches(of: /: "([A-Z]\w+)"\n/).map { "org.pipsink.Error.\($0.1)" }
    let others = text.matches(of: /"(org\.freedesktop\.DBus\.Error\.\w+)"/).map { String($0.1) }
    #expect(kinds.count >= 9 && others.count >= 2)
    let errors = document.lines.compactMap {
      $0.firstMatch(of: /^- `((?:org\.pipsink|org\.freedesktop\.DBus)\.Error\.\w+)`/)
    }
    #expect(Set(errors.map { String($0.1) }) == Set(kinds + others))
    #expect(Set(errors.map { String($0.1) }).count == errors.count)
    // The errors that the document lists for a method are among them.
    let endings = Set(errors.compactMap { $0.1.split(separator: ".").last.map(String.init) })
    let prose = document.lines.joined(separator: " ")
    for list in prose.matches(of: /Errors: ([^.]*)\./) {
      for name in list.1.matches(of: /`(\w+)`/) { #expect(endings.contains(String(name.1)), "\(name.1)") }
    }
  }

  @Test(.enabled(if: SessionBus.isInstalled, "dbus-daemon, gdbus, playerctl or python3 is not installed"))
  func everyMethodHasAnExampleThatWorks() async throws {
    let commands = examples
    for (interface, members) in await Self.introspect() {
      for method in members.methods.map({ $0.prefix { $0 != "(" } }) {
        #expect(commands.contains { $0.contains(" \(interface).\(method)") }, "\(interface).\(method)")
      }
    }
    let bus = try await SessionBus()
    let demo = try await bus.startSession()
    let variables = document.lines.filter { $0.firstMatch(of: /^(?:session|player)="/) != nil }
    try #require(variables.count == 2)
    for command in commands {
      let error = command.firstMatch(of: /# (org\.\S+)$/).map { String($0.1) }
      var result: ProgramResult?
      // The command is tried again because a stream may have no picture yet.
      let isRight = try await eventually {
        result = try await bus.run("env", ["sh", "-c", (variables + [command]).joined(separator: "\n")])
        return error.map { result?.status != 0 && result?.errors.contains($0) == true } ?? (result?.status == 0)
      }
      #expect(isRight, "\(command): \(result?.output ?? "") \(result?.errors ?? "")")
    }
    let result = try await demo.result(seconds: 60)
    #expect(result.status == 0, "\(result.errors)")
  }

  /// The commands in the document, in the order in which they appear.
  private var examples: [String] { document.lines.filter { $0.hasPrefix("gdbus call ") } }
}
