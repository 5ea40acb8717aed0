import ArgumentParser
import Testing

@testable import PipSink
@testable import PipSinkCommandLine
@testable import pipsink_demo

/// Tests of how the values of options are parsed.
@Suite struct OptionValueTests {
  @Test func everyActionHasItsWord() {
    let actions: [(String, TimedAction.Action)] = [
      ("normal", .normal), ("snapshot", .snapshot), ("close", .control(.close)),
      ("control:vote", .control(.custom("vote"))),
      ("control:hangUp", .control(.hangUp)), ("background", .background),
      ("foreground", .foreground), ("quit", .quit), ("pause", .session(.togglePause)),
      ("mute", .session(.toggleMute)), ("captions", .session(.toggleCaptions)),
      ("pip:a", .pictureInPicture("a")), ("source:a", .source("a")), ("any", .source(nil)),
      ("second:a", .second("a")), ("single", .second(nil)), ("start:a", .startStream("a")),
      ("stop:a", .stopStream("a")), ("camera-on:a", .camera(.on, "a")), ("camera-off:a", .camera(.off, "a")),
      ("microphone-on:a", .microphone(.on, "a")), ("microphone-off:a:b", .microphone(.off, "a:b")),
      ("connection:a=fair", .connection(.fair, "a")), ("caption:a:b: c", .caption("a", "b: c")),
      ("image:a=/b=c.png", .image("a", "/b=c.png")), ("image:a=", .image("a", "")),
      ("volume:0", .volume(0)), ("volume:1", .volume(1)), ("volume:0.5", .volume(0.5)),
      // An ID may contain the characters that separate the parts of an action.
      ("pip:a:b=c", .pictureInPicture("a:b=c")), ("stop: ", .stopStream(" ")),
    ]
    for (text, action) in actions {
      let timed = try? TimedAction("1.5=\(text)")
      #expect(timed?.action == action && timed?.seconds == 1.5, "\(text)")
    }
  }

  @Test(arguments: [
    "1=", "1=nonsense", "1=pip", "1=pip:", "1=toggle", "1=next", "1=fullscreen", "1=help", "1=normal:a", "1=any:a",
    "quit",
    "=quit", "1quit", "1=volume:", "1=volume:1.1", "1=volume:-0.1", "1=volume:x", "1=Quit", "1=go:a", "-0.1=quit",
    "1=camera:a", "1=camera-off", "1=microphone-off:", "1=image:a", "1=image:", "1=connection:a=bad",
    "1000000001=quit",
  ])
  func whatIsNoActionIsRefused(text: String) {
    #expect(throws: PipSinkError.self) { try TimedAction(text) }
  }

  @Test(arguments: [
    ("1:pip:film", "write it like \"1=pip:film\""), ("0.5:quit", "write it like \"0.5=quit\""),
    ("quit", "write it like \"1=pip:film\""), ("1:process:a=grayscale", "write it like \"1=process:a=grayscale\""),
    ("-1=quit", "the seconds go from 0 to 1000000000"), ("1=pop:film", "there is no action \"pop:film\""),
  ])
  func aRefusedActionSaysWhatIsWrongWithIt(text: String, reason: String) {
    let error = #expect(throws: PipSinkError.self) { try TimedAction(text) }
    #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
  }

  @Test func ofSeveralArgumentsAWholePipelineIsNamed() throws {
    let (anna, ben) = ("videotestsrc ! appsink name=anna", "videotestsrc ! appsink name=ben")
    for arguments in [[anna, ben], ["film.mkv", ben], ["videotestsrc", "!", ben]] {
      let error = #expect(throws: (any Error).self) { try PlayCommand.parse(arguments) }
      let whole = try #require(arguments.first { $0.contains(" ") })
      #expect(PlayCommand.message(for: try #require(error)).contains("\"\(whole)\" is a whole pipeline"))
    }
    // A property may have a pipeline as its value.
    for arguments in [
      [anna], ["videotestsrc", "!", "appsink", "name=anna"],
      ["videotestsrc", "!", "gtkwaylandsink", "filter=identity ! identity"], ["film.mkv", "my holiday!.mkv"],
    ] {
      _ = try PlayCommand.parse(arguments)
    }
  }

  @Test func actionsComeByTheirTimesAndElseAsTheyAreGiven() {
    let actions = ["2=quit", "0.5=pip:a", "1=mute", "0.5=normal", "10=pause", "0.5=snapshot"].compactMap {
      try? TimedAction($0)
    }
    #expect(
      TimedAction.inOrder(actions).map(\.action) == [
        .pictureInPicture("a"), .normal, .snapshot, .session(.toggleMute), .quit, .session(.togglePause),
      ])
  }

  @Test func aRangeHasItsEnds() throws {
    #expect(try TimedAction("0=quit").seconds == 0)
    #expect(try TimedAction("1000000000=quit").seconds == 1_000_000_000)
    for number in [0.001, 1_000_000_000] { try OptionRange.duration.check(number, "--duration") }
    for number in [0.1, 3600] { try OptionRange.stopTimeout.check(number, "--stop-timeout") }
    for number in [0, 1_000_000_000] { try OptionRange.retries.check(number, "--retries") }
    for number in [0.0009, 1_000_000_001, .nan, .infinity, -1] {
      #expect(throws: ValidationError.self) { try OptionRange.duration.check(number, "--duration") }
    }
    for number in [0.09, 3600.1] {
      #expect(throws: ValidationError.self) { try OptionRange.stopTimeout.check(number, "--stop-timeout") }
    }
    for number in [-1, 1_000_000_001] {
      #expect(throws: ValidationError.self) { try OptionRange.retries.check(number, "--retries") }
    }
  }

  @Test func aRangesErrorNamesTheOptionTheRangeAndTheNumber() {
    #expect {
      try OptionRange.duration.check(2e9, "--duration")
    } throws: {
      "\($0)".contains("--duration takes 0.001 to 1000000000 seconds, not 2000000000.")
    }
    #expect {
      try OptionRange.retries.check(-1, "--retries")
    } throws: {
      "\($0)".contains("--retries takes 0 to 1000000000 retries, not -1.")
    }
  }

  @Test func aSizeIsWidthTimesHeight() {
    #expect(PictureSize(argument: "640x360") == PictureSize(width: 640, height: 360))
    #expect(PictureSize(argument: "1x1") != nil && PictureSize(argument: "32767x32767") != nil)
    for text in ["0x1", "1x0", "32768x1", "1x32768", "640", "640x", "x360", "640x360x2"] {
      #expect(PictureSize(argument: text) == nil, "\(text)")
    }
  }

  @Test func everyStreamThatAnOptionNamesIsWanted() throws {
    let command = try #require(
      PipSinkDemo.parseAsRoot([
        "play", "x", "--pip-stream", "a", "--process", "b=grayscale", "--local", "c", "--screen-share", "h",
        "--pip-exclude", "i", "--at",
        "1=pip:d", "--at",
        "1=source:e", "--at", "1=any", "--at", "1=start:f", "--at", "1=stop:g", "--at", "1=volume:1", "--at", "1=quit",
      ]) as? PlayCommand)
    #expect(command.wantedStreams == ["a", "b", "c", "h", "i", "d", "e", "f", "g"])
  }

  @Test func anArrowIsOneKeyOnTheTerminal() {
    #expect(TerminalKeys.keys(in: Array("pn".utf8)) == ["p", "n"])
    #expect(TerminalKeys.keys(in: Array("\u{1B}[A".utf8)) == ["\u{1B}"])
    #expect(TerminalKeys.keys(in: Array("\u{1B}".utf8)) == ["\u{1B}"])
    #expect(TerminalKeys.keys(in: Array("m\u{1B}[15~".utf8)) == ["m", "\u{1B}"])
  }

  @Test func aKeyOfTheProgramIsNoKeyOfASession() {
    let keys = TimedAction.keys.map(\.key)
    #expect(Set(keys).count == keys.count)
  }

  @Test func keysMeanWhatTheHelpSays() {
    let keys: [(Character, TimedAction.Action?)] = [
      ("p", .session(.togglePictureInPicture)), ("n", .session(.nextStream)), ("s", .snapshot),
      (" ", .session(.togglePause)), ("m", .session(.toggleMute)), ("f", .session(.toggleFullscreen)), ("?", .help),
      ("q", .quit), ("P", nil), ("x", nil),
    ]
    for (key, action) in keys {
      #expect(TimedAction.Action(key: key) == action, "\(key)")
      guard action != nil else { continue }
      #expect(
        TimedAction.help.split(separator: "\n").contains { $0.hasPrefix(key == " " ? "space " : "\(key) ") }, "\(key)")
    }
  }
}
