import CGStreamer
import PipSink

/// A session description (SDP, RFC 8866) of a peer connection.
struct SessionDescription {
  /// A longer description is refused. Those of large conferences have some ten thousand bytes.
  static let byteLimit = 262_144

  /// A medium that the describing peer sends or receives.
  struct Track: Equatable {
    /// The medium's identification, which both peers use for it.
    let mid: String
    /// The number of its medium in the description.
    let index: Int
    let isVideo: Bool
    /// Whether the peer that wrote the description sends it.
    let isSent: Bool
    /// Whether the peer that wrote the description receives it.
    let isReceived: Bool
    /// The payload types of the encodings, which are in capital letters.
    let formats: [String: Int]
    /// The number of the header extension by which the receiver says what has arrived (transport-wide congestion
    /// control), from 1 to 14; nil where the description has none.
    let feedbackExtension: Int?
    /// The ID of the stream that the track belongs to.
    let streamID: StreamID
  }

  let tracks: [Track]
  /// The fingerprints of the certificates of the peer (RFC 8122), such as "sha-256 12:AB".
  let fingerprints: [String]

  /// Reads a description.
  ///
  /// - Parameter name: the name of all MediaStreams; nil for the names that they have.
  /// - Throws: ``PipSinkError/Call/invalidDescription(reason:)``.
  init(_ text: String, named name: StreamID? = nil) throws(PipSinkError) {
    guard text.utf8.count <= Self.byteLimit else {
      throw .call(.invalidDescription(reason: "it has \(text.utf8.count) bytes, more than \(Self.byteLimit)"))
    }
    guard text.hasPrefix("v=0") else { throw .call(.invalidDescription(reason: "it does not begin with v=0")) }
    tracks = Self.tracks(of: text, named: name?.rawValue)
    fingerprints = text.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("a=fingerprint:") }
      .map { String($0.dropFirst(14)) }
    guard !tracks.isEmpty else { throw .call(.invalidDescription(reason: "it has no medium")) }
  }

  /// Whether one of the fingerprints is that of a certificate (PEM).
  static func match(_ fingerprints: [String], _ certificate: String) -> Bool {
    let lines = certificate.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("-----") }
    var size: gsize = 0
    guard let data = g_base64_decode(lines.joined(), &size) else { return false }
    defer { g_free(data) }
    return fingerprints.contains { fingerprint in
      let words = fingerprint.lowercased().split(separator: " ")
      let kinds = [
        "sha-1": G_CHECKSUM_SHA1, "sha-256": G_CHECKSUM_SHA256, "sha-384": G_CHECKSUM_SHA384,
        "sha-512": G_CHECKSUM_SHA512,
      ]
      guard words.count == 2, let kind = kinds[String(words[0])] else { return false }
      return String(taking: g_compute_checksum_for_data(kind, data, size)) == words[1].filter { $0 != ":" }
    }
  }

  /// A description with other directions.
  ///
  /// - Parameter direction: the direction of the medium with a number, such as "inactive"; nil for the one that it has.
  static func text(_ text: String, direction: (_ index: Int) -> String?) -> String {
    var index = -1
    return text.split(whereSeparator: \.isNewline).map { line in
      if line.hasPrefix("m=") { index += 1 }
      let isDirection = ["a=sendrecv", "a=sendonly", "a=recvonly", "a=inactive"].contains(line)
      return (isDirection ? direction(index).map { "a=\($0)" } ?? String(line) : String(line)) + "\r\n"
    }.joined()
  }

  /// The name of the header extension of transport-wide congestion control.
  static let feedbackURI = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"

  /// The fields of caps that have the receiver say which packets have arrived.
  ///
  /// - Parameter number: that of the header extension.
  static func feedbackFields(_ number: Int) -> String {
    "extmap-\(number)=(string)\(feedbackURI),rtcp-fb-transport-cc=(boolean)true"
  }

  /// A medium that is being read.
  private struct Section {
    let index: Int
    let isVideo: Bool
    var isRejected: Bool
    var mid: String
    var isSent = true
    var isReceived = true
    var formats: [String: Int] = [:]
    var feedbackExtension: Int?
    var hasFeedback = false
    var stream: String?
  }

  /// Reads the tracks. A track is called as its MediaStream (`msid`) is, or by its `mid` where it has none. A second video
  /// of one MediaStream has both, with a dot between. A sound belongs to the first video of its MediaStream.
  private static func tracks(of text: String, named given: String?) -> [Track] {
    var tracks: [Track] = []
    var names: Set<StreamID> = []
    var section: Section?
    func finish() {
      guard let section else { return }
      let name = given ?? section.stream ?? section.mid
      var id = StreamID(name)
      if section.isVideo, !names.insert(id).inserted {
        id = StreamID("\(name).\(section.mid)")
        names.insert(id)
      }
      tracks.append(
        Track(
          mid: section.mid, index: section.index, isVideo: section.isVideo,
          isSent: section.isSent && !section.isRejected, isReceived: section.isReceived && !section.isRejected,
          formats: section.formats,
          feedbackExtension: section.isVideo && section.hasFeedback ? section.feedbackExtension : nil,
          streamID: id))
    }
    var index = 0
    for line in text.split(whereSeparator: \.isNewline) {
      if line.hasPrefix("m=") {
        finish()
        let words = line.dropFirst(2).split(separator: " ")
        let isMedia = words.first == "video" || words.first == "audio"
        section =
          isMedia
          ? Section(
            index: index, isVideo: words.first == "video", isRejected: words.dropFirst().first == "0", mid: "\(index)")
          : nil
        index += 1
      } else if line.hasPrefix("a=mid:") {
        section?.mid = String(line.dropFirst(6))
      } else if let name = streamName(in: line) {
        if !name.isEmpty, name != "-", !name.utf8.contains(0) { section?.stream = String(name) }
      } else if line == "a=bundle-only" {
        // Its port is 0, too, and it has that of another medium.
        section?.isRejected = false
      } else if line.hasPrefix("a=rtpmap:") {
        let words = line.dropFirst(9).split(separator: " ")
        guard words.count == 2, let type = Int(words[0]), let name = words[1].split(separator: "/").first?.uppercased()
        else { continue }
        if section?.formats[name] == nil { section?.formats[name] = type }
      } else if line.hasPrefix("a=extmap:") {
        let words = line.dropFirst(9).split(separator: " ")
        guard words.count >= 2, words[1] == feedbackURI, let number = Int(words[0].prefix { $0 != "/" }),
          (1...14).contains(number)
        else { continue }
        // Larger numbers need headers of two bytes (RFC 8285).
        section?.feedbackExtension = number
      } else if line.hasPrefix("a=rtcp-fb:"), line.hasSuffix(" transport-cc") {
        section?.hasFeedback = true
      } else if ["a=recvonly", "a=sendonly", "a=inactive"].contains(line) {
        if line != "a=sendonly" { section?.isSent = false }
        if line != "a=recvonly" { section?.isReceived = false }
      }
    }
    finish()
    return tracks
  }

  /// The name of the MediaStream in a line `a=msid:` or, as older peers write it, `a=ssrc:NUMBER msid:`.
  private static func streamName(in line: Substring) -> Substring? {
    let words = line.split(separator: " ")
    guard let word = words.first?.hasPrefix("a=ssrc:") == true ? words.dropFirst().first : words.first else {
      return nil
    }
    for prefix in ["a=msid:", "msid:"] where word.hasPrefix(prefix) { return word.dropFirst(prefix.count) }
    return nil
  }
}
