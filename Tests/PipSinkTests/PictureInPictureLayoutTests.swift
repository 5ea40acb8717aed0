import Testing

@testable import PipSink
@testable import TestSupport

/// How streams are arranged in a picture-in-picture window, in memory.
@MainActor @Suite struct PictureInPictureLayoutTests {
  /// A call whose streams have a colour each, in an order that does not change.
  @MainActor
  private final class Call {
    static let colours: [(id: StreamID, colour: [UInt8])] = [
      ("me", [255, 0, 0]), ("a", [0, 0, 255]), ("b", [0, 255, 0]), ("c", [255, 0, 255]), ("d", [0, 255, 255]),
      ("e", [255, 255, 0]), ("f", [255, 255, 255]), ("g", [128, 0, 0]), ("h", [0, 128, 0]), ("i", [0, 0, 128]),
      ("j", [128, 128, 128]),
    ]
    let session: PictureInPictureSession
    let display: OffscreenDisplay
    private var inputs: [StreamID: StreamInput] = [:]
    var window: OffscreenPictureInPictureWindow { display.pictureInPictureWindow }

    init(_ ids: [StreamID], _ layout: PictureInPictureLayout) async throws {
      display = try OffscreenDisplay(pictureInPictureSize: PictureSize(width: 180, height: 180))
      var configuration = PictureInPictureSession.Configuration()
      configuration.localStreamIDs = ["me"]
      configuration.pictureInPicture.layout = layout
      session = try PictureInPictureSession(display: display, configuration: configuration)
      try await session.start()
      for id in ids { try join(id) }
      try session.startPictureInPicture()
      #expect(await eventually { self.session.controller.isActive })
    }

    func join(_ id: StreamID) throws {
      let input = try session.addInput(id, stallTimeout: nil)
      inputs[id] = input
      push(id)
    }

    func push(_ id: StreamID) {
      guard let colour = Self.colours.first(where: { $0.id == id })?.colour,
        let picture = try? PlainFrame.make(colour, 32, 32).pixelBuffer
      else { return }
      inputs[id]?.push(picture)
    }

    /// The stream whose colour a pixel has; nil for none.
    private func stream(_ pixel: [UInt8]) -> StreamID? {
      Self.colours.first { zip(pixel, $0.colour).allSatisfy { abs(Int($0) - Int($1)) < 12 } }?.id
    }

    /// The streams at some points of the picture, whose size is 180 by 180.
    func streams(at points: [(x: Int, y: Int)]) -> [StreamID?] {
      guard let image = window.image(), image.size == PictureSize(width: 180, height: 180) else { return [] }
      return points.map { stream(image.pixel($0.x, $0.y)) }
    }
  }

  /// The middle of each place of a grid of three by three.
  private static let ninths = (0..<9).map { (x: $0 % 3 * 60 + 30, y: $0 / 3 * 60 + 30) }
  private static let quarters = [(45, 45), (135, 45), (45, 135), (135, 135)].map { (x: $0.0, y: $0.1) }

  @Test(arguments: PictureInPictureLayout.allCases)
  func everyPixelIsInAPlaceOrInAGap(layout: PictureInPictureLayout) {
    for count in 1...layout.placeCount {
      for size in [PictureSize(width: 320, height: 180), .init(width: 331, height: 187), .init(width: 7, height: 5)] {
        var owners = [Int](repeating: 0, count: size.width * size.height)
        // The small picture of the speaker's layout is above the large one.
        let places = layout.rectangles(count: count, in: size).prefix(layout == .speaker ? 1 : count)
        let gaps = GridLayout.gaps(beside: places.shuffled(), in: size)
        #expect(gaps.count <= (layout == .grid ? GridLayout.maximumGapCount : 0))
        for rectangle in places + gaps {
          for y in rectangle.y..<rectangle.y + rectangle.height {
            for x in rectangle.x..<rectangle.x + rectangle.width { owners[y * size.width + x] += 1 }
          }
        }
        #expect(owners.allSatisfy { $0 == 1 }, "\(layout) \(count) \(size)")
      }
    }
  }

  @Test func aGridShowsUpToNineAndHowManyHaveNoPlace() async throws {
    let call = try await Call(["me", "a", "b", "c"], .grid)
    #expect(await eventually { call.streams(at: Self.quarters) == ["a", "b", "c", "me"] })
    #expect(call.window.presentation?.aspectRatio == 1)
    for id: StreamID in ["d", "e", "f", "g", "h", "i", "j"] { try call.join(id) }
    #expect(
      await eventually { call.streams(at: Self.ninths) == ["a", "b", "c", "me", "d", "e", "f", "g", "h"] })
    #expect(call.window.presentation?.overflowCount == 2)
    #expect(await eventually { call.session.placeholder(of: "i") == nil })
    #expect(call.session.placeholder(of: "h") == .inPictureInPicture)
    // Somebody leaves, and nobody else moves.
    try call.session.removeStream("b")
    #expect(
      await eventually { call.streams(at: Self.ninths) == ["a", "i", "c", "me", "d", "e", "f", "g", "h"] })
    #expect(call.window.presentation?.overflowCount == 1)
  }

  @Test func whoeverSwitchesTheCameraOffKeepsThePlaceWithoutAPicture() async throws {
    let call = try await Call(["a", "b", "c", "d"], .grid)
    #expect(await eventually { call.streams(at: Self.quarters) == ["a", "b", "c", "d"] })
    for id: StreamID in ["a", "c"] { try call.session.setCameraState(.off, of: id) }
    #expect(await eventually { call.streams(at: Self.quarters) == [nil, "b", nil, "d"] })
    #expect(call.window.presentation?.places.map(\.placeholder) == [.cameraOff, nil, .cameraOff, nil])
    #expect(call.session.pictureInPictureStreamID == "a")
    for id: StreamID in ["a", "c"] { try call.session.setCameraState(.on, of: id) }
    #expect(await eventually { call.window.presentation?.places.map(\.placeholder) == [nil, nil, nil, nil] })
    for id: StreamID in ["a", "c"] { call.push(id) }
    #expect(await eventually { call.streams(at: Self.quarters) == ["a", "b", "c", "d"] })
  }

  @Test func theLocalPictureIsSmallInACornerBesideWhoeverIsLarge() async throws {
    let call = try await Call(["me", "a", "b"], .speaker)
    let points = [(x: 20, y: 20), (x: 100, y: 100), (x: 150, y: 150)]
    #expect(await eventually { call.streams(at: points) == ["a", "a", "me"] })
    #expect(call.session.secondPictureInPictureStreamID == "me")
    try call.session.setPictureInPictureSource("b")
    #expect(await eventually { call.streams(at: points) == ["b", "b", "me"] })
    try call.session.setPictureInPictureSource("me")
    #expect(await eventually { call.streams(at: points) == ["me", "me", "b"] }, "the two change places")
    try call.session.setSecondPictureInPictureStream("a")
    #expect(await eventually { call.streams(at: points) == ["me", "me", "a"] })
    try call.session.setSecondPictureInPictureStream(nil)
    #expect(call.session.controller.configuration.layout == .speaker)
  }

  @Test func theLayoutChangesWhileTheWindowIsOpenAndIsKeptForTheNextOne() async throws {
    let call = try await Call(["me", "a", "b", "c"], .single)
    #expect(await eventually { call.streams(at: Self.quarters) == ["a", "a", "a", "a"] })
    #expect(call.session.controller.presentation.actions.contains(.changeLayout))
    var told: [PictureInPictureLayout] = []
    call.session.controller.observeEvents { if case .layoutChanged(let layout) = $0 { told.append(layout) } }
    call.window.perform(.changeLayout)
    #expect(await eventually { call.streams(at: [(45, 90), (135, 90)]) == ["a", "b"] })
    call.window.perform(.changeLayout)
    #expect(await eventually { call.streams(at: Self.quarters) == ["a", "a", "a", "me"] })
    call.window.perform(.changeLayout)
    #expect(await eventually { call.streams(at: Self.quarters) == ["a", "b", "c", "me"] })
    #expect(!call.session.controller.presentation.actions.contains(.nextStream), "all are seen")
    call.session.stopPictureInPicture()
    #expect(await eventually { !call.session.controller.isActive && call.session.placeholder(of: "b") == nil })
    try call.session.startPictureInPicture()
    #expect(await eventually { call.streams(at: Self.quarters) == ["a", "b", "c", "me"] })
    call.window.perform(.changeLayout)
    #expect(await eventually { call.streams(at: Self.quarters) == ["a", "a", "a", "a"] })
    #expect(told == [.split, .speaker, .grid, .single])
    let moves = call.session.router.changes
    #expect(moves.allSatisfy { $0.framesLost == 0 && $0.framesRepeated == 0 })
  }

  @Test func aSecondStreamMakesHalvesOfASinglePlaceUntilItIsWithdrawn() async throws {
    let call = try await Call(["a", "b"], .single)
    try call.session.setSecondPictureInPictureStream("b")
    #expect(call.session.controller.configuration.layout == .split)
    try call.session.setSecondPictureInPictureStream(nil)
    #expect(call.session.controller.configuration.layout == .single)
    try call.session.setSecondPictureInPictureStream("b")
    call.session.controller.configuration.layout = .single
    #expect(call.session.secondPictureInPictureStreamID == nil)
    call.session.controller.configuration.layout = .split
    #expect(call.session.secondPictureInPictureStreamID == "b", "the other stream, as nobody has chosen one")
  }

  @Test func aWindowForOneStreamShowsOneInEveryLayout() async throws {
    let router = FrameRouter()
    for id: StreamID in ["a", "b"] {
      router.addStream(id, inApp: nil).consume(
        SampleBuffer(pixelBuffer: try PlainFrame.make([255, 255, 255]).pixelBuffer, sequenceNumber: 1))
    }
    let window = WindowForOne()
    let controller = PictureInPictureController(
      contentSource: ContentSource(router: router, streamID: "a"), window: window)
    for id: StreamID in ["a", "b"] { controller.streamSelector.set(id) }
    try controller.start()
    for layout in PictureInPictureLayout.allCases {
      controller.configuration.layout = layout
      #expect(controller.presentation.places.map(\.streamID) == ["a"])
      #expect(controller.presentation.actions.contains(.changeLayout) == false)
      #expect(router.table.surface(for: "b") == .inApp)
    }
  }

  private final class WindowForOne: PictureInPictureHost {
    let renderer: any VideoRenderer = TestPlace(16, 16)
    var unsupportedReason: String? { nil }
    var eventHandler: (@MainActor (PictureInPictureWindowEvent) -> Void)?
    func open(_ presentation: PictureInPicturePresentation) {}
    func update(_ presentation: PictureInPicturePresentation) {}
    func close() {}
  }

  @Test(
    arguments: PictureInPictureLayout.allCases,
    [PictureSize(width: 320, height: 180), PictureSize(width: 97, height: 61)])
  func noPlaceIsOutsideTheWindowOrEmpty(layout: PictureInPictureLayout, size: PictureSize) {
    let window = PictureRect(x: 0, y: 0, width: size.width, height: size.height)
    for count in 1...layout.placeCount {
      for (isLeft, isTop) in [(true, true), (true, false), (false, true), (false, false)] {
        let places = layout.rectangles(count: count, in: size, isLeft: isLeft, isTop: isTop)
        #expect(places.count == count)
        #expect(places.allSatisfy { $0.size.isValid && window.intersection($0) == $0 })
        if layout == .speaker, count == 2 {
          #expect((places[1].x < size.width / 2) == isLeft && (places[1].y < size.height / 2) == isTop)
        }
      }
    }
  }
}
