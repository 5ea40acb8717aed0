import CGStreamer
import Testing

@testable import PipSink
@testable import TestSupport

/// Pipelines that are written as literals with interpolated values.
@Suite struct PipelineDescriptionTests {
  /// Returns the value of a string property of the element "x", and the number of elements.
  private func parsed(_ description: PipelineDescription, _ property: String) throws -> (value: String?, count: Int) {
    let element = try PipelineParser.parse(description)
    defer { gst_object_unref(element) }
    let source = try #require(gst_bin_get_by_name(element.asBin, "x"))
    defer { gst_object_unref(source) }
    var value = GValue()
    g_object_get_property(UnsafeMutableRawPointer(source).assumingMemoryBound(to: GObject.self), property, &value)
    defer { g_value_unset(&value) }
    return (g_value_get_string(&value).map { String(cString: $0) }, Int(element.asBin.pointee.numchildren))
  }

  @Test(arguments: [
    "/tmp/film.mkv", "/tmp/my film.mkv", "a\" ! fakesink name=\"b", "it's", "a ! b", "back\\slash\\", "\"", "", "NULL",
    "q\"\u{301}", "日本", "line\nfeed", "\"quoted\"",
  ])
  func aValueIsAPartOfItsWordWhateverItHas(value: String) throws {
    let (word, count) = try parsed("filesrc name=x location=\(value) ! fakesink", "location")
    #expect(word == value && count == 2)
    let (part, partCount) = try parsed("filesrc name=x location=\"/tmp/\(value).mkv\" ! fakesink", "location")
    #expect(part == "/tmp/\(value).mkv" && partCount == 2)
  }

  @Test func numbersAndNamesStandInCapsAndForElements() async throws {
    let (format, width, element) = (PixelFormat.nv12.rawValue, 64, "videotestsrc")
    let engine = try VideoEngine(
      "\(element) num-buffers=\(3) ! video/x-raw,format=\(format),width=\(width) ! appsink name=a sync=false")
    let frames = CountingConsumer()
    _ = try await engine.runToEnd { _ in frames }
    #expect(frames.sampleBuffers.map(\.pixelBuffer.pixelFormat) == [.nv12, .nv12, .nv12])
    #expect(frames.sampleBuffers.first?.pixelBuffer.size.width == 64)
  }

  @Test func aPartOfTheDescriptionIsSaidToBeOne() throws {
    let branch = "videotestsrc ! appsink name="
    #expect(try VideoEngine("\(launch: branch)a \(launch: branch)\("b")").streamIDs == ["a", "b"])
  }

  @Test func aValueThatDoesNotFitIsAnErrorThatNamesIt() {
    let evil = "videotestsrc ! fakesink"
    let descriptions: [(PipelineDescription, String)] = [
      ("\(evil) ! appsink name=a", evil), ("videotestsrc ! video/x-raw,\(evil) ! appsink name=a", evil),
      ("videotestsrc ! appsink name=\("a\0b")", "NUL"), ("filesrc \(evil)=1 ! appsink name=a", evil),
    ]
    for (description, named) in descriptions {
      #expect {
        try VideoEngine(description)
      } throws: { error in
        guard case .pipeline(.invalid(let reason))? = error as? PipSinkError else { return false }
        return reason.contains(named)
      }
    }
  }
}
