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
    let tokens =
      switch self {
      case .text(let text): text.split(whereSeparator: \.isWhitespace).map(String.init)
      case .arguments(let arguments): arguments
      }
    return tokens.filter { $0.hasPrefix("name=") }.map { token in
      token.dropFirst("name=".count).filter { $0 != "\"" && $0 != "'" }
    }
  }
}
