import Foundation

/// A file with a pipeline: gst-launch's language over as many lines as it needs, lines that start with `#` as comments,
/// and `${NAME}` or `${NAME:-default}` for values from the environment.
struct LaunchFile {
  let text: String

  /// - Throws: ``DemoError``: the file cannot be read, or a variable without a default is not set.
  init(path: String, environment: [String: String]) throws {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw DemoError(.usage, "the pipeline file \"\(path)\" cannot be read")
    }
    let source = String(decoding: data, as: UTF8.self)
    try self.init(source: source, name: path, environment: environment)
  }

  init(source: String, name: String, environment: [String: String]) throws {
    let lines = source.split(separator: "\n").filter { !$0.drop(while: \.isWhitespace).hasPrefix("#") }
    text = try Self.substituted(lines.joined(separator: "\n"), name: name, environment: environment)
  }

  private static func substituted(_ text: String, name: String, environment: [String: String]) throws -> String {
    var result = ""
    var rest = text[...]
    while let start = rest.range(of: "${") {
      result += rest[..<start.lowerBound]
      guard let end = rest[start.upperBound...].firstIndex(of: "}") else {
        throw DemoError(.pipeline, "\(name): \"${\" without \"}\"")
      }
      let parts = rest[start.upperBound..<end].split(separator: ":-", maxSplits: 1, omittingEmptySubsequences: false)
      let variable = String(parts[0])
      guard let value = environment[variable] ?? (parts.count > 1 ? String(parts[1]) : nil) else {
        throw DemoError(.usage, "\(name) needs the environment variable \(variable); its comments say what for")
      }
      result += escaped(value)
      rest = rest[rest.index(after: end)...]
    }
    return result + rest
  }

  /// Keeps a value one word in gst-launch's language.
  private static func escaped(_ value: String) -> String {
    value.reduce(into: "") { result, character in
      if character == "\"" || character == "\\" { result.append("\\") }
      result.append(character)
    }
  }
}
