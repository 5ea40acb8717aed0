import Foundation
import Testing

@testable import PipSink
@testable import TestSupport

/// Texts of a pipeline that are captions of its streams.
@MainActor @Suite(.timeLimit(.minutes(2))) struct CaptionSinkTests {
  nonisolated private static let video = "videotestsrc is-live=true ! video/x-raw,width=64,height=36 ! appsink name="

  @Test func subtitlesOfAFileAreCaptionsForTheirTime() async throws {
    let folder = try TemporaryFolder()
    let subtitles = """
      1
      00:00:00,100 --> 00:00:00,400
      <i>Tom</i> & Jerry <3

      2
      00:00:00,500 --> 00:00:00,700
      صباح الخير
      早上好

      """
    try subtitles.write(toFile: folder.path("film.srt"), atomically: true, encoding: .utf8)
    let clock = ManualClock()
    let display = try LayerDisplay(pictureInPictureHost: OffscreenPictureInPictureWindow())
    let file = "filesrc location=\(folder.path("film.srt")) ! subparse ! appsink name=text caps=text/x-raw"
    let session = try PictureInPictureSession(
      VideoEngine(.text(Self.video + "film " + file), clock: clock.clock), display, .init())
    var captions: [String] = []
    display.participantChanged = { _, participant in
      if participant.caption != captions.last ?? "" { captions.append(participant.caption) }
    }
    try await session.start()
    // The time of the first one is not over by this clock when the second one comes.
    #expect(await eventually { captions == ["Tom & Jerry <3", "صباح الخير\n早上好"] })
    #expect(await clock.reach(0.2))
    #expect(await eventually { captions.last == "" })
    #expect(captions.count == 3)
    await session.stop()
  }

  /// - Parameter embedded: the text in the film; nil for a film without any.
  private func makeFilm(_ path: String, embedded: String?) async throws {
    let text = try TemporaryFolder()
    try "1\n00:00:00,000 --> 00:10:00,000\n\(embedded ?? "")\n\n".write(
      toFile: text.path("text.srt"), atomically: true, encoding: .utf8)
    let subtitles = "filesrc location=\(text.path("text.srt")) ! subparse ! text/x-raw,format=utf8 ! muxer. "
    let pipeline =
      "matroskamux name=muxer ! filesink location='\(path)' " + (embedded == nil ? "" : subtitles)
      + "videotestsrc num-buffers=15 ! video/x-raw,width=64,height=36 ! jpegenc ! muxer."
    let program = try RunningProgram("/bin/sh", ["-c", "gst-launch-1.0 -q \(pipeline)"])
    let result = try await program.result(seconds: 30)
    try #require(result.status == 0, "\(result.errors)")
  }

  @Test(
    arguments: [
      (embedded: nil, beside: nil, shown: ""), ("in it", nil, "in it"), (nil, "beside it", "beside it"),
      ("in it", "beside it", "beside it"),
    ] as [(embedded: String?, beside: String?, shown: String)])
  func aFilmIsPlayedWithItsSubtitles(embedded: String?, beside: String?, shown: String) async throws {
    let folder = try TemporaryFolder()
    // A URI has other characters for some of these.
    let name = "a film, #1"
    try await makeFilm(folder.path("\(name).mkv"), embedded: embedded)
    if let beside {
      try "WEBVTT\n\n00:00.000 --> 10:00.000\n\(beside)\n".write(
        toFile: folder.path("\(name).vtt"), atomically: true, encoding: .utf8)
    }
    let display = try OffscreenDisplay()
    let session = try PictureInPictureSession(VideoEngine(), display, .init())
    try await session.start()
    try session.startStream("film", uri: folder.url.appendingPathComponent("\(name).mkv").absoluteString)
    if shown.isEmpty {
      #expect(await eventually { session.engine.info(of: "film")?.state == .ended })
      #expect(display.participants["film"]?.caption ?? "" == "")
    } else {
      #expect(await eventually { display.participants["film"]?.caption == shown })
      #expect(await eventually { session.engine.info(of: "film")?.state == .ended }, "the end came, too")
    }
    await session.stop()
  }

  @Test func aFilmIsPlayedBesideAFileThatHasNoSubtitles() async throws {
    let folder = try TemporaryFolder()
    try await makeFilm(folder.path("film.mkv"), embedded: nil)
    try "These are no subtitles.\n".write(toFile: folder.path("film.srt"), atomically: true, encoding: .utf8)
    let session = try PictureInPictureSession(VideoEngine(), OffscreenDisplay(), .init())
    let warnings = Locked<[String]>([])
    session.observeEvents { event in
      if case .engine(.warning(let element, _, _)) = event { warnings.withLock { $0.append(element) } }
    }
    try await session.start()
    try session.startStream("film", uri: folder.url.appendingPathComponent("film.mkv").absoluteString)
    #expect(await eventually { session.engine.info(of: "film")?.state == .ended })
    // A busy machine drops late frames.
    #expect(try #require(session.router.renderStatistics(of: "film")).received > 0)
    #expect(await eventually { warnings.withLock { $0.contains { $0.contains("subparse") } } })
    await session.stop()
  }

  @Test func captionsAreHiddenUntilTheyAreWantedAgain() async throws {
    let display = try OffscreenDisplay()
    let session = try PictureInPictureSession(.text(Self.video + "a"), display: display)
    try await session.start()
    #expect(await eventually { session.engine.info(of: "a")?.state == .playing })
    try session.startPictureInPicture()
    #expect(await eventually { session.controller.isActive })
    #expect(!session.controller.offers(.captions), "there are none yet")
    try session.setCaption("Hello", for: "a")
    #expect(session.controller.offers(.captions))
    session.controller.perform(.captions)
    #expect(await eventually { !session.showsCaptions })
    #expect(display.participants["a"]?.caption == "" && session.controller.participants["a"]?.caption == "")
    // What is said meanwhile is seen when it is wanted again.
    try session.setCaption("Good-bye", for: "a")
    #expect(display.participants["a"]?.caption == "")
    try session.perform(.toggleCaptions)
    #expect(display.participants["a"]?.caption == "Good-bye")
    #expect(session.controller.participants["a"]?.caption == "Good-bye")
    await session.stop()
  }

  @Test func aTextBelongsToTheStreamWhoseNameItsAppsinkHas() async throws {
    let folder = try TemporaryFolder()
    try "1\n00:00:00,000 --> 00:10:00,000\nHello\n\n".write(
      toFile: folder.path("film.srt"), atomically: true, encoding: .utf8)
    let display = try OffscreenDisplay()
    let session = try PictureInPictureSession(
      .text(
        Self.video + "a " + Self.video
          + "b filesrc location=\(folder.path("film.srt")) ! subparse ! appsink name=b-text caps=text/x-raw"),
      display: display)
    #expect(session.engine.streamIDs == ["a", "b"])
    try await session.start()
    #expect(await eventually { display.participants["b"]?.caption == "Hello" })
    #expect(display.participants["a"]?.caption ?? "" == "")
    // The app's own text replaces it, and stays.
    try session.setCaption("Bye", for: "b")
    #expect(session.known["b"]?.captionEnd == nil && display.participants["b"]?.caption == "Bye")
    await session.stop()
  }

  @Test(arguments: [
    "\(video)a \(video)b appsrc ! appsink name=text caps=text/x-raw", "appsrc ! appsink name=text caps=text/x-raw",
  ])
  func aTextThatBelongsToNoStreamIsRefused(pipeline: String) throws {
    #expect {
      try VideoEngine(.text(pipeline))
    } throws: { error in
      guard case PipSinkError.stream(.unsupportedCaps("text", let caps))? = error as? PipSinkError else { return false }
      return caps.contains("text/x-raw")
    }
  }

  @Test func anAppsinkForTextThatIsNotLinkedIsNamed() throws {
    #expect(throws: PipSinkError.pipeline(.unlinkedStream("a-text"))) {
      try VideoEngine(.text("\(Self.video)a appsink name=a-text caps=text/x-raw"))
    }
  }

  /// The film stands still, and so does its caption.
  @Test func aCaptionStaysWhilePlaybackIsPaused() async throws {
    let clock = ManualClock()
    let display = try OffscreenDisplay()
    let session = try PictureInPictureSession(VideoEngine(clock: clock.clock), display, .init())
    _ = try session.addStream("a")
    session.show(caption: "Hello", for: .seconds(2), over: "a")
    #expect(await clock.isAwaited(in: 2))
    session.isPaused = true
    clock.advance(by: 10)
    // It looks again after half a second.
    #expect(await clock.isAwaited(in: 0.5))
    #expect(display.participants["a"]?.caption == "Hello")
    session.isPaused = false
    clock.advance(by: 0.5)
    #expect(await eventually { display.participants["a"]?.caption == "" })
    #expect(session.participantWatch == nil)
  }

  @Test(arguments: [
    ("", ""), ("plain", "plain"), ("<b>bold</b>", "bold"), ("a<br/>b", "ab"), ("<span font=\"Sans\">x</span> y", "x y"),
    ("&amp;lt;", "&lt;"), ("&#39;&#x27;&apos;", "'''"), ("Tom & Jerry; friends", "Tom & Jerry; friends"),
    ("&#0;&#xD800;", "&#0;&#xD800;"), ("1 < 2", "1 < 2"), ("&", "&"), ("<i>open", "open"), ("&&amp;", "&&"),
    (String(repeating: "&", count: 4000) + ";", String(repeating: "&", count: 4000) + ";"),
  ])
  func aMarkupsTextIsWhatItShows(markup: String, text: String) {
    #expect(CaptionSink.plainText(ofMarkup: markup) == text)
  }
}
