import Foundation
import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport

/// What is drawn over the picture of a place.
@Suite(.serialized) struct PlaceSignsTests {
  private static let area = PictureRect(x: 100, y: 50, width: 320, height: 180)

  private func signs(_ change: (inout PlaceSigns) -> Void) -> PlaceSigns {
    var signs = PlaceSigns(rectangle: Self.area, participant: Participant(name: ""))
    change(&signs)
    return signs
  }

  private func parts(scale: Double = 1, _ change: (inout PlaceSigns) -> Void) -> [WindowOverlay.Part] {
    var images = LabelImages()
    return signs(change).parts(&images, scale: scale)
  }

  /// The picture with the signs, on mid-gray.
  private func picture(scale: Double = 1, _ change: (inout PlaceSigns) -> Void) -> BGRAImage {
    let overlay = WindowOverlay()
    overlay.set(parts(scale: scale, change))
    let area = signs(change).rectangle
    var bytes = [UInt8](repeating: 128, count: area.width * area.height * 4)
    bytes.withUnsafeMutableBufferPointer { bytes in
      guard let base = bytes.baseAddress else { return }
      overlay.draw(on: base, stride: area.width * 4, in: area) { _ in }
    }
    return BGRAImage(size: area.size, opaque: bytes)
  }

  private func rectangles(scale: Double = 1, _ change: (inout PlaceSigns) -> Void) -> [PictureRect] {
    parts(scale: scale, change).map(\.rectangle)
  }

  // MARK: - Ring

  @Test(arguments: [1.0, 2.0])
  func theRingIsAlongTheEdgesAndNowhereElse(scale: Double) {
    let width = Int(3 * scale)
    let image = picture(scale: scale) {
      $0.participant.isSpeaking = true
      $0.marksSpeakers = true
    }
    let ring = [89, 199, 52, 255].map(UInt8.init)
    for y in stride(from: 0, to: 180, by: 1) {
      for x in stride(from: 0, to: 320, by: 1) {
        let isInside = (width..<320 - width).contains(x) && (width..<180 - width).contains(y)
        guard image.pixel(x, y) == (isInside ? [128, 128, 128, 255] : ring) else {
          Issue.record("(\(x), \(y)): \(image.pixel(x, y))")
          return
        }
      }
    }
  }

  @Test func onlyWhoeverSpeaksAmongOthersHasARing() {
    #expect(rectangles { $0.participant.isSpeaking = true }.isEmpty, "nobody else is there")
    #expect(rectangles { $0.marksSpeakers = true }.isEmpty, "nobody speaks")
    let small = rectangles {
      $0.rectangle = PictureRect(x: 0, y: 0, width: 6, height: 6)
      $0.participant.isSpeaking = true
      $0.marksSpeakers = true
    }
    #expect(small.isEmpty, "the ring would hide the picture")
  }

  // MARK: - Marks

  @Test func marksStandSideBySideInTheLowerRightCorner() {
    let (right, bottom, side) = (420, 230, 24)
    let first = PictureRect(x: right - side, y: bottom - side, width: side, height: side)
    let second = PictureRect(x: right - 2 * side, y: bottom - side, width: side, height: side)
    #expect(rectangles { $0.participant.isMicrophoneOff = true } == [first])
    for (quality, marks) in [
      (ConnectionQuality.unknown, []), (.good, []), (.fair, [first]), (.poor, [first]),
    ] {
      #expect(rectangles { $0.participant.connectionQuality = quality } == marks, "\(quality)")
    }
    let both = { (signs: inout PlaceSigns) in
      signs.participant.isMicrophoneOff = true
      signs.participant.connectionQuality = .poor
    }
    #expect(rectangles(both) == [first, second])
    // Where a small picture is in that corner, the marks are in the other one.
    let other = rectangles {
      both(&$0)
      $0.isCornerCovered = true
    }
    #expect(other.map(\.x) == [100 + side, 100])
  }

  @Test func theWorseTheConnectionIsTheFewerBarsAreColoured() {
    /// How many pixels have a colour, and not a shade of gray.
    func coloured(_ quality: ConnectionQuality) -> Int {
      let image = picture { $0.participant.connectionQuality = quality }
      return (0..<320 * 180).count { pixel in
        let colors = image.bytes[pixel * 4..<pixel * 4 + 3]
        return (colors.max() ?? 0) - (colors.min() ?? 0) > 60
      }
    }
    // The bars are 4 units wide, and 4 and 8 units high.
    #expect(coloured(.good) == 0)
    #expect(coloured(.poor) == 4 * 4)
    #expect(coloured(.fair) == 4 * 4 + 4 * 8)
  }

  // MARK: - Covers

  /// WCAG 2.2: https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio
  @Test func whiteInitialsCanBeReadOnEveryColour() {
    func linear(_ value: Double) -> Double { value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4) }
    for hue in 0..<360 {
      let color = Portrait.discColor(hue: Double(hue) / 360)
      let luminance = 0.2126 * linear(color.red) + 0.7152 * linear(color.green) + 0.0722 * linear(color.blue)
      #expect(1.05 / (luminance + 0.05) >= 4.5, "hue \(hue): \(color)")
    }
    let red = Portrait.discColor(hue: 0)
    #expect(red.red > 2.9 * red.green && red.green == red.blue, "\(red)")
  }

  @Test(arguments: [StreamPlaceholder.cameraOff, .audioOnly])
  func somebodyWithoutAPictureHasADiscInTheirColour(placeholder: StreamPlaceholder) {
    let participant = Participant(name: "Anna Berg")
    let image = picture {
      $0.participant = participant
      $0.cover = .init(placeholder)
    }
    let (red, green, blue) = Portrait.discColor(hue: participant.hue)
    let disc = [blue, green, red].map { UInt8(($0 * 255).rounded()) }
    let places = (0..<320 * 180).filter { pixel in
      zip(image.bytes[pixel * 4..<pixel * 4 + 3], disc).allSatisfy { abs(Int($0) - Int($1)) <= 1 }
    }
    let (columns, rows) = (places.map { $0 % 320 }, places.map { $0 / 320 })
    // The disc's diameter is 0.4 of the height. At its rim, the colours are mixed. The initials are on it.
    #expect(abs((columns.max() ?? 0) - (columns.min() ?? 0) - 70) <= 2)
    #expect(abs((rows.max() ?? 0) - (rows.min() ?? 0) - 70) <= 2)
    #expect(abs((columns.max() ?? 0) + (columns.min() ?? 0) - 320) <= 2, "it is in the middle")
    #expect(Double(places.count) > 0.6 * .pi * 36 * 36)
  }

  /// An image whose left half is blue, and whose right half is red.
  private static func twoHalves(width: Int, height: Int, alpha: UInt8 = 255) -> BGRAImage {
    let row: [[UInt8]] = (0..<width).map { $0 < width / 2 ? [255, 0, 0, alpha] : [0, 0, 255, alpha] }
    let rows = [[UInt8]](repeating: row.flatMap(\.self), count: height)
    return BGRAImage(size: PictureSize(width: width, height: height), bytes: rows.flatMap(\.self))
  }

  @Test(arguments: [(72, 72), (720, 72), (72, 720), (2000, 1000), (4, 2)])
  func anImageStandsForItsPersonOnTheDisc(width: Int, height: Int) {
    let image = picture {
      $0.participant = Participant(name: "Anna Berg")
      $0.participant.image = Self.twoHalves(width: width, height: height)
      $0.cover = .init(.cameraOff)
    }
    func places(of color: [UInt8]) -> [Int] {
      (0..<320 * 180).filter { Array(image.bytes[$0 * 4..<$0 * 4 + 3]) == color }
    }
    let (blue, red) = (places(of: [255, 0, 0]), places(of: [0, 0, 255]))
    guard let first = (blue + red).min(), let last = (blue + red).max() else {
      Issue.record("neither colour is there")
      return
    }
    // The disc's diameter is 0.4 of the height. The image fills it, and nothing of it is outside.
    #expect(blue.allSatisfy { (160 - 36..<160).contains($0 % 320) })
    #expect(red.allSatisfy { (160..<160 + 36).contains($0 % 320) })
    #expect(abs(blue.count - red.count) < 100)
    // Where the halves meet, a small image that becomes larger has a soft edge: half of its four columns are seen.
    #expect(Double(blue.count + red.count) > (width >= 72 ? 0.9 : 0.35) * .pi * 36 * 36)
    #expect(abs(last / 320 - first / 320 - (width >= 72 ? 70 : 60)) <= 2)
    let center = (first / 320 + last / 320) / 2
    #expect(image.pixel(160 - 36, center - 34) == image.pixel(2, 2), "the corners are not of the disc")
  }

  @Test func anImageWithTransparencyLetsThePersonsColourThrough() {
    let participant = Participant(name: "Anna Berg")
    let (red, green, blue) = Portrait.discColor(hue: participant.hue)
    let center = { (alpha: UInt8) in
      picture {
        $0.participant = participant
        $0.participant.image = Self.twoHalves(width: 80, height: 80, alpha: alpha)
        $0.cover = .init(.cameraOff)
      }.pixel(140, 75)
    }
    for (alpha, share) in [(UInt8(0), 0.0), (128, 128 / 255.0), (255, 1)] {
      let expected = [255 * share + blue * 255 * (1 - share), green * 255 * (1 - share), red * 255 * (1 - share)]
      #expect(
        zip(center(alpha), expected).allSatisfy { abs(Double($0) - $1) <= 2 }, "\(alpha): \(center(alpha)) \(expected)")
    }
  }

  @Test func somebodyWithoutANameMayHaveAnImage() {
    var nobody = Participant(name: "")
    #expect(Portrait(nobody) == nil)
    nobody.image = Self.twoHalves(width: 2, height: 2)
    #expect(Portrait(nobody) != nil)
  }

  @Test(arguments: [
    StreamPlaceholder.waiting, .reconnecting, .inPictureInPicture, .ended, .failed("no server"),
  ])
  func aPictureThatIsMissingForAnotherReasonHasNoInitials(placeholder: StreamPlaceholder) {
    #expect(!PlaceSigns.Cover(placeholder).hasPortrait)
  }

  @Test func initialsStayWhereThereIsNoRoomForTheText() throws {
    func cover(_ height: Int, _ name: String) throws -> PictureSize {
      let parts = parts {
        $0.rectangle = PictureRect(x: 0, y: 0, width: 160, height: height)
        $0.participant.name = name
        $0.showsName = false
        $0.cover = .init(.cameraOff)
      }
      #expect(parts.count == 2 && parts[0].rectangle.height == height)
      return parts[1].rectangle.size
    }
    let text = try cover(180, "").height
    #expect(try cover(160, "Anna").height == 64 + 8 + text)
    #expect(try cover(30, "Anna").height == 18, "the disc alone")
    #expect(try cover(30, "").height == text, "nobody knows the name")
  }

  // MARK: - Captions

  /// Latin, with a line that has to be broken; Arabic, which runs from right to left and whose letters join; Chinese,
  /// which has no spaces.
  private static let captions = [
    "Good morning, everybody!\nThis line is so long that it does not fit in the picture, and it has to be broken.",
    "صباح الخير يا أصدقائي", "早上好，今天的天气很好，我们一起出去散步吧。",
  ]

  @Test(arguments: captions)
  func aCaptionIsThePictureThatPangoDraws(text: String) async throws {
    // Here the font has 27 units, and a caption's ground is 32, since a quarter of mid-gray is left.
    let (size, fontSize, ground) = (PictureSize(width: 640, height: 360), 27.0, UInt8(32))
    let picture = picture {
      $0.rectangle = PictureRect(x: 0, y: 0, width: size.width, height: size.height)
      $0.participant.caption = text
    }
    let place = try #require(
      rectangles {
        $0.rectangle = PictureRect(x: 0, y: 0, width: size.width, height: size.height)
        $0.participant.caption = text
      }.last)
    // It is in the middle, above the marks.
    #expect(abs(2 * place.x + place.width - 640) <= 1 && place.y + place.height == 360 - 24)
    #expect(place.width <= 576 && place.height <= 360 / 3 + 10)
    let folder = try TemporaryFolder()
    let width = 640 * 0.9 - 2 * (fontSize * 0.4).rounded()
    let view = try RunningProgram(
      "/usr/bin/pango-view",
      [
        "--text", text, "--font", "Sans \(Int(fontSize))px", "--dpi", "72", "--width", "\(Int(width))",
        "--wrap", "word-char", "--align", "center", "--margin", "0", "--foreground", "white", "--background", "#202020",
        "--no-display",
        "--output", folder.path("text.png"),
      ])
    #expect(try await view.result(seconds: 60).status == 0)
    let expected = try await PictureFile.decoded(folder.path("text.png"))
    // Where in the picture the text fits best. Pango's own picture is as wide as the line may be.
    var best = 0.0
    let x = (640 - expected.size.width) / 2
    for left in x - 2...x + 2 {
      for top in place.y...place.y + 10 where top + expected.size.height <= size.height {
        // Only the caption is compared, and not what is beside it.
        let start = max(place.x + 8, left)
        let width = min(place.x + place.width - 8, left + expected.size.width) - start
        let shown = picture.cropped(x: start, y: top, width: width, height: expected.size.height)
        let theirs = expected.cropped(x: start - left, y: 0, width: width, height: expected.size.height)
        best = max(best, Oracle.psnr(shown.bytes, theirs.bytes))
      }
    }
    #expect(best > 30, "\(best) dB")
    let isWhite = expected.bytes.contains { $0 > 250 }
    #expect(isWhite && picture.bytes.contains { $0 > 250 })
    #expect(picture.pixel(place.x + place.width / 2, place.y + 1).prefix(3).allSatisfy { $0 == ground })
  }

  @Test(arguments: [(nil, 360 - 24), (290, 290), (350, 360 - 24)] as [(Int?, Int)])
  func aCaptionEndsAboveTheControls(top: Int?, end: Int) throws {
    let place = try #require(
      rectangles {
        $0.rectangle = PictureRect(x: 0, y: 0, width: 640, height: 360)
        $0.participant.caption = "Good morning"
        $0.controlsTop = top
      }.last)
    #expect(place.y + place.height == end)
  }

  @Test func textsAreAsLargeAsTheUserWantsThem() throws {
    func rectangles(_ textScale: Double, _ change: (inout PlaceSigns) -> Void) -> [PictureRect] {
      var images = LabelImages()
      images.look.textScale = textScale
      let signs = signs {
        $0.rectangle = PictureRect(x: 0, y: 0, width: 640, height: 360)
        change(&$0)
      }
      return signs.parts(&images, scale: 1).map(\.rectangle)
    }
    func isTwice(_ large: PictureRect, _ usual: PictureRect) -> Bool { abs(large.height - 2 * usual.height) <= 4 }
    let texts = { (signs: inout PlaceSigns) in
      signs.participant = Participant(name: "Anna")
      signs.participant.isMicrophoneOff = true
      signs.participant.caption = "Good morning"
    }
    let (usual, large) = (rectangles(1, texts), rectangles(2, texts))
    try #require(usual.count == 3 && large.count == 3)
    for (large, usual) in zip(large, usual) { #expect(isTwice(large, usual), "\(large), \(usual)") }
    let bottom = { (places: [PictureRect]) in places.map { $0.y + $0.height } }
    // The caption ends above the name and the mark, which stay in their corners.
    #expect(bottom(usual) == [360, 360, 360 - 24] && bottom(large) == [360, 360, 360 - 48])
    #expect(large[0].x == 0 && large[1].x + large[1].width == 640)
    let covers = [1.0, 2].map { rectangles($0) { $0.cover = .init(.waiting) } }
    #expect(covers[0][0] == covers[1][0], "the ground covers the picture as before")
    #expect(isTwice(covers[1][1], covers[0][1]))
  }

  @Test func nothingIsSeenThroughTheGroundOfACaptionAndOfControlsWhereTheUserWantsAHighContrast() throws {
    var images = LabelImages()
    images.look.hasHighContrast = true
    let caption = images[.caption("Hello", PictureSize(width: 640, height: 360), CaptionStyle()), 1]
    var faces = ControlFaces()
    let bars = ControlBars([PictureInPictureControl(.mute)], in: PictureSize(width: 320, height: 180)).bars
    let bar = OverlayDrawing.bar(
      try #require(bars.first), &faces, hovered: nil, ground: images.look.controlsGround, scale: 1)
    for image in [caption, bar] {
      let overlay = WindowOverlay()
      overlay.set([.init(image: image, origin: (0, 0))])
      let size = image.size
      var bytes = [UInt8](repeating: 255, count: size.width * size.height * 4)
      bytes.withUnsafeMutableBufferPointer { bytes in
        guard let base = bytes.baseAddress else { return }
        overlay.draw(
          on: base, stride: size.width * 4, in: PictureRect(x: 0, y: 0, width: size.width, height: size.height)
        ) { _ in }
      }
      let middle = size.height / 2 * size.width * 4
      #expect(bytes[(middle + 4)..<(middle + 7)] == [0, 0, 0], "at the left edge, where no text or icon is")
    }
  }

  /// What is over a picture may be of any brightness, and the text on its ground is white.
  @Test func aCaptionCanBeReadOverAWhitePicture() {
    let ground = pow((1 - DesktopLook().captionGround + 0.055) / 1.055, 2.4)
    #expect(1.05 / (ground + 0.05) >= 4.5)
  }

  @Test func aCaptionIsAsLargeAsItsStyleAndItsPictureSay() {
    var style = CaptionStyle()
    func height(_ picture: PictureSize, scale: Double = 1) -> Int {
      OverlayDrawing.caption("Text", size: picture, style, scale: scale).size.height
    }
    let (window, place) = (PictureSize(width: 320, height: 180), PictureSize(width: 106, height: 60))
    let usual = height(window)
    // A line of a font with 13.5 units, and of one with the smallest size, 11.
    #expect((18...22).contains(usual) && (14...18).contains(height(place)))
    #expect(height(PictureSize(width: 640, height: 360), scale: 2) == 2 * usual)
    style.scale = 2
    #expect(abs(height(window) - 2 * usual) <= 2)
    for scale in [-1, 0, .nan, 1e9] as [Double] {
      style.scale = scale
      #expect((5...90).contains(style.fontSize(inHeight: 180)), "\(scale)")
    }
  }

  @Test func aCaptionIsAtTheTopWhereItsStyleSaysSo() {
    func top() -> Int? { rectangles { $0.participant.caption = "Text" }.last?.y }
    defer { CaptionStyle.current = CaptionStyle() }
    CaptionStyle.current.isAtTop = true
    #expect(top() == 50 + 12)
    CaptionStyle.current.isAtTop = false
    #expect((150...190).contains(top() ?? 0))
  }

  @Test(
    arguments: [
      (nil, true), (.cameraOff, true), (.audioOnly, true), (.waiting, false), (.reconnecting, false),
      (.inPictureInPicture, false), (.ended, false), (.failed("no server"), false),
    ] as [(StreamPlaceholder?, Bool)])
  func aCaptionIsWhereSomebodyIsSeenOrHeard(placeholder: StreamPlaceholder?, isShown: Bool) {
    func count(_ caption: String) -> Int {
      parts {
        $0.cover = placeholder.map { .init($0) }
        $0.participant.caption = caption
      }.count
    }
    #expect(count("Text") - count("") == (isShown ? 1 : 0))
  }

  @Test func aCaptionIsInsideThePictureWhateverItSays() {
    for text in [String(repeating: "\n", count: 1000), String(repeating: "long ", count: 200), "\u{301}", " "] {
      for size in [Self.area.size, PictureSize(width: 4, height: 3)] {
        let area = PictureRect(x: 100, y: 50, width: size.width, height: size.height)
        let place = rectangles {
          $0.rectangle = area
          $0.participant.caption = text
        }.last
        #expect(place.map { $0.y >= 50 && $0.height <= area.height + 1 } == true, "\(String(describing: place))")
      }
    }
  }

  // MARK: - Drawing

  /// Parts that cover what is below them are drawn without cairo.
  @Test func aPartIsDrawnAsCairoDrawsIt() {
    let area = PictureRect(x: 10, y: 20, width: 40, height: 30)
    func picture(_ opacity: Double) -> [UInt8] {
      let overlay = WindowOverlay()
      overlay.set([
        .init(color: (0.2, 0.4, 0.6), in: PictureRect(x: 0, y: 0, width: 25, height: 100), opacity: 1),
        .init(color: (1, 0, 0), in: PictureRect(x: 45, y: 45, width: 100, height: 100), opacity: 1),
        // Something outside that has to be drawn by cairo, and that nobody sees.
        .init(gray: 1, in: PictureRect(x: 0, y: 0, width: 11, height: 21), opacity: opacity),
      ])
      var bytes = [UInt8](repeating: 77, count: 40 * 30 * 4)
      bytes.withUnsafeMutableBufferPointer { bytes in
        guard let base = bytes.baseAddress else { return }
        overlay.draw(on: base, stride: 160, in: area) { _ in }
      }
      return (0..<40 * 30).flatMap { Array(bytes[$0 * 4..<$0 * 4 + 3]) }
    }
    #expect(picture(1) == picture(0.999_999))
  }

  @Test func anImageIsDrawnOnceUntilItIsNotUsedAnyMore() {
    var images = LabelImages()
    let first = images[.name("Anna", width: 100), 1]
    images.forgetUnused()
    #expect(images[.name("Anna", width: 100), 1] === first)
    #expect(images[.name("Anna", width: 100), 2] !== first, "at another scale it is another image")
    let second = images[.name("Anna", width: 100), 2]
    images.forgetUnused()
    images.forgetUnused()
    #expect(images[.name("Anna", width: 100), 2] !== second)
  }
}
