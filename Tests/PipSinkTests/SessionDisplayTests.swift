import Testing

@testable import PipSink
@testable import TestSupport

/// The displays of a session that need no display server.
@MainActor @Suite struct SessionDisplayTests {
  private enum Color { case white, red, black, other }
  private static let (white, red, black) = (Color.white, Color.red, Color.black)

  private func makeDisplay(isSplit: Bool) throws -> OffscreenDisplay {
    try OffscreenDisplay(
      inAppSize: .init(width: 64, height: 36), pictureInPictureSize: .init(width: 32, height: 18), isSplit: isSplit)
  }

  @discardableResult
  private func add(_ id: StreamID, to display: OffscreenDisplay) throws -> SampleBufferDisplayLayer {
    let layer = SampleBufferDisplayLayer(name: id.rawValue, videoGravity: .resize)
    try display.add(layer, for: id)
    return layer
  }

  private func show(_ color: Color, _ id: StreamID, on display: OffscreenDisplay) throws {
    let bytes: [UInt8] =
      switch color {
      case .white: [255, 255, 255]
      case .red: [0, 0, 255]
      default: [0, 0, 0]
      }
    try add(id, to: display).enqueue(PlainFrame.make(bytes))
  }

  /// Returns the colour of a pixel. The limits allow for the rounding of the scaler.
  private func color(_ image: BGRAImage, _ x: Int, _ y: Int) -> Color {
    switch image.pixel(x, y).prefix(3).map({ $0 > 250 ? 1 : $0 < 5 ? 0 : 2 }) {
    case [1, 1, 1]: .white
    case [0, 0, 1]: .red
    case [0, 0, 0]: .black
    default: .other
    }
  }

  /// Returns the colours in the left and in the right half of the split picture.
  private func halves(_ surfaces: OffscreenDisplay) throws -> [Color] {
    let image = try #require(surfaces.images(pictureInPictureStreamID: nil).first { $0.name == "inApp" }).image
    #expect(image.size == PictureSize(width: 64, height: 36))
    return [color(image, 8, 18), color(image, 56, 18)]
  }

  @Test func inAGridEveryStreamHasAPictureOfItsOwn() throws {
    let surfaces = try makeDisplay(isSplit: false)
    for (id, color): (StreamID, _) in [("b", Self.red), ("a", Self.white)] { try show(color, id, on: surfaces) }
    try add("silent", to: surfaces)
    let images = surfaces.images(pictureInPictureStreamID: "a")
    #expect(images.map(\.name) == ["inApp-a", "inApp-b"], "a stream without a picture has no image")
    #expect(images.map { color($0.image, 0, 0) } == [Self.white, Self.red])
    surfaces.removeStream("a")
    #expect(surfaces.images(pictureInPictureStreamID: nil).map(\.name) == ["inApp-b"])
  }

  @Test func aLayerKeepsItsPlaceUntilItsStreamIsRemoved() throws {
    let surfaces = try makeDisplay(isSplit: true)
    let layer = try add("a", to: surfaces)
    let renderer = try #require(layer.renderer)
    try surfaces.add(layer, for: "a")
    #expect(layer.renderer === renderer)
    try add("b", to: surfaces)
    surfaces.removeStream("a")
    #expect(layer.renderer == nil)
    #expect(try add("a", to: surfaces).renderer === renderer, "the stream gets the half that has become free")
  }

  @Test func thePictureInPictureSurfaceIsNamedByItsStream() throws {
    let surfaces = try makeDisplay(isSplit: false)
    let layer = SampleBufferDisplayLayer(name: "pip", renderer: surfaces.pictureInPictureHost.renderer)
    try surfaces.pictureInPictureHost.open(.plain())
    layer.enqueue(try PlainFrame.make([0, 0, 255]))
    #expect(layer.waitUntilPresented(by: .now.advanced(by: .seconds(20))))
    #expect(surfaces.images(pictureInPictureStreamID: "a").map(\.name) == ["pip-a"])
    #expect(surfaces.images(pictureInPictureStreamID: nil).map(\.name) == ["pip-none"])
    #expect(surfaces.images(pictureInPictureStreamID: "a").first?.image.size == PictureSize(width: 32, height: 18))
  }

  @Test func inTheSplitLayoutTheFirstTwoShareOnePicture() throws {
    let surfaces = try makeDisplay(isSplit: true)
    try show(Self.white, "me", on: surfaces)
    #expect(try halves(surfaces) == [Self.white, Self.white])
    try show(Self.red, "other", on: surfaces)
    #expect(try halves(surfaces) == [Self.white, Self.red])
    // A third stream has its own picture.
    try show(Self.red, "third", on: surfaces)
    #expect(surfaces.images(pictureInPictureStreamID: nil).map(\.name) == ["inApp", "inApp-third"])
    #expect(try halves(surfaces) == [Self.white, Self.red])
  }

  @Test func theOwnPictureIsAloneWhileTheOtherIsNotThere() throws {
    let surfaces = try makeDisplay(isSplit: true)
    try show(Self.white, "me", on: surfaces)
    try show(Self.red, "other", on: surfaces)
    let (alone, both) = ([Self.white, Self.white], [Self.white, Self.red])
    for (id, placeholder, expected) in [
      ("me", StreamPlaceholder.inPictureInPicture, both), ("other", .inPictureInPicture, alone), ("other", nil, both),
      ("me", .ended, both), ("other", .ended, alone), ("other", .waiting, both), ("other", .reconnecting, both),
    ] as [(StreamID, StreamPlaceholder?, [Color])] {
      surfaces.setPlaceholder(placeholder, for: id)
      #expect(try halves(surfaces) == expected, "\(id): \(placeholder as Any)")
    }
  }

  @Test func aHalfThatIsFreeIsTheNextStreams() throws {
    let surfaces = try makeDisplay(isSplit: true)
    try show(Self.white, "me", on: surfaces)
    try show(Self.red, "other", on: surfaces)
    surfaces.setPlaceholder(.ended, for: "other")
    surfaces.removeStream("other")
    #expect(try halves(surfaces) == [Self.white, Self.white])
    // This is a new stream with the same ID, so the placeholder of the previous one does not apply.
    try show(Self.red, "other", on: surfaces)
    #expect(try halves(surfaces) == [Self.white, Self.red])
    surfaces.removeStream("me")
    try show(Self.black, "next", on: surfaces)
    #expect(try halves(surfaces) == [Self.black, Self.red])
  }

  @Test func withoutADisplayNothingIsShown() throws {
    let display = NoDisplay()
    #expect(!display.showsStreams && display.images(pictureInPictureStreamID: "a").isEmpty)
    #expect(display.kind == "none" && display.convertedFrameCount == nil && !display.canPresent)
    #expect(display.pictureInPictureHost.unsupportedReason == nil)
    let another = display.makePictureInPictureHost()
    #expect(another !== display.pictureInPictureHost && another.renderer !== display.pictureInPictureHost.renderer)
    let session = try PictureInPictureSession(display: display)
    _ = try session.addInput("a", stallTimeout: nil)
    #expect(session.layer(of: "a") == nil)
  }
}
