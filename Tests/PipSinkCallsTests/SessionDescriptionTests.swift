import Testing

@testable import PipSink
@testable import PipSinkCalls

@Suite struct SessionDescriptionTests {
  private static let head = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n"

  private static func medium(_ kind: String, _ lines: String...) -> String {
    "m=\(kind) 9 UDP/TLS/RTP/SAVPF 96\r\n" + lines.map { "a=\($0)\r\n" }.joined()
  }

  @Test func aTrackIsCalledAsItsMediaStreamOrItsMid() throws {
    let description = try SessionDescription(
      Self.head + Self.medium("video", "mid:0", "msid:anna one")
        + Self.medium("audio", "mid:1", "ssrc:7 cname:x", "ssrc:7 msid:anna two")
        + Self.medium("video", "mid:2", "msid:anna three") + Self.medium("video", "mid:3", "msid:- four")
        + Self.medium("application", "mid:4") + Self.medium("video", "mid:5", "recvonly"))
    #expect(description.tracks.map(\.streamID) == ["anna", "anna", "anna.2", "3", "5"])
    #expect(description.tracks.map(\.isVideo) == [true, false, true, true, true])
    #expect(description.tracks.map(\.isSent) == [true, true, true, true, false])
  }

  @Test(arguments: [
    (["extmap:3 \(SessionDescription.feedbackURI)", "rtcp-fb:96 transport-cc"], 3),
    (["rtcp-fb:* transport-cc", "extmap:14/sendrecv \(SessionDescription.feedbackURI)"], 14),
    (["extmap:3 \(SessionDescription.feedbackURI)", "rtcp-fb:96 nack pli"], nil),
    (["extmap:3 urn:ietf:params:rtp-hdrext:sdes:mid", "rtcp-fb:96 transport-cc"], nil),
    (["extmap:15 \(SessionDescription.feedbackURI)", "rtcp-fb:96 transport-cc"], nil),
    (["extmap:0 \(SessionDescription.feedbackURI)", "rtcp-fb:96 transport-cc"], nil),
    (["extmap:", "extmap:3", "extmap:x \(SessionDescription.feedbackURI)", "rtcp-fb:96 transport-cc"], nil),
  ])
  func aReceiverSaysWhatHasArrivedWhereItHasTheExtensionAndTheFeedback(lines: [String], number: Int?) throws {
    let medium = "m=video 9 UDP/TLS/RTP/SAVPF 96\r\n" + lines.map { "a=\($0)\r\n" }.joined()
    let description = try SessionDescription(Self.head + medium + Self.medium("video"))
    #expect(description.tracks.map(\.feedbackExtension) == [number, nil])
  }

  @Test(arguments: [
    ("", "it does not begin with v=0"), ("hello", "it does not begin with v=0"),
    (head, "it has no medium"),
  ])
  func aDescriptionThatCannotBeUsedIsRefused(text: String, reason: String) {
    #expect(throws: PipSinkError.call(.invalidDescription(reason: reason))) { try SessionDescription(text) }
  }

  @Test func aDescriptionOfTenMegabytesIsRefused() {
    let text = Self.head + String(repeating: "a=x\r\n", count: 2_000_000)
    let reason = "it has \(text.utf8.count) bytes, more than 262144"
    #expect(throws: PipSinkError.call(.invalidDescription(reason: reason))) { try SessionDescription(text) }
  }
}
