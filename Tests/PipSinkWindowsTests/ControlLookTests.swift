import Foundation
import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport

/// What the controls of a picture-in-picture window look like, and where they are.
@Suite(.serialized) struct ControlLookTests {
  private static let window = PictureSize(width: 320, height: 180)

  private static func square(_ color: String) -> PictureInPictureControl.Icon {
    .svg("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 4 4'><path d='M0 0h4v4h-4z' fill='\(color)'/></svg>")
  }

  private func face(_ control: PictureInPictureControl) -> String {
    var faces = ControlFaces()
    return switch faces[control] {
    case .icon(let icon): "\(icon)"
    case .image: "image"
    case .text(let text): text
    }
  }

  /// One control over a black window, at its upper left.
  private func picture(
    _ control: PictureInPictureControl, hovered: Bool = false, scale: Double = 1
  ) throws -> BGRAImage {
    var faces = ControlFaces()
    let bars = ControlBars([control], in: Self.window) { faces.width(of: $0, scale: scale) }
    let bar = try #require(bars.bars.first)
    return picture(OverlayDrawing.bar(bar, &faces, hovered: hovered ? control.action : nil, scale: scale))
  }

  /// An image over a black window.
  private func picture(_ image: OverlayImage) -> BGRAImage {
    let overlay = WindowOverlay()
    overlay.set([.init(image: image, origin: (0, 0))])
    let area = PictureRect(x: 0, y: 0, width: image.size.width, height: image.size.height)
    var bytes = [UInt8](repeating: 0, count: area.width * area.height * 4)
    bytes.withUnsafeMutableBufferPointer { bytes in
      guard let base = bytes.baseAddress else { return }
      overlay.draw(on: base, stride: area.width * 4, in: area) { _ in }
    }
    return BGRAImage(size: area.size, opaque: bytes)
  }

  private func isNear(_ pixel: [UInt8], blue: Int, green: Int, red: Int) -> Bool {
    zip(pixel, [blue, green, red]).allSatisfy { abs(Int($0) - $1) <= 3 }
  }

  // MARK: - Faces

  @Test(arguments: [1.0, 2.0])
  func thePictureOfTheAppIsDrawnInItsColours(scale: Double) throws {
    let image = try picture(.init(.custom("vote"), icon: Self.square("#ff8000")), scale: scale)
    #expect(image.size == PictureSize(width: 28, height: 28).scaled(by: scale))
    let (low, high) = (Int(6 * scale), Int(22 * scale))
    for (x, y) in [(low, low), (high - 1, low), (low, high - 1), (high - 1, high - 1)] {
      #expect(isNear(image.pixel(x, y), blue: 0, green: 128, red: 255), "(\(x), \(y)): \(image.pixel(x, y))")
    }
    for (x, y) in [(low - 1, low), (high, low), (low, low - 1), (low, high)] {
      #expect(isNear(image.pixel(x, y), blue: 0, green: 0, red: 0), "(\(x), \(y)): \(image.pixel(x, y))")
    }
  }

  @Test func aSymbolicIconIsDrawnInWhite() throws {
    let folder = try TemporaryFolder()
    for (name, red) in [("a-symbolic.svg", 255), ("a.svg", 46)] {
      let path = folder.path(name)
      guard case .svg(let text) = Self.square("#2e3436") else { continue }
      try text.write(toFile: path, atomically: true, encoding: .utf8)
      let pixel = try picture(.init(.custom("vote"), icon: .named(path))).pixel(14, 14)
      #expect(abs(Int(pixel[2]) - red) <= 3, "\(name): \(pixel)")
    }
  }

  @Test func anIconIsFoundInTheThemeByItsName() throws {
    #expect(face(.init(.custom("a"), icon: .named("camera-photo-symbolic"))) == "image")
    let pixels = try picture(.init(.custom("a"), icon: .named("camera-photo-symbolic")))
    let white = (0..<28).reduce(0) { sum, y in sum + (0..<28).count { pixels.pixel($0, y)[0] > 240 } }
    #expect((30..<250).contains(white), "\(white) pixels of the icon")
  }

  @Test(arguments: [
    PictureInPictureControl.Icon.named("no-such-icon"), .named(""), .named("../../Adwaita/index"),
    .named("/nowhere.svg"), .named("/dev/zero"), .named("/"), .svg(""), .svg("Vote"), .svg("<svg"), .svg("<html/>"),
  ])
  func whatIsNoPictureIsReplacedByTheTextOrPipSinksIcon(icon: PictureInPictureControl.Icon) {
    #expect(face(.init(.custom("vote"), label: "Vote", icon: icon)) == "Vote")
    #expect(face(.init(.custom("vote"), icon: icon)) == "vote")
    #expect(face(.init(.hangUp, label: "Leave", icon: icon)) == "hangUp")
    #expect(throws: PipSinkError.self) { try SVGImage(icon) }
  }

  @Test func aControlWithoutAnIconShowsItsTextInFull() throws {
    let short = try picture(.init(.custom("a"), label: "i"))
    #expect(short.size == PictureSize(width: 28, height: 28))
    let long = try picture(.init(.custom("a"), label: "Skip the introduction"))
    #expect(long.size.width == 120 && long.size.height == 28, "it ends with an ellipsis")
    let vote = try picture(.init(.custom("a"), label: "Vote now"))
    #expect((50..<100).contains(vote.size.width))
    // There is space beside the text, and the text fills what is between.
    let columns = (0..<vote.size.width).filter { x in (0..<28).contains { vote.pixel(x, $0)[0] > 128 } }
    #expect(try (6...8).contains(#require(columns.first)) && (5...8).contains(vote.size.width - #require(columns.last)))
  }

  @Test func theGroundTellsWhatTheIconDoesNot() throws {
    func ground(_ control: PictureInPictureControl, hovered: Bool = false) throws -> [UInt8] {
      try picture(control, hovered: hovered).pixel(14, 2)
    }
    #expect(isNear(try ground(.init(.hangUp)), blue: 0x28, green: 0x1c, red: 0xc0))
    for action in [PictureInPictureAction.raiseHand, .custom("vote")] {
      #expect(isNear(try ground(.init(action, isOn: true)), blue: 0xb4, green: 0x5f, red: 0x1a))
      #expect(isNear(try ground(.init(action, isOn: false)), blue: 0, green: 0, red: 0))
    }
    // These icons have two looks, which those of the app do not.
    #expect(isNear(try ground(.init(.microphone, isOn: true)), blue: 0, green: 0, red: 0))
    let own = PictureInPictureControl(.microphone, icon: Self.square("white"), isOn: true)
    #expect(isNear(try ground(own), blue: 0xb4, green: 0x5f, red: 0x1a))
    #expect(isNear(try ground(.init(.mute), hovered: true), blue: 64, green: 64, red: 64))
  }

  @Test(arguments: PictureInPictureAction.known.filter { $0 != .seek })
  func everyControlHasAnIconThatCanBeSeen(action: PictureInPictureAction) throws {
    var looks: [[UInt8]] = []
    for isOn in [true, false] {
      let image = try picture(.init(action, isOn: isOn))
      let white = (0..<28).reduce(0) { sum, y in
        sum + (0..<28).count { image.pixel($0, y).prefix(3).allSatisfy { $0 > 200 } }
      }
      #expect(white >= 12, "\(action), \(isOn): \(white) white pixels")
      looks.append(image.bytes)
    }
    let hasTwo: Set<PictureInPictureAction> = [
      .playPause, .mute, .captions, .microphone, .camera, .raiseHand, .fullscreen, .clickThrough,
    ]
    #expect((looks[0] != looks[1]) == hasTwo.contains(action))
  }

  // MARK: - The bar for seeking

  private func bar(_ position: Double, of duration: Double = 100, scale: Double = 1) throws -> SeekBar {
    let rectangle = try #require(ControlBars(.player, in: Self.window).seekBar)
    return SeekBar(
      rectangle, PlaybackProgress(position: MediaTime(seconds: position), duration: MediaTime(seconds: duration)),
      scale: scale)
  }

  @Test(arguments: [
    (0, "0:00"), (0.999, "0:00"), (59.5, "0:59"), (60, "1:00"), (754, "12:34"), (3599, "59:59"), (3600, "1:00:00"),
    (36_610, "10:10:10"), (-1, "0:00"), (1e9, "99:59:59"),
  ])
  func timesAreWrittenAsPeopleDo(seconds: Double, text: String) {
    #expect(SeekBar.text(of: MediaTime(seconds: seconds)) == text)
    #expect(SeekBar.text(of: .positiveInfinity) == "0:00")
  }

  @Test func aPlaceOnTheBarIsATime() throws {
    let bar = try bar(0)
    let (start, end) = bar.track
    #expect(start > 20 && end - start > 150 && start + end == 308, "it is in the middle, between the times")
    for (part, seconds) in [(0, 0.0), (0.25, 25), (1, 100), (-2, 0), (3, 100)] {
      #expect(abs(bar.time(atX: 6 + start + (end - start) * part).seconds - seconds) < 1e-6)
    }
  }

  @Test(arguments: [1.0, 2.0])
  func theKnobIsAtTheTimeAndTheTrackIsBrightBeforeIt(scale: Double) throws {
    let bar = try bar(25, scale: scale)
    let (start, end) = bar.track
    let picture = picture(bar.image())
    #expect(picture.size == PictureSize(width: 308, height: 20).scaled(by: scale))
    func row(_ y: Double) -> [UInt8] {
      (0..<picture.size.width).map { picture.pixel($0, Int(y * scale))[0] }
    }
    let (knob, track) = (row(6.5), row(10))
    let white = knob.indices.filter { $0 > Int(start * scale) && $0 < Int(end * scale) && knob[$0] > 200 }
    let middle = Double(try #require(white.first) + #require(white.last) + 1) / 2 / scale
    #expect(abs(middle - (start + (end - start) / 4)) <= 1, "\(middle)")
    #expect(track[Int((start + 2) * scale)] > 240)
    #expect((100...150).contains(track[Int((end - 2) * scale)]))
    // Between two seconds nothing is drawn anew unless the knob is at another pixel.
    #expect(try self.bar(25, scale: scale).look == self.bar(25.1, scale: scale).look)
    #expect(try self.bar(25, scale: scale).look != self.bar(26, scale: scale).look)
  }

  @Test func theBarIsAboveTheControlsAndNotInASmallWindow() {
    let bars = ControlBars(.player, in: Self.window)
    #expect(bars.seekBar == PictureRect(x: 6, y: 124, width: 308, height: 20))
    #expect(bars.action(x: 6, y: 124) == .seek && bars.action(x: 313, y: 143) == .seek)
    for (x, y) in [(5, 130), (100, 123), (100, 144)] { #expect(bars.action(x: x, y: y) == nil) }
    #expect(ControlBars([.init(.seek)], in: Self.window).seekBar?.y == 154)
    #expect(ControlBars(.call, in: Self.window).seekBar == nil)
    for size in [PictureSize(width: 199, height: 180), PictureSize(width: 320, height: 111)] {
      #expect(ControlBars(.player, in: size).seekBar == nil)
    }
  }

  // MARK: - Places

  @Test func controlsOfDifferentWidthsArePressedWhereTheyAre() throws {
    let controls = ["a", "b", "c"].map { PictureInPictureControl(.custom($0)) }
    let bars = ControlBars(controls, in: Self.window) { $0.action == .custom("b") ? 60 : 28 }
    let bar = try #require(bars.bars.first)
    #expect(bar.rectangle == PictureRect(x: 100, y: 146, width: 120, height: 28))
    let found = (99...220).map { bars.action(x: $0, y: 160)?.name ?? "" }
    let expected = [("", 1), ("a", 28), ("", 2), ("b", 60), ("", 2), ("c", 28), ("", 1)]
    #expect(found == expected.flatMap { Array(repeating: $0, count: $1) })
  }

  @Test func inANarrowWindowTheLeastImportantControlsAreMissing() {
    let all: [PictureInPictureControl] =
      .player + .call + [.changeSize, .clickThrough, .custom("a"), .custom("b"), .close].map { .init($0) }
    func names(_ width: Int) -> [[String]] {
      ControlBars(all, in: PictureSize(width: width, height: 90)).bars.map { $0.controls.map(\.action.name) }
    }
    let orders: [[String]] = (40...480).compactMap { width in
      let bars = ControlBars(all, in: PictureSize(width: width, height: 90)).bars
      // No bar leaves the window, and none lies over another one.
      for bar in bars { #expect(bar.rectangle.x >= 0 && bar.rectangle.x + bar.rectangle.width <= width, "\(width)") }
      return bars.first { $0.rectangle.y > 40 }?.controls.map(\.action.name)
    }
    let missing = orders.reversed().reduce(into: [String]()) { missing, names in
      let new = (orders.last ?? []).filter { !names.contains($0) && !missing.contains($0) }
      missing += new
    }
    #expect(
      missing == [
        "changeSize", "clickThrough", "previousStream", "skipBackward", "skipForward", "nextStream", "b", "a",
        "raiseHand", "camera", "captions", "mute", "playPause", "microphone",
      ])
    #expect(orders.last?.count == 15 && orders.first == ["hangUp"])
    #expect(names(320)[1] == ["fullscreen", "changeLayout", "backToApp"])
    #expect(names(110)[1] == ["changeLayout", "backToApp"] && names(80)[1] == ["backToApp"])
  }

  @Test @MainActor func aWindowThatLetsPressesThroughHasOnlyTheButtonThatEndsThat() {
    let controls = OverlayControls {}
    var presentation = PictureInPicturePresentation.plain()
    presentation.controls = .player + [.init(.close), .init(.clickThrough, isOn: true)]
    presentation.isClickThrough = true
    // It can be seen without the pointer, and pressed.
    let parts = controls.parts(presentation, size: Self.window)
    #expect(parts.map(\.opacity) == [1])
    #expect(parts.map(\.rectangle) == [PictureRect(x: 6, y: 6, width: 28, height: 28)])
    #expect(controls.action(x: 6, y: 6) == .clickThrough && controls.action(x: 33, y: 33) == .clickThrough)
    #expect(controls.action(x: 34, y: 20) == nil && controls.action(x: 300, y: 20) == nil)
    presentation.isClickThrough = false
    #expect(controls.parts(presentation, size: Self.window).isEmpty && controls.action(x: 6, y: 6) == nil)
  }
}
