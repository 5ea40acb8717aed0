import Foundation
import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport

/// The names of streams, and an app's own texts, in windows on X11.
@Suite(.enabled(if: XServer.isInstalled, "Xvfb, openbox or the X tools are not installed"))
struct StreamNameWindowTests {
  @Test func theTitlesOfWindowsHaveTheNamesOfStreamsAndTheWordsOfTheApp() async throws {
    let server = try await XServer()
    await #expect(processExitsWith: .success) { [environment = server.environment as [String: String]] in
      for (name, value) in environment { setenv(name, value, 1) }
      try await TranslatedCall.run(environment)
    }
    server.stop()
  }

  @Test func aNameIsAsWideAsItsTextAndNoWiderThanItsPicture() {
    let (short, long) = ("Anna", String(repeating: "Anna ", count: 50))
    for scale in [1.0, 2] {
      let width = OverlayDrawing.name(short, width: 1000, scale: scale).size.width
      #expect((20...100).contains(Int(Double(width) / scale)))
      #expect(OverlayDrawing.name(short, width: 2000, scale: scale).size.width == width)
      #expect(OverlayDrawing.name(long, width: 200, scale: scale).size.width <= 200)
      #expect(OverlayDrawing.name(long, width: 4000, scale: scale).size.width > 1000)
    }
    #expect(OverlayDrawing.name(long, width: 1, scale: 1).size.isValid)
  }

  @Test @MainActor func aViewShowsItsNameWhichMayBeEmpty() {
    let view = RemoteVideoView(streamID: "a")
    view.placeholder = nil
    view.rectangle = PictureRect(x: 0, y: 0, width: 200, height: 100)
    func width() -> Int? { view.overlayParts(scale: 1, isAmongOthers: false).first?.rectangle.width }
    let first = width()
    view.participant.name = "Anna"
    #expect(width() == OverlayDrawing.name("Anna", width: 200, scale: 1).size.width)
    #expect(width() != first)
    view.participant.name = ""
    #expect(width() == nil)
  }
}

/// A session of an app with texts of its own. A failure in this process is a failure of the test.
private enum TranslatedCall {
  @MainActor
  static func run(_ environment: [String: String]) async throws {
    var texts = ShownTexts()
    texts.applicationName = "Telefon"
    texts.pictureInPictureTitle = "Bild im Bild"
    ShownTexts.current = texts
    let display = try WindowDisplay(size: PictureSize(width: 320, height: 180))
    let session = try PictureInPictureSession(display: display)
    try session.addStream("a").consume(try PlainFrame.make([255, 255, 255]))
    try session.setName("Anna", of: "a")
    try await session.start()
    try session.startPictureInPicture("a")
    #expect(display.title == "Telefon")
    #expect(display.views["a"]?.participant.name == "Anna")
    /// The title and the icon name of each window.
    func titles() async throws -> String {
      let tree = try RunningProgram("/usr/bin/xwininfo", ["-root", "-tree"], environment: environment)
      var titles = ""
      for id in try await tree.result(seconds: 30).output.matches(of: /(0x[0-9a-f]+) "(?:Telefon|Bild im Bild)"/) {
        let window = try RunningProgram(
          "/usr/bin/xprop", ["-id", String(id.1), "-notype", "_NET_WM_NAME", "_NET_WM_ICON_NAME"],
          environment: environment)
        titles += try await window.result(seconds: 30).output
      }
      return titles
    }
    func has(_ properties: String...) async throws -> Bool {
      let titles = try await titles()
      return properties.allSatisfy(titles.contains)
    }
    #expect(
      try await eventually {
        try await has(
          "_NET_WM_NAME = \"Telefon\"", "_NET_WM_NAME = \"Bild im Bild\"",
          "_NET_WM_ICON_NAME = \"Bild im Bild: Anna\"")
      })
    try session.setName("Anna B.", of: "a")
    #expect(try await eventually { try await has("_NET_WM_ICON_NAME = \"Bild im Bild: Anna B.\"") })
    await session.invalidate()
  }
}
