import CGStreamer
import PipSink

@testable import PipSinkCalls

/// Fuzzes what is read of peers and their servers: session descriptions, the links of answers, and addresses. The bytes
/// are the text of each.
@MainActor
enum CallsTarget {
  static func run(_ bytes: [UInt8]) {
    // The oracle is GStreamer's.
    try? PipSink.initialize()
    let text = String(decoding: bytes, as: UTF8.self)
    describe(text)
    link(text)
    address(text)
  }

  private static func describe(_ text: String) {
    guard let description = try? SessionDescription(text) else { return }
    let tracks = description.tracks
    require(!tracks.isEmpty, text)
    require(zip(tracks, tracks.dropFirst()).allSatisfy { $0.index < $1.index }, "the tracks keep their order: \(text)")
    let none = SessionDescription.text(text) { _ in nil }
    let lines = text.split(whereSeparator: \.isNewline)
    require(none == lines.map { "\($0)\r\n" }.joined(), "what is not changed stays: \(text)")
    let all = SessionDescription.text(text) { _ in "inactive" }
    let later = (try? SessionDescription(all))?.tracks ?? []
    require(later.map(\.streamID) == tracks.map(\.streamID), "a direction changes no name: \(text)")
    let named = (try? SessionDescription(text, named: "a"))?.tracks ?? []
    require(named.map(\.mid) == tracks.map(\.mid), "a name changes nothing else: \(text)")
    require(named.first { $0.isVideo }.map { $0.streamID == "a" } ?? true, "the first video has the name: \(text)")
    _ = SessionDescription.match(description.fingerprints, text)
  }

  private static func link(_ text: String) {
    let servers = ICEServer.servers(inLinks: [text])
    require(servers.count <= ICEServer.limit, text)
    for server in servers {
      // GStreamer's own parser finds a host and, for a relay, a user and a password.
      let uri = gst_uri_from_string(server.url)
      require(uri != nil, "\(server.url) of \(text)")
      defer { if let uri { gst_mini_object_unref(UnsafeMutablePointer(uri)) } }
      require(gst_uri_get_host(uri) != nil, "\(server.url) of \(text)")
      require((gst_uri_get_userinfo(uri) != nil) == server.isRelay, "\(server.url) of \(text)")
    }
  }

  private static func address(_ text: String) {
    guard let address = try? HTTPAddress(text) else { return }
    require(address.text.hasPrefix("http"), text)
    let again = try? HTTPAddress(address.text)
    require(again?.text == address.text && again?.origin == address.origin, "\(address.text) of \(text)")
  }
}
