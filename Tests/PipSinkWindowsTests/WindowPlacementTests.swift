import CGTK
import Foundation
import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport

/// Tests where a picture-in-picture window goes, and how large it is.
@Suite struct WindowPlacementTests {
  private static let screen = PictureRect(x: 0, y: 0, width: 1024, height: 768)
  /// The work area of a second monitor, which has a panel at its top.
  private static let area = PictureRect(x: 1024, y: 30, width: 800, height: 570)

  // MARK: - Corners

  @Test(arguments: [
    (WindowCorner.topLeft, 1040, 46), (.topRight, 1024 + 800 - 100 - 16, 46), (.bottomLeft, 1040, 30 + 570 - 50 - 16),
    (.bottomRight, 1024 + 800 - 100 - 16, 30 + 570 - 50 - 16),
  ])
  func aCornerIsInTheWorkAreaByTheMargin(corner: WindowCorner, x: Int, y: Int) {
    let place = WindowPlace(corner, stackOffset: 0)
    #expect(place.horizontal == 16 && place.vertical == 16)
    let origin = place.origin(of: PictureSize(width: 100, height: 50), in: Self.area)
    #expect(origin.x == x && origin.y == y, "\(origin)")
    // A window in a corner that has other windows is moved towards the middle of the screen.
    let behind = WindowPlace(corner, stackOffset: 70).origin(of: PictureSize(width: 100, height: 50), in: Self.area)
    #expect(behind.x == x && behind.y == (corner.isTop ? y + 70 : y - 70), "\(behind)")
  }

  @Test(arguments: WindowCorner.allCases)
  func aLayerIsHeldByTheEdgesOfItsCornerAndAnywhereByTheUpperLeftOnes(corner: WindowCorner) {
    let (size, area) = (PictureSize(width: 100, height: 50), PictureRect(x: 0, y: 0, width: 800, height: 570))
    let place = WindowPlace(corner, stackOffset: 70)
    #expect(place.isLeft == corner.isLeft && place.isTop == corner.isTop)
    #expect(place.horizontal == 16 && place.vertical == 86)
    let origin = place.origin(of: size, in: area)
    let moved = WindowPlace(x: origin.x, y: origin.y)
    #expect(moved.isLeft && moved.isTop && moved.origin(of: size, in: area) == origin)
  }

  @Test(arguments: WindowCorner.allCases)
  func theMiddleOfTheWindowDecidesWhichCornerIsNearest(corner: WindowCorner) {
    // The middle of this window of 100x50 is one pixel away from the middle of the area, towards the corner.
    let (x, y) = (1024 + 400 - 50, 30 + 285 - 25)
    let window = PictureRect(
      x: corner.isLeft ? x - 1 : x + 1, y: corner.isTop ? y - 1 : y + 1, width: 100, height: 50)
    #expect(WindowCorner.nearest(to: window, in: Self.area) == corner)
    let origin = WindowPlace(corner, stackOffset: 0).origin(of: window.size, in: Self.area)
    #expect(
      WindowCorner.nearest(to: PictureRect(x: origin.x, y: origin.y, width: 100, height: 50), in: Self.area) == corner)
  }

  // MARK: - Size

  private func resized(
    _ width: Int, _ aspectRatio: Double?, in area: PictureRect = Self.screen
  ) -> PictureSize {
    var placement = WindowPlacement(width: 320, height: 180)
    placement.resize(toWidth: width, aspectRatio: aspectRatio, in: area)
    return placement.size
  }

  @Test func aWindowHasTheWidthThatIsWantedAndThePicturesShape() {
    #expect(resized(480, 16.0 / 9) == PictureSize(width: 480, height: 270))
    #expect(resized(320, 4.0 / 3) == PictureSize(width: 320, height: 240))
    #expect(resized(320, 0.5) == PictureSize(width: 320, height: 640))
    #expect(resized(321, 2) == PictureSize(width: 321, height: 161))
    #expect(resized(480, nil) == PictureSize(width: 480, height: 180), "without an aspect ratio the height stays")
  }

  @Test func aWindowIsNoWiderThanTheWorkAreaLessItsMargins() {
    #expect(resized(992, 2) == PictureSize(width: 992, height: 496))
    #expect(resized(993, 2) == PictureSize(width: 992, height: 496))
    #expect(resized(10_000, nil) == PictureSize(width: 992, height: 180))
    #expect(resized(10_000, 4, in: Self.area) == PictureSize(width: 768, height: 192))
  }

  @Test func aWindowIsNoHigherThanTheWorkAreaLessItsMargins() {
    #expect(resized(10_000, 1) == PictureSize(width: 736, height: 736))
    #expect(resized(800, 9.0 / 16) == PictureSize(width: 414, height: 736))
    #expect(resized(736, 1) == PictureSize(width: 736, height: 736))
  }

  @Test func aWindowIsNoNarrowerThanItsLeast() {
    #expect(resized(96, 2).width == 96)
    #expect(resized(95, 2) == PictureSize(width: 96, height: 48))
    #expect(resized(-5, nil).width == 96)
    #expect(resized(500, 2, in: PictureRect(x: 0, y: 0, width: 100, height: 100)).width == 96)
  }

  @Test func aPictureOfAnUnusualShapeHasBarsInAWindowThatCanBeUsed() {
    #expect(resized(320, 64.0 / 1080) == PictureSize(width: 96, height: 736))
    #expect(resized(320, 1920.0 / 32) == PictureSize(width: 320, height: 48))
    #expect(resized(320, 2e9) == PictureSize(width: 320, height: 48))
    #expect(resized(320, 1e-9) == PictureSize(width: 96, height: 736))
    #expect(
      resized(320, 1e-9, in: PictureRect(x: 0, y: 0, width: 100, height: 40)) == PictureSize(width: 96, height: 48))
    let least = [nil, 16.0 / 9, 9.0 / 16, 64.0 / 1080, 60].map(WindowPlacement.minimumHeight)
    #expect(least == [54, 54, 96, 96, 48])
  }

  /// A phone is turned, or a shared window changes its shape.
  @Test func theWidthThatTheUserWantsComesBackAfterATallPicture() {
    var placement = WindowPlacement(width: 320, height: 180)
    for aspectRatio in [90.0 / 360, 1e-3, 16.0 / 9] {
      placement.resize(toWidth: placement.width, aspectRatio: aspectRatio, in: Self.screen)
      #expect(placement.width == 320)
    }
    #expect(placement.size == PictureSize(width: 320, height: 180))
    placement.resize(toWidth: placement.width, aspectRatio: 90.0 / 360, in: Self.screen)
    #expect(placement.size == PictureSize(width: 184, height: 736))
    // The user changes what is seen.
    #expect(placement.width(scrolledBy: -1) == 166)
    placement.resize(toWidth: placement.width(scrolledBy: -1), aspectRatio: 90.0 / 360, in: Self.screen)
    #expect(placement.width == 166 && placement.size == PictureSize(width: 166, height: 664))
  }

  @Test func aSizeThatTheDesktopHasChosenIsNotTheUsers() {
    let area = PictureRect(x: 0, y: 0, width: 1920, height: 1080)
    let isChosen = { (width: Int, height: Int, aspectRatio: Double?) in
      WindowPlacement.isChosen(PictureSize(width: width, height: height), aspectRatio: aspectRatio, in: area)
    }
    let wide = 16.0 / 9
    #expect(isChosen(480, 270, wide) && isChosen(481, 272, wide) && isChosen(400, 123, nil))
    #expect(isChosen(1862, 1048, 1862.0 / 1048), "the largest that fits")
    #expect(!isChosen(1920, 1080, wide), "fullscreen")
    #expect(!isChosen(1920, 1080, nil) && !isChosen(1900, 1069, wide), "maximised")
    #expect(!isChosen(320, 1080, wide) && !isChosen(1920, 180, wide), "maximised in one direction")
    #expect(!isChosen(960, 1080, wide) && !isChosen(960, 1080, nil), "tiled in a half")
    #expect(!isChosen(960, 540, wide) && !isChosen(959, 539, nil), "tiled in a quarter")
    #expect(!isChosen(640, 400, wide), "not in the shape that the desktop was told")
    #expect(!isChosen(0, 0, wide) && !isChosen(1, 1, nil))
  }

  @Test func aStepOfTheWheelIsATenthAndAtLeastEightPixels() {
    #expect(WindowPlacement(width: 320).width(scrolledBy: 1) == 352)
    #expect(WindowPlacement(width: 320).width(scrolledBy: -1) == 288)
    #expect(WindowPlacement(width: 60).width(scrolledBy: 1) == 68)
    #expect(WindowPlacement(width: 60).width(scrolledBy: -2) == 44)
  }

  // MARK: - What is remembered

  @Test(arguments: WindowCorner.allCases) func aPlaceIsRemembered(corner: WindowCorner) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("state/pipsink/place.ini")
    let place = WindowPlacement(corner: corner, width: 417, height: 233)
    #expect(WindowPlacement.load(from: path) == nil)
    #expect(place.save(to: path))
    #expect(WindowPlacement.load(from: path) == place)
    // The folder can be read by its user alone.
    let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("state/pipsink"))
    #expect(attributes[.posixPermissions] as? Int == 0o700)
  }

  @Test func aPlaceThatCannotBeKeptCostsNothing() throws {
    let folder = try TemporaryFolder()
    try Data().write(to: folder.url.appendingPathComponent("file"))
    #expect(!WindowPlacement().save(to: folder.path("file/place.ini")))
  }

  @Test(arguments: [
    "", "nonsense", "[other]\ncorner=top-left\nwidth=320\nheight=180\n",
    "[picture-in-picture]\nwidth=320\nheight=180\n",
    "[picture-in-picture]\ncorner=middle\nwidth=320\nheight=180\n",
    "[picture-in-picture]\ncorner=top-left\nwidth=0\nheight=180\n",
    "[picture-in-picture]\ncorner=top-left\nwidth=320\nheight=-1\n",
    "[picture-in-picture]\ncorner=top-left\nwidth=32768\nheight=180\n",
    "[picture-in-picture]\ncorner=top-left\nwidth=320\nheight=32768\n",
    "[picture-in-picture]\ncorner=top-left\nwidth=320\n", "[picture-in-picture]\ncorner=top-left\nheight=180\n",
  ])
  func aFileThatSaysNoPlaceIsNone(text: String) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("place.ini")
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    #expect(WindowPlacement.load(from: path) == nil)
  }

  @Test func theLargestAndTheSmallestPlaceAreTaken() throws {
    let folder = try TemporaryFolder()
    for place in [WindowPlacement(width: 1, height: 1), WindowPlacement(width: 32767, height: 32767)] {
      #expect(place.save(to: folder.path("place.ini")))
      #expect(WindowPlacement.load(from: folder.path("place.ini")) == place)
    }
  }

  // MARK: - What the pointer and the keys do

  @Test func aWindowIsTakenByItsCornersOrByAnythingElse() {
    let size = PictureSize(width: 320, height: 180)
    let grip = { (x: Double, y: Double) in WindowGrip(x: x, y: y, size: size) }
    for y in [0, 7.5, 172, 179.5] {
      for x in [0, 7.5] { #expect(grip(x, y) == .corner(isLeft: true), "\(x), \(y)") }
      for x in [312, 319.5] { #expect(grip(x, y) == .corner(isLeft: false), "\(x), \(y)") }
      // These points are in the middle of an edge.
      for x in [8, 160, 311.5] { #expect(grip(x, y) == .middle, "\(x), \(y)") }
    }
    for y in [8, 90, 171.5] { for x in [0, 160, 319.5] { #expect(grip(x, y) == .middle, "\(x), \(y)") } }
  }

  @Test func aCornerThatIsPulledOutwardsMakesTheWindowLarger() {
    #expect(WindowGrip.corner(isLeft: false).width(from: 320, draggedBy: 30) == 350)
    #expect(WindowGrip.corner(isLeft: true).width(from: 320, draggedBy: -30) == 350)
    #expect(WindowGrip.corner(isLeft: true).width(from: 320, draggedBy: 30) == 290)
    #expect(WindowGrip.middle.width(from: 320, draggedBy: 30) == 320)
  }

  @Test func theKeysOfTheWindowMeanWhatMakesSenseNow() {
    let action = { (key: Int32, actions: Set<PictureInPictureAction>) in
      PictureInPictureAction(key: UInt32(bitPattern: key), among: actions)
    }
    let film: Set<PictureInPictureAction> = [.skipBackward, .skipForward]
    for actions in [[], film] {
      #expect(action(GDK_KEY_space, actions) == .playPause)
      #expect(action(GDK_KEY_m, actions) == .mute)
      #expect(action(GDK_KEY_v, actions) == .captions)
      #expect(action(GDK_KEY_Escape, actions) == .close)
      #expect(action(GDK_KEY_Return, actions) == .backToApp)
      #expect(action(GDK_KEY_x, actions) == nil)
    }
    #expect(action(GDK_KEY_m, [.microphone]) == .microphone && action(GDK_KEY_m, [.microphone, .mute]) == .mute)
    #expect(action(GDK_KEY_Left, film) == .skipBackward && action(GDK_KEY_Right, film) == .skipForward)
    #expect(action(GDK_KEY_Left, []) == .previousStream && action(GDK_KEY_Right, []) == .nextStream)
    #expect(action(GDK_KEY_Left, [.skipForward]) == .previousStream)
    #expect(action(GDK_KEY_Right, [.skipBackward]) == .nextStream)
  }

  @Test func aPressBetweenTwoControlsIsOnNeither() throws {
    let controls = [PictureInPictureControl].player + [PictureInPictureControl(.close)]
    let bars = ControlBars(controls, in: PictureSize(width: 320, height: 180))
    let bar = try #require(bars.bars.first { $0.controls.count == 7 })
    let (left, middle) = (bar.rectangle.x, bar.rectangle.y + 14)
    let found = (-1...bar.rectangle.width).map { bars.action(x: left + $0, y: middle) }
    // Each control has 28 units, and two are between it and the next.
    let expected = Array(
      bar.controls.map { [PictureInPictureAction?](repeating: $0.action, count: 28) }.joined(separator: [nil, nil]))
    #expect(found == [nil] + expected + [nil])
    #expect(bars.action(x: left, y: bar.rectangle.y - 1) == nil && bars.action(x: left, y: 180 - 6) == nil)
  }

  @Test func aControlShowsWhatAPressOfItWouldDo() {
    func icon(_ action: PictureInPictureAction, isOn: Bool? = nil) -> ControlIcon? {
      ControlIcon(PictureInPictureControl(action, isOn: isOn))
    }
    #expect(icon(.playPause, isOn: true) == .pause && icon(.playPause, isOn: false) == .play)
    #expect(icon(.mute, isOn: false) == .sound && icon(.mute, isOn: true) == .muted)
    #expect(icon(.microphone) == .turnMicrophoneOff && icon(.microphone, isOn: false) == .turnMicrophoneOn)
    #expect(icon(.camera, isOn: true) == .turnCameraOff && icon(.camera, isOn: false) == .turnCameraOn)
    #expect(icon(.captions, isOn: true) == .hideCaptions && icon(.captions, isOn: false) == .showCaptions)
    #expect(icon(.raiseHand) == .raiseHand && icon(.raiseHand, isOn: true) == .lowerHand)
    #expect(icon(.previousStream) == .previous && icon(.nextStream) == .next)
    #expect(icon(.skipBackward) == .back && icon(.skipForward) == .forward)
    #expect(icon(.custom("vote")) == nil)
    let icons = PictureInPictureAction.known.compactMap { icon($0) }
    #expect(icons.count == PictureInPictureAction.known.count - 1, "seeking has a bar")
    #expect(Set(icons).count == icons.count)
  }
}
