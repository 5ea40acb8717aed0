import Testing

@testable import PipSink
@testable import PipSinkGTK
@testable import pipsink_demo

/// The demo's surfaces in memory.
@MainActor @Suite struct OffscreenSurfacesTests {
  private enum Color { case white, red, black, other }
  private static let (white, red, black) = (Color.white, Color.red, Color.black)

  private func surfaces(isSplit: Bool) throws -> OffscreenSurfaces {
    try OffscreenSurfaces(
      inAppSize: .init(width: 64, height: 36), pictureInPictureSize: .init(width: 32, height: 18), gravity: .resize,
      isSplit: isSplit)
  }

  private func show(_ color: Color, _ id: StreamID, on surfaces: OffscreenSurfaces) throws {
    let bytes: [UInt8] =
      switch color {
      case .white: [255, 255, 255]
      case .red: [0, 0, 255]
      default: [0, 0, 0]
      }
    try surfaces.inAppLayer(for: id)?.enqueue(PlainFrame.make(bytes))
  }

  /// Scaling rounds a little.
  private func color(_ image: BGRAImage, _ x: Int, _ y: Int) -> Color {
    switch image.pixel(x, y).prefix(3).map({ $0 > 250 ? 1 : $0 < 5 ? 0 : 2 }) {
    case [1, 1, 1]: .white
    case [0, 0, 1]: .red
    case [0, 0, 0]: .black
    default: .other
    }
  }

  /// The colours at the left and at the right of the split picture.
  private func halves(_ surfaces: OffscreenSurfaces) throws -> [Color] {
    let image = try #require(surfaces.images(pipStream: nil).first { $0.name == "inApp" }).image
    #expect(image.size == PictureSize(width: 64, height: 36))
    return [color(image, 8, 18), color(image, 56, 18)]
  }

  @Test func inAGridEveryStreamHasAPictureOfItsOwn() throws {
    let surfaces = try surfaces(isSplit: false)
    for (id, color) in [("b", Self.red), ("a", Self.white)] { try show(color, id, on: surfaces) }
    _ = try surfaces.inAppLayer(for: "silent")
    let images = surfaces.images(pipStream: "a")
    #expect(images.map(\.name) == ["inApp-a", "inApp-b"], "one without a picture has none")
    #expect(images.map { color($0.image, 0, 0) } == [Self.white, Self.red])
    surfaces.removeStream("a")
    #expect(surfaces.images(pipStream: nil).map(\.name) == ["inApp-b"])
  }

  @Test func aStreamKeepsItsLayer() throws {
    let surfaces = try surfaces(isSplit: true)
    let layer = try surfaces.inAppLayer(for: "a")
    #expect(try surfaces.inAppLayer(for: "a") === layer)
    #expect(try surfaces.inAppLayer(for: "b") !== layer)
    surfaces.removeStream("a")
    #expect(try surfaces.inAppLayer(for: "a") !== layer)
  }

  @Test func thePictureInPictureSurfaceIsNamedByItsStream() throws {
    let surfaces = try surfaces(isSplit: false)
    let layer = SampleBufferDisplayLayer(name: "pip", renderer: surfaces.pictureInPictureWindow.renderer)
    try surfaces.pictureInPictureWindow.open(
      PictureInPicturePresentation(streamID: "a", content: .video, actions: [], isPaused: false, isMuted: false))
    layer.enqueue(try PlainFrame.make([0, 0, 255]))
    #expect(layer.waitUntilPresented(by: .now.advanced(bySeconds: 20)))
    #expect(surfaces.images(pipStream: "a").map(\.name) == ["pip-a"])
    #expect(surfaces.images(pipStream: nil).map(\.name) == ["pip-none"])
    #expect(surfaces.images(pipStream: "a").first?.image.size == PictureSize(width: 32, height: 18))
  }

  @Test func inTheSplitLayoutTheFirstTwoShareOnePicture() throws {
    let surfaces = try surfaces(isSplit: true)
    try show(Self.white, "me", on: surfaces)
    #expect(try halves(surfaces) == [Self.white, Self.white])
    try show(Self.red, "other", on: surfaces)
    #expect(try halves(surfaces) == [Self.white, Self.red])
    // A third has one of its own.
    try show(Self.red, "third", on: surfaces)
    #expect(surfaces.images(pipStream: nil).map(\.name) == ["inApp", "inApp-third"])
    #expect(try halves(surfaces) == [Self.white, Self.red])
  }

  @Test func theOwnPictureIsAloneWhileTheOtherIsNotThere() throws {
    let surfaces = try surfaces(isSplit: true)
    try show(Self.white, "me", on: surfaces)
    try show(Self.red, "other", on: surfaces)
    let (alone, both) = ([Self.white, Self.white], [Self.white, Self.red])
    surfaces.pictureInPictureDidChange(to: "me")
    #expect(try halves(surfaces) == both)
    surfaces.pictureInPictureDidChange(to: "other")
    #expect(try halves(surfaces) == alone)
    surfaces.pictureInPictureDidChange(to: nil)
    #expect(try halves(surfaces) == both)
    surfaces.streamDidChange("me", to: .ended)
    #expect(try halves(surfaces) == both)
    surfaces.streamDidChange("other", to: .ended)
    #expect(try halves(surfaces) == alone)
    surfaces.streamDidChange("other", to: .playing)
    #expect(try halves(surfaces) == both)
    surfaces.streamDidChange("other", to: .reconnecting)
    #expect(try halves(surfaces) == both, "its last picture stays")
  }

  @Test func aHalfThatIsFreeIsTheNextStreams() throws {
    let surfaces = try surfaces(isSplit: true)
    try show(Self.white, "me", on: surfaces)
    try show(Self.red, "other", on: surfaces)
    surfaces.streamDidChange("other", to: .ended)
    surfaces.removeStream("other")
    #expect(try halves(surfaces) == [Self.white, Self.white])
    // Under the same name as before: it has not ended any more.
    try show(Self.red, "other", on: surfaces)
    #expect(try halves(surfaces) == [Self.white, Self.red])
    surfaces.removeStream("me")
    try show(Self.black, "next", on: surfaces)
    #expect(try halves(surfaces) == [Self.black, Self.red])
  }

  @Test func aStreamsPlaceSaysWhyItShowsNoPicture() {
    let states: [(StreamState, RemoteVideoView.Placeholder?, RemoteVideoView.Placeholder?)] = [
      (.waiting, .waiting, .waiting), (.playing, nil, .inPictureInPicture),
      (.reconnecting, .reconnecting, .reconnecting), (.ended, .ended, .ended),
      (.failed("why"), .failed("why"), .failed("why")),
    ]
    for (state, inApp, elsewhere) in states {
      #expect(state.placeholder(isInPictureInPicture: false) == inApp, "\(state)")
      #expect(state.placeholder(isInPictureInPicture: true) == elsewhere, "\(state)")
    }
    #expect(RemoteVideoView.Placeholder.failed("why").text.contains("why"))
  }

  @Test func withoutSurfacesNothingIsShown() throws {
    let surfaces = NoSurfaces()
    #expect(surfaces.inAppLayer(for: "a") == nil && surfaces.images(pipStream: "a").isEmpty)
    #expect(surfaces.kind == "none" && surfaces.convertedFrameCount == nil)
    #expect(surfaces.pictureInPictureWindow.unsupportedReason == nil)
  }
}
