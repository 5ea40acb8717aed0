/// A pipeline in gst-launch-1.0's language.
public enum PipelineDescription: Sendable, ExpressibleByStringLiteral {
  /// As one string.
  case text(String)
  /// As the arguments of a command line, where the shell has taken the quotes away already.
  case arguments([String])

  public init(stringLiteral value: String) {
    self = .text(value)
  }

  /// The values of all `name=` properties, in order.
  var elementNames: [String] {
    let properties =
      switch self {
      case .text(let text): LaunchText(text).properties
      case .arguments(let arguments): arguments.compactMap { LaunchText.property(inArgument: $0) }
      }
    return properties.filter { $0.name.elementsEqual("name".utf8) }.map { String(decoding: $0.value, as: UTF8.self) }
  }

  /// - Throws: ``PipSinkError/Pipeline/invalid(reason:)`` where there is a NUL in it, at which GStreamer would stop reading.
  func checkForNUL() throws(PipSinkError) {
    let hasNUL =
      switch self {
      case .text(let text): text.utf8.contains(0)
      case .arguments(let arguments): arguments.contains { $0.utf8.contains(0) }
      }
    if hasNUL { throw .pipeline(.invalid(reason: "there is a NUL character in it")) }
  }
}
