import ArgumentParser
import CGStreamer
import Glibc
import PipSink

/// A stream with a pipeline of its own, and the source that it is played from.
struct StreamOption: ExpressibleByArgument {
  enum Source {
    case pipeline(PipelineDescription)
    /// A URI, which is played with its sound.
    case uri(String)
    /// A server that sends the stream by WHEP.
    case whep(String)
  }

  let streamID: StreamID
  let source: Source

  /// Parses `ID=PIPELINE` or `ID=URI`.
  init?(argument text: String) {
    guard let (id, pipeline) = text.divided(at: "="), !id.isEmpty, !pipeline.isEmpty else { return nil }
    streamID = StreamID(id)
    source = Self.scheme(of: pipeline) != nil ? Self.source(uri: pipeline) : .pipeline(.text(pipeline))
  }

  private init(_ streamID: StreamID, _ source: Source) {
    self.streamID = streamID
    self.source = source
  }

  // MARK: - Files and URIs

  /// The streams for arguments that are files and URIs; nil when the arguments are a pipeline.
  ///
  /// A pipeline contains a `!`. An argument without one is to be played if it is an existing file, begins with a scheme
  /// and `://`, or contains a `/` or an extension. The stream ID is the file's name without the extension.
  static func media(_ arguments: [String]) -> [StreamOption]? {
    guard !arguments.isEmpty, arguments.allSatisfy(isMedium) else { return nil }
    var streams: [StreamOption] = []
    for argument in arguments {
      let name = name(of: argument)
      let taken = Set(streams.map(\.streamID))
      let names = [name] + (2...arguments.count + 1).map { "\(name)-\($0)" }
      let id = names.lazy.map { StreamID($0) }.first { !taken.contains($0) } ?? StreamID(name)
      streams.append(StreamOption(id, source(uri: uri(of: argument))))
    }
    return streams
  }

  private static func isMedium(_ argument: String) -> Bool {
    if scheme(of: argument) != nil || access(argument, F_OK) == 0 { return true }
    let form = /[^!=]*(?:\/[^!=]*|\.[A-Za-z0-9]{2,4})/.matchingSemantics(.unicodeScalar)
    return !argument.utf8.contains(UInt8(ascii: "\n")) && argument.wholeMatch(of: form) != nil
  }

  /// The scheme of a URI in small letters; nil for other texts.
  static func scheme(of text: String) -> String? {
    text.wholeMatch(of: /([A-Za-z][A-Za-z0-9+.\-]*):\/\/\S*/.matchingSemantics(.unicodeScalar))?.1.lowercased()
  }

  private static func source(uri: String) -> Source { isWHEP(uri) ? .whep(uri) : .uri(uri) }

  /// Whether a text is the address of a server of WHEP.
  static func isWHEP(_ text: String) -> Bool { scheme(of: text).map { ["whep", "wheps"].contains($0) } == true }

  private static func uri(of argument: String) -> String {
    guard scheme(of: argument) == nil, let uri = gst_filename_to_uri(argument, nil) else { return argument }
    defer { g_free(uri) }
    return String(cString: uri)
  }

  private static func name(of argument: String) -> String {
    let path = scheme(of: argument) != nil ? argument.prefix { $0 != "?" && $0 != "#" } : argument[...]
    let last = path.split(separator: "/").last ?? ""
    let stem = last.lastIndex(of: ".").map { last[..<$0] } ?? last
    return stem.isEmpty ? "stream" : String(stem)
  }
}
