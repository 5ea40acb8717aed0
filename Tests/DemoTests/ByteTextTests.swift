import CGStreamer
import Testing

@testable import PipSink
@testable import PipSinkCommandLine
@testable import PipSinkDBus
@testable import pipsink_demo

/// Options and arguments are divided by bytes, because a combining mark behind a character would make another
/// `Character` of both.
@Suite struct ByteTextTests {
  private static let mark = "\u{301}"

  @Test func anOptionIsDividedWhateverFollowsItsMark() throws {
    let stream = try #require(StreamOption(argument: "a=\(Self.mark)b=c"))
    #expect(stream.streamID == "a")
    guard case .pipeline(let description) = stream.source, case .text(let text) = description.content else {
      return #expect(Bool(false))
    }
    #expect(text.utf8.elementsEqual("\(Self.mark)b=c".utf8))
    let action = try TimedAction("1=pip:\(Self.mark)a")
    guard case .pictureInPicture(let id) = action.action else { return #expect(Bool(false)) }
    #expect(id.rawValue.utf8.elementsEqual("\(Self.mark)a".utf8))
    let processor = try #require(ProcessorOption(argument: "a=b:\(Self.mark)c"))
    #expect(processor.name == "b" && processor.argument?.utf8.elementsEqual("\(Self.mark)c".utf8) == true)
  }

  @Test(arguments: ["=a", "a=", "=", "", "a"]) func anOptionWithAnEmptyPartIsRefused(text: String) {
    #expect(StreamOption(argument: text) == nil)
    #expect(ProcessorOption(argument: text) == nil)
  }

  @Test(arguments: ["٣x٣", "3x3\u{301}", "3x\u{301}3", "3×3", "", "x", "3x3x3", "320x180,,1x1"])
  func aSizeHasASCIIDigitsOnly(text: String) {
    #expect(PictureSize(argument: text) == nil)
  }

  @Test func aURIIsToldFromAPipelineByItsBytes() {
    for uri in ["http://\u{301}x", "a+b-.1://"] { #expect(StreamSource(uri) == .uri(uri)) }
    for text in ["é://x", "a b://x", "://x", "http:/\u{301}/x", "x\u{301}://y"] {
      #expect(StreamSource(text) == .description(text))
    }
  }

  @Test func aNULDoesNotEndAStringOnTheBus() throws {
    let variant = try #require(
      BusValue.makeTuple([.string("a\0b"), .strings(["\0"]), .dictionary(of: "s", ["\0k": .string("v")])]))
    defer { g_variant_unref(g_variant_ref_sink(variant)) }
    let text = g_variant_print(variant, 0)
    defer { g_free(text) }
    #expect(text.map { String(cString: $0) } == "('a\u{FFFD}b', ['\u{FFFD}'], {'\u{FFFD}k': 'v'})")
  }

  @Test func aStreamIDIsNeitherEmptyNorHasItANUL() throws {
    for id: StreamID in ["", "a\0b"] {
      #expect {
        try VideoEngine().startPlayingStream(id, from: "videotestsrc ! appsink name=a") {
          FrameRouter().input(for: $0)
        }
      } throws: { error in
        if case PipSinkError.system(.invalidArgument("stream", _))? = error as? PipSinkError { true } else { false }
      }
    }
    #expect(throws: PipSinkError.self) {
      try VideoEngine("videotestsrc ! appsink name=\"\" videotestsrc ! appsink name=a")
    }
  }

  /// Swift compares strings in the same manner, by canonical equivalence.
  @Test func streamIDsThatDifferInTheirCodePointsOnlyAreDuplicates() {
    #expect {
      try VideoEngine("videotestsrc ! appsink name=\u{E9} videotestsrc ! appsink name=e\u{301}")
    } throws: { error in
      if case PipSinkError.stream(.duplicate)? = error as? PipSinkError { true } else { false }
    }
  }

  @Test func aServersLinesAreDividedHoweverTheyEnd() {
    #expect(BusMessage.shortDebug("gst.c(1): f ():\r\n/x:\r\nNo such\r\nstream") == "/x: No such stream")
    #expect(BusMessage.shortDebug("gst.c(1): f ():\nNo\u{301}") == "No\u{301}")
  }

  @Test func aServersAddressIsNamedWithoutWhatIsSecret() {
    let address = BusMessage.Address("rtsp://user:secret@example.org:554/door?token=1#x")
    #expect(address?.text == "rtsp://example.org:554/door" && address?.host == "example.org")
    #expect(BusMessage.Address("http://[2001:db8::1]/a")?.text == "http://[2001:db8::1]/a")
    for text in ["file:///tmp/a", "door", "", "http://"] { #expect(BusMessage.Address(text) == nil, "\(text)") }
  }

  @Test func levelsAreDividedByBytes() throws {
    #expect(try LogLevels("a:debug,\u{301}b:info").rules.map(\.pattern) == ["a", "\u{301}b"])
    #expect(try LogLevels("\u{A0}debug\u{2003}").level(of: "x") == .debug)
  }
}
