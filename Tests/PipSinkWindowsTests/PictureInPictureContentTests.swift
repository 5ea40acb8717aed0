import CWindows
import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport

/// What an app draws itself in the picture-in-picture window.
@Suite struct PictureInPictureContentTests {
  private static let size = PictureSize(width: 320, height: 180)

  /// Content that fills rectangles, and counts how often it is drawn.
  @MainActor
  private final class Rectangles {
    var rectangles: [PictureRect] = []
    private(set) var sizes: [PictureSize] = []
    private(set) lazy var content = PictureInPictureContent { [unowned self] context, size in
      sizes.append(size)
      cairo_set_source_rgba(context, 1, 0, 0, 0.5)
      for each in rectangles {
        cairo_rectangle(context, Double(each.x), Double(each.y), Double(each.width), Double(each.height))
      }
      cairo_fill(context)
    }
  }

  private static func rectangle(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> PictureRect {
    PictureRect(x: x, y: y, width: width, height: height)
  }

  @MainActor
  @Test func itIsDrawnWhenItIsNewAndWhenSomethingHasChangedAndNotBetween() {
    let rectangles = Rectangles()
    for _ in 0..<3 { _ = rectangles.content.parts(in: Self.size, scale: 1) }
    #expect(rectangles.sizes == [Self.size])
    for _ in 0..<3 { _ = rectangles.content.parts(in: Self.size, scale: 2) }
    #expect(rectangles.sizes == [Self.size, PictureSize(width: 160, height: 90)], "the size is in units")
    rectangles.content.redraw()
    _ = rectangles.content.parts(in: Self.size, scale: 2)
    #expect(rectangles.sizes.count == 3)
    _ = rectangles.content.parts(in: PictureSize(width: 640, height: 360), scale: 2)
    #expect(rectangles.sizes.last == Self.size)
  }

  /// The more of a picture is covered, the more there is to do for each frame.
  @MainActor
  @Test func onlyWhatIsDrawnCoversThePicture() {
    let rectangles = Rectangles()
    func places(scale: Double = 1) -> [PictureRect] {
      rectangles.content.redraw()
      return rectangles.content.parts(in: Self.size, scale: scale).map(\.rectangle)
    }
    #expect(places().isEmpty)
    rectangles.rectangles = [Self.rectangle(10, 20, 30, 5)]
    #expect(places() == [Self.rectangle(10, 20, 30, 5)])
    #expect(places(scale: 2) == [Self.rectangle(20, 40, 60, 10)])
    rectangles.rectangles = [Self.rectangle(10, 20, 30, 5), Self.rectangle(100, 150, 220, 30)]
    #expect(places() == rectangles.rectangles)
    // What is close together, or side by side, is one part.
    rectangles.rectangles = [Self.rectangle(10, 20, 30, 5), Self.rectangle(20, 30, 50, 5)]
    #expect(places() == [Self.rectangle(10, 20, 60, 15)])
    rectangles.rectangles = [Self.rectangle(0, 0, 320, 180)]
    #expect(places() == [Self.rectangle(0, 0, 320, 180)])
    rectangles.rectangles = [Self.rectangle(-10, 170, 500, 500)]
    #expect(places() == [Self.rectangle(0, 170, 320, 10)], "what is outside is nowhere")
  }

  /// Draws content on a white picture.
  @MainActor
  private func picture(_ content: PictureInPictureContent, scale: Double = 1) -> BGRAImage {
    let (overlay, area) = (WindowOverlay(), Self.rectangle(0, 0, Self.size.width, Self.size.height))
    overlay.set(content.parts(in: Self.size, scale: scale))
    var bytes = [UInt8](repeating: 255, count: area.width * area.height * 4)
    bytes.withUnsafeMutableBufferPointer { bytes in
      if let base = bytes.baseAddress { overlay.draw(on: base, stride: area.width * 4, in: area) { _ in } }
    }
    return BGRAImage(size: area.size, opaque: bytes)
  }

  @MainActor
  @Test func anImageIsAsLargeAsTheWindowLetsItBe() {
    let green = BGRAImage(
      size: PictureSize(width: 10, height: 10), bytes: (0..<400).map { $0 % 4 == 0 || $0 % 4 == 2 ? 0 : 255 })
    for scale in [1.0, 2] {
      let over = picture(PictureInPictureContent(green), scale: scale)
      #expect(over.pixel(160, 90) == [0, 255, 0, 255] && over.pixel(160, 1) == [0, 255, 0, 255])
      #expect(over.pixel(72, 90) == [0, 255, 0, 255] && over.pixel(68, 90) == [255, 255, 255, 255])
      let instead = picture(PictureInPictureContent(green, hidesPictures: true), scale: scale)
      #expect(instead.pixel(160, 90) == [0, 255, 0, 255] && instead.pixel(68, 90) == [0, 0, 0, 255])
    }
  }

  @MainActor
  @Test func whatHidesThePicturesHidesAllOfThem() {
    let overlay = WindowOverlay()
    overlay.set(PictureInPictureContent(hidesPictures: true) { _, _ in }.parts(in: Self.size, scale: 1))
    #expect(overlay.hides(Self.rectangle(0, 0, 320, 180)) && overlay.hides(Self.rectangle(160, 0, 160, 90)))
    overlay.set(PictureInPictureContent { context, _ in cairo_paint(context) }.parts(in: Self.size, scale: 1))
    #expect(!overlay.hides(Self.rectangle(0, 0, 320, 180)))
  }

  @MainActor
  @Test func imagesOfTheElementAreWhereItsApplicationPutsThemInPixels() {
    let green = BGRAImage(
      size: PictureSize(width: 2, height: 2), bytes: (0..<16).map { $0 % 4 == 0 || $0 % 4 == 2 ? 0 : 255 })
    var events: [Bool] = []
    let content = PictureInPictureContent([(green, Self.rectangle(30, 40, 20, 10))]) { _, isOnImage in
      events.append(isOnImage)
      return isOnImage
    }
    let image = picture(content, scale: 2)
    for (x, y, isGreen) in [(30, 40, true), (49, 49, true), (29, 40, false), (50, 49, false), (49, 50, false)] {
      #expect((image.pixel(x, y) == [0, 255, 0, 255]) == isGreen, "(\(x), \(y)): \(image.pixel(x, y))")
      #expect(content.handle(.pressed(button: 1, x: Double(x), y: Double(y))) == isGreen)
    }
    #expect(!content.handle(.left))
    #expect(events == [true, true, false, false, false, false])
  }

  /// The streams need not be decoded meanwhile.
  @MainActor
  @Test(.enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"))
  func contentInsteadOfThePicturesHidesTheStreamsUntilItIsRemoved() async throws {
    let server = try await XServer()
    let window = try PictureInPictureWindow(display: server.display, placementPath: nil)
    let session = try PictureInPictureSession(display: LayerDisplay(pictureInPictureHost: window))
    let input = try session.addInput("a", stallTimeout: nil)
    let red = try PlainFrame.make([0, 0, 255], 64, 36).pixelBuffer
    var events: [String] = []
    session.observeEvents { event in
      switch event {
      case .pictureInPicture(.didStart, _): events.append("started")
      case .demandChanged("a", let demand): events.append(demand == .hidden ? "hidden" : "seen")
      default: break
      }
    }
    let environment = server.environment
    func middle() async throws -> [UInt8] {
      guard window.isOpen, let place = window.native?.rectangle else { return [] }
      let screen = try await XServer.screenshot(environment: environment)
      return Array(screen.pixel(place.x + place.width / 2, place.y + place.height / 2)[0..<3])
    }
    func isSeen(_ color: [UInt8]) async throws -> Bool {
      try await eventually {
        input.push(red)
        // Scaling a picture may change its colours by a little.
        return zip(try await middle(), color).count { abs(Int($0) - Int($1)) <= 3 } == 3
      }
    }
    // Picture-in-picture starts with content, and without anybody who sees the stream.
    window.content = PictureInPictureContent(hidesPictures: true) { context, size in
      cairo_set_source_rgb(context, 0, 1, 0)
      cairo_rectangle(context, 0, 0, Double(size.width), 100)
      cairo_fill(context)
    }
    input.push(red)
    try session.startPictureInPicture("a")
    #expect(try await isSeen([0, 255, 0]))
    #expect(await eventually { events.contains("started") }, "\(events)")
    #expect(await eventually { session.info(of: "a")?.demand == .hidden }, "\(events)")
    window.content = nil
    #expect(await eventually { session.info(of: "a")?.demand != .hidden })
    #expect(try await isSeen([0, 0, 255]))
    window.content = PictureInPictureContent(hidesPictures: true) { _, _ in }
    #expect(try await isSeen([0, 0, 0]))
    window.content = PictureInPictureContent { _, _ in }
    #expect(try await isSeen([0, 0, 255]))
    await session.invalidate()
    server.stop()
  }
}
