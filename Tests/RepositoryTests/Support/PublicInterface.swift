import Foundation

@testable import TestSupport

/// The public interface of a library as text, from its symbol graph.
///
/// Each declaration is a line that begins with its name, and the lines are sorted by the names. A type names the protocols that it
/// conforms to. A requirement of a protocol says whether it has a default implementation, which is no line of its own.
/// What the compiler makes, such as `init(rawValue:)` of an enumeration, is left out.
struct PublicInterface {
  let lines: [String]

  /// The folder of the files that the repository has, one for each library.
  static let folder = Demo.root.appendingPathComponent("docs/interface")

  /// The libraries that apps import. `GstPipSink` is the element; a program that registers it needs one function.
  static let libraries = ["PipSink", "PipSinkWindows", "PipSinkGTK", "PipSinkGTK4", "PipSinkDBus", "PipSinkCalls"]

  static func file(of library: String) -> URL { folder.appendingPathComponent("\(library).txt") }

  init(lines: [String]) { self.lines = lines }

  /// The interface that the repository has for a library.
  init(readFor library: String) throws {
    let text = try String(contentsOf: Self.file(of: library), encoding: .utf8)
    lines = text.split(separator: "\n").map(String.init)
  }

  init(_ graphs: [SymbolGraph]) {
    let symbols = graphs.flatMap(\.symbols)
    let relationships = graphs.flatMap(\.relationships)
    let names = Dictionary(
      symbols.map { ($0.identifier.precise, $0.pathComponents.joined(separator: ".")) }, uniquingKeysWith: { $1 })
    let defaults = relationships.filter { $0.kind == "defaultImplementationOf" }
    let (implementations, optional) = (Set(defaults.map(\.source)), Set(defaults.map(\.target)))
    let protocols = Dictionary(
      grouping: relationships.filter { $0.kind == "conformsTo" || $0.kind == "inheritsFrom" }, by: \.source
    ).mapValues { conformances in
      Set(conformances.compactMap { names[$0.target] ?? $0.targetFallback.map(Self.withoutModule) })
        .subtracting(Self.implied).sorted().joined(separator: ", ")
    }
    let declarations = symbols.filter { $0.location != nil && !implementations.contains($0.identifier.precise) }
      .map { symbol in
        let name = symbol.pathComponents.joined(separator: ".")
        let id = symbol.identifier.precise
        let declaration = symbol.declarationFragments.map(\.spelling).joined()
          .split(whereSeparator: \.isWhitespace).joined(separator: " ")
        var line = "\(name): \(declaration)"
        if let list = protocols[id], !list.isEmpty { line += " // \(list)" }
        if optional.contains(id) { line += " // has a default" }
        return (name, line)
      }
    lines = declarations.sorted { $0 < $1 }.map(\.1).reduce(into: []) { if $0.last != $1 { $0.append($1) } }
  }

  /// How many declarations an app's author meets: types and members. The cases of an enumeration are not counted, as
  /// they are the enumeration.
  var declarationCount: Int { lines.count { !$0.contains(": case ") && !$0.contains(": indirect case ") } }

  /// What another interface has that this one has not, and the other way round, as text for whoever has changed it.
  func differences(from old: PublicInterface) -> String {
    let (new, old) = (Set(lines), Set(old.lines))
    return (new.subtracting(old).map { ($0, "+ \($0)") } + old.subtracting(new).map { ($0, "- \($0)") })
      .sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map(\.1).joined(separator: "\n")
  }

  func write(for library: String) throws {
    try FileManager.default.createDirectory(at: Self.folder, withIntermediateDirectories: true)
    try (lines.joined(separator: "\n") + "\n").write(to: Self.file(of: library), atomically: true, encoding: .utf8)
  }

  /// Protocols to which the compiler makes types conform.
  private static let implied: Set<String> = ["BitwiseCopyable", "Copyable", "Escapable", "SendableMetatype"]

  private static func withoutModule(_ name: String) -> String {
    name.firstIndex(of: ".").map { String(name[name.index(after: $0)...]) } ?? name
  }
}
