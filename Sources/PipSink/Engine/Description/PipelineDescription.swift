/// The description of a pipeline, in the language of gst-launch-1.0.
///
/// A value that is interpolated into a literal is always part of the one word that it is written in, whatever
/// characters it has:
///
///     let film: PipelineDescription = "filesrc location=\(path) ! decodebin ! videoconvert ! appsink name=film"
///
/// So a value can be that of a property, or a number or a name in caps, but it cannot add an element or end a
/// quotation, and it needs no quotes. A part of the description itself is interpolated as `\(launch: text)`.
public struct PipelineDescription: Sendable, ExpressibleByStringInterpolation {
  /// The forms of a description.
  package enum Content: Sendable {
    case text(String)
    case arguments([String])
    /// A literal with a value that cannot stand where it is written, and the reason.
    case misfit(reason: String)
  }

  package let content: Content

  /// Makes a description from one string.
  public static func text(_ text: String) -> Self { .init(content: .text(text)) }

  /// Makes a description from the arguments of a command line, from which the shell has already removed quotes.
  public static func arguments(_ arguments: [String]) -> Self { .init(content: .arguments(arguments)) }

  private init(content: Content) { self.content = content }

  /// Makes a description from a string literal.
  public init(stringLiteral value: String) { self = .text(value) }

  /// Makes a description from a string literal with interpolated values.
  public init(stringInterpolation: StringInterpolation) { content = stringInterpolation.content }

  /// Collects the parts of a string literal. The compiler generates the calls.
  public struct StringInterpolation: StringInterpolationProtocol {
    private var units: [LaunchText.Unit] = []
    private var values: [String] = []

    /// Makes an empty literal.
    public init(literalCapacity: Int, interpolationCount: Int) { units.reserveCapacity(literalCapacity) }

    /// Appends a part of the description that is written in the literal.
    public mutating func appendLiteral(_ literal: String) { units += literal.utf8.map(LaunchText.Unit.init) }

    /// Appends a value, which becomes part of one word.
    public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
      guard values.count < LaunchText.holeLimit else { return appendLiteral(LaunchText.quoted(value.description)) }
      units.append(LaunchText.firstHole + LaunchText.Unit(values.count))
      values.append(value.description)
    }

    /// Appends a part of the description, in the language of gst-launch-1.0.
    public mutating func appendInterpolation(launch text: String) { appendLiteral(text) }

    fileprivate var content: Content {
      guard !values.contains(where: { $0.utf8.contains(0) }) else { return .misfit(reason: PipelineDescription.hasNUL) }
      do throws(LaunchText.Misfit) {
        let filled = try LaunchText(units).filled(with: values.map { Array($0.utf8) })
        return .text(String(decoding: filled, as: UTF8.self))
      } catch {
        return .misfit(reason: reason(error))
      }
    }

    private func reason(_ misfit: LaunchText.Misfit) -> String {
      switch misfit {
      case .name(let hole):
        "the value \"\(values[hole])\" stands in the place of a name, which may have only letters, digits, _ and -; "
          + "write \\(launch: ...) for a part of the description"
      case .caps(let hole):
        "the value \"\(values[hole])\" cannot stand in caps between two \"!\", which may have only letters, digits and _-.+:/; "
          + "write capsfilter caps=... for other values, or \\(launch: ...) for caps"
      case .division: "GStreamer would divide it into different words when its values are filled in"
      }
    }
  }

  /// The values of all `name` properties, in order.
  var elementNames: [String] {
    let properties: [(name: [UInt8], value: [UInt8])] =
      switch content {
      case .text(let text): LaunchText(text).properties
      case .arguments(let arguments): arguments.compactMap { LaunchText.property(inArgument: $0) }
      case .misfit: []
      }
    return properties.filter { $0.name.elementsEqual("name".utf8) }.map { String(decoding: $0.value, as: UTF8.self) }
  }

  private static let hasNUL = "it contains a NUL character"

  /// Checks the values and the text.
  ///
  /// - Throws: ``PipSinkError/Pipeline/invalid(reason:)`` for a value that cannot stand at its place, and for a NUL, at
  ///   which GStreamer would stop reading.
  func check() throws(PipSinkError) {
    let hasNUL =
      switch content {
      case .text(let text): text.utf8.contains(0)
      case .arguments(let arguments): arguments.contains { $0.utf8.contains(0) }
      case .misfit(let reason): throw .pipeline(.invalid(reason: reason))
      }
    if hasNUL { throw .pipeline(.invalid(reason: Self.hasNUL)) }
  }
}
