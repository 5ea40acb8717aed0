import ArgumentParser
import PipSink
import PipSinkCommandLine

/// The options of `play` and `call` about servers of WHEP and WHIP.
struct SendingOptions: ParsableArguments {
  @Option(
    name: .customLong("publish"),
    help: ArgumentHelp(
      """
      Send a stream to a server by WHIP: whip://HOST/PATH, or whips:// where it is encrypted. Without an ID it is the \
      first local stream, or else the first one. Repeatable.
      """,
      valueName: "[id=]url"))
  var publications: [PublishOption] = []

  @Option(
    help: ArgumentHelp(
      """
      A pipeline without a sink, such as "autoaudiosrc", whose sound is sent with the streams of --publish. Without it \
      pictures are sent alone.
      """,
      valueName: "pipeline"))
  var microphone: String?

  @Option(
    name: .customLong("token"),
    help: ArgumentHelp(
      """
      Read the token that the stream's server of WHEP or WHIP asks for from this file. Repeatable.
      """,
      valueName: "id=file"))
  var tokens: [TokenOption] = []

  /// Every stream ID that one of the options names.
  var streamIDs: [StreamID] { publications.compactMap(\.streamID) + tokens.map(\.streamID) }

  /// Reads the tokens of the streams' servers.
  ///
  /// - Throws: ``CommandError`` when a file cannot be read.
  func readTokens() throws(CommandError) -> [StreamID: String] {
    var result: [StreamID: String] = [:]
    for option in tokens {
      do throws(InputFileError) {
        result[option.streamID] = try InputFile.text(of: option.path).split(whereSeparator: \.isWhitespace).first
          .map(String.init)
      } catch {
        throw CommandError(.usage, "the file \"\(option.path)\" with a token cannot be read: \(error)")
      }
    }
    return result
  }
}

/// A server that a stream is sent to.
struct PublishOption: ExpressibleByArgument {
  /// The stream; nil for the local one.
  let streamID: StreamID?
  let url: String

  /// Parses `ID=URL` or `URL`.
  init?(argument text: String) {
    if Self.isWHIP(text) {
      (streamID, url) = (nil, text)
    } else {
      guard let (id, url) = text.divided(at: "="), !id.isEmpty, Self.isWHIP(url) else { return nil }
      (streamID, self.url) = (StreamID(id), url)
    }
  }

  private static func isWHIP(_ text: String) -> Bool {
    StreamOption.scheme(of: text).map { ["whip", "whips"].contains($0) } == true
  }
}

/// The file with the token of a stream's server.
struct TokenOption: ExpressibleByArgument {
  let streamID: StreamID
  let path: String

  /// Parses `ID=FILE`.
  init?(argument text: String) {
    guard let (id, path) = text.divided(at: "="), !id.isEmpty, !path.isEmpty else { return nil }
    (streamID, self.path) = (StreamID(id), path)
  }
}
