import Foundation
import Testing

@testable import PipSink
@testable import TestSupport

/// The names by which the user knows streams, and the texts that are shown.
@MainActor @Suite struct StreamNameTests {
  private struct Call {
    let display: OffscreenDisplay
    let session: PictureInPictureSession
    let names = Locked<[StreamID]>([])

    @MainActor
    init() throws {
      display = try OffscreenDisplay()
      session = try PictureInPictureSession(display: display)
      session.observeEvents { [names] event in
        if case .nameChanged(let id) = event { names.withLock { $0.append(id) } }
      }
    }

    /// The names in the picture-in-picture window.
    @MainActor var shown: [String]? { display.pictureInPictureWindow.presentation?.places.map(\.participant.name) }
  }

  @Test func aStreamHasItsNameInEveryPlace() throws {
    let call = try Call()
    for id: StreamID in ["a", "b"] { try call.session.addStream(id).consume(try PlainFrame.make([255, 255, 255])) }
    try call.session.setName("Anna", of: "a")
    #expect(call.session.participant(of: "a").name == "Anna" && call.session.participant(of: "b").name == "b")
    #expect(call.display.participants == ["a": Participant(name: "Anna")])
    try call.session.startPictureInPicture("a")
    try call.session.setSecondPictureInPictureStream("b")
    #expect(call.shown == ["Anna", "b"])
    try call.session.setName("Ben", of: "b")
    #expect(call.shown == ["Anna", "Ben"])
    try call.session.setName(nil, of: "a")
    #expect(call.shown == ["a", "Ben"])
    #expect(call.display.participants["a"]?.name == "a")
    #expect(call.names.withLock { $0 } == ["a", "b", "a"])
    try call.session.setName("Ben", of: "b")
    #expect(call.names.withLock(\.count) == 3, "nothing has changed")
    #expect(throws: PipSinkError.stream(.unknown("c", known: ["a", "b"]))) { try call.session.setName("C", of: "c") }
  }

  @Test func aStreamThatComesBackHasItsFirstName() throws {
    let call = try Call()
    for name in ["a", "Anna"] {
      try call.session.addStream("a").consume(try PlainFrame.make([255, 255, 255]))
      #expect(call.session.participant(of: "a").name == "a")
      try call.session.startPictureInPicture("a")
      #expect(call.shown == ["a"], "the name was \(name) before")
      try call.session.setName("Anna", of: "a")
      call.session.stopPictureInPicture()
      try call.session.removeStream("a")
      #expect(call.display.participants.isEmpty)
    }
  }

  @Test func aWindowForOneStreamHasItsName() throws {
    let call = try Call()
    for id: StreamID in ["a", "b"] { try call.session.addStream(id).consume(try PlainFrame.make([255, 255, 255])) }
    try call.session.setName("Ben", of: "b")
    let controller = try call.session.addPictureInPictureWindow(for: "b")
    #expect(controller.presentation.places.map(\.participant.name) == ["Ben"])
  }

  @Test func aNameOfSomebodyElseChangesNoLineAndNoDirectionAndIsNotEndless() throws {
    let call = try Call()
    _ = try call.session.addStream("a")
    try call.session.setName("one\ntwo\u{202E}\u{0}three", of: "a")
    #expect(call.session.participant(of: "a").name == "one two  three")
    try call.session.setName(String(repeating: "e\u{301}", count: 1000), of: "a")
    #expect(call.session.participant(of: "a").name.unicodeScalars.count == 256)
  }

  @Test func theTextsThatAreShownAreThoseOfTheApp() async {
    let placeholders: [StreamPlaceholder] = [
      .waiting, .cameraOff, .audioOnly, .reconnecting, .inPictureInPicture, .ended, .failed("404 {reason}"),
    ]
    #expect(
      placeholders.map(\.text) == [
        "Waiting for video", "Camera is off", "Sound only", "Reconnecting", "In picture-in-picture",
        "The stream has ended", "The stream has failed\n404 {reason}",
      ])
    #expect(ShownTexts.current == ShownTexts())
    // The texts are those of the whole process.
    await #expect(processExitsWith: .success) {
      var texts = ShownTexts()
      texts.waiting = "1"
      texts.cameraOff = "2"
      texts.audioOnly = "7"
      texts.reconnecting = "3"
      texts.inPictureInPicture = "4"
      texts.ended = "5"
      texts.failed = "6: {reason}"
      texts.applicationName = "Telefon"
      ShownTexts.current = texts
      let all: [StreamPlaceholder] = [
        .waiting, .cameraOff, .audioOnly, .reconnecting, .inPictureInPicture, .ended, .failed("404"),
      ]
      #expect(all.map(\.text) == ["1", "2", "7", "3", "4", "5", "6: 404"])
      let audio = try VideoEngine().audioSession
      #expect(audio.streamProperties.applicationName == "Telefon")
      audio.applicationName = "Anruf"
      #expect(audio.streamProperties.applicationName == "Anruf")
    }
  }
}
