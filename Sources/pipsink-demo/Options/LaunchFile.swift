import Glibc
import PipSink
import PipSinkCommandLine

/// A file with a pipeline in the syntax of gst-launch-1.0, over any number of lines. Lines that begin with `#` are
/// comments, and `${NAME}` or `${NAME:-default}` stand for values from the environment.
///
/// A value is always a part of the word that it is written in: it can neither add an element nor end a quotation. The
/// file is read byte by byte, as GStreamer does it.
struct LaunchFile {
  let text: String

  /// - Throws: ``CommandError`` when the file cannot be read, a variable without a default is not set, or a value is not
  ///   possible where it is written.
  init(path: String) throws {
    let bytes: [UInt8]
    do throws(InputFileError) {
      bytes = try InputFile.bytes(of: path)
    } catch {
      throw CommandError(.usage, "the pipeline file \"\(path)\" cannot be read: \(error)")
    }
    try self.init(bytes: bytes, name: path) { name in
      getenv(name).map { value in UnsafeRawBufferPointer(start: value, count: strlen(value)).map(\.self) }
    }
  }

  /// - Parameter variable: returns the value of an environment variable; nil when it is not set.
  init(bytes: [UInt8], name: String, variable: (String) -> [UInt8]?) throws {
    let holes = try Self.holes(in: Self.withoutComments(bytes), name: name)
    let values = try holes.variables.map { hole in
      guard let value = variable(hole.name) ?? hole.initial else {
        throw CommandError(.usage, "\(name) needs the environment variable \(hole.name); its comments say what for")
      }
      guard String(validating: value, as: UTF8.self) != nil, !value.contains(0) else {
        throw CommandError(.usage, "\(name): the environment variable \(hole.name) is no UTF-8 text")
      }
      return value
    }
    do throws(LaunchText.Misfit) {
      text = String(decoding: try LaunchText(holes.units).filled(with: values), as: UTF8.self)
    } catch {
      throw Self.error(error, name: name, holes.variables.map(\.name), values)
    }
  }

  private static func error(
    _ misfit: LaunchText.Misfit, name: String, _ variables: [String], _ values: [[UInt8]]
  ) -> CommandError {
    let advice = "write capsfilter caps=\"...\" for others"
    func message(_ hole: Int, _ reason: String) -> String {
      "\(name): the value \"\(String(decoding: values[hole], as: UTF8.self))\" of \(variables[hole]) \(reason)"
    }
    return switch misfit {
    case .name(let hole):
      CommandError(.usage, message(hole, "is no name: where it is written, letters, digits, _ and - may stand"))
    case .caps(let hole):
      CommandError(
        .usage, message(hole, "cannot stand in caps between two \"!\"; letters, digits and _-.+:/ can; \(advice)"))
    case .division:
      CommandError(.pipeline, "\(name): GStreamer would divide it into different words when its values are filled in")
    }
  }

  // MARK: - The file's own language

  /// Removes comment lines and the byte order mark. A line ends with a line feed, with or without a carriage return
  /// before it.
  private static func withoutComments(_ bytes: [UInt8]) -> [UInt8] {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let lines = bytes.dropFirst(bytes.starts(with: mark) ? mark.count : 0)
      .split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .map { $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0 }
      .filter { line in
        line.first { ![0x20, 0x09, 0x0B, 0x0C, 0x0D].contains($0) } != UInt8(ascii: "#")
      }
    return Array(lines.joined(separator: [UInt8(ascii: "\n")]))
  }

  private struct Variable {
    let name: String
    let initial: [UInt8]?

    /// Parses NAME or NAME:-DEFAULT.
    init?(_ text: String) {
      let form = /(?s)([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?/.matchingSemantics(.unicodeScalar)
      guard let match = text.wholeMatch(of: form) else { return nil }
      (name, initial) = (String(match.1), match.2.map { Array($0.utf8) })
    }
  }

  private static func holes(in text: [UInt8], name: String) throws -> (
    units: [LaunchText.Unit], variables: [Variable]
  ) {
    guard String(validating: text, as: UTF8.self) != nil, !text.contains(0) else {
      throw CommandError(.pipeline, "the pipeline file \"\(name)\" is no UTF-8 text")
    }
    var units: [LaunchText.Unit] = []
    var variables: [Variable] = []
    var rest = text[...]
    while let byte = rest.first {
      guard rest.starts(with: Array("${".utf8)) else {
        units.append(LaunchText.Unit(byte))
        rest = rest.dropFirst()
        continue
      }
      guard let end = rest.firstIndex(of: UInt8(ascii: "}")) else {
        throw CommandError(.pipeline, "\(name): \"${\" without \"}\"")
      }
      let inside = String(decoding: rest[rest.startIndex + 2..<end], as: UTF8.self)
      guard let variable = Variable(inside), variables.count < LaunchText.holeLimit else {
        throw CommandError(.pipeline, "\(name): \"${\(inside)}\" is neither \"${NAME}\" nor \"${NAME:-default}\"")
      }
      units.append(LaunchText.firstHole + LaunchText.Unit(variables.count))
      variables.append(variable)
      rest = rest[(end + 1)...]
    }
    return (units, variables)
  }
}
