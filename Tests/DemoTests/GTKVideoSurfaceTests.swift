import Testing

@testable import PipSink
@testable import PipSinkGTK

/// What goes on between a display layer's thread and GTK's, without a display: the pictures are Cairo's own.
@MainActor @Suite struct GTKVideoSurfaceTests {
  private static let size = PictureSize(width: 32, height: 18)
  private static let area = WindowArea(
    windowID: 1, origin: (0, 0), size: size, scale: 1, rectangles: [PictureRect(x: 0, y: 0, width: 32, height: 18)])
  /// Asked for nothing but whether there is one.
  private static let window = OpaquePointer(bitPattern: 1)
  private static let (white, red): ([UInt8], [UInt8]) = ([255, 255, 255], [0, 0, 255])

  /// What takes pictures past GTK, as on X11.
  private final class Presenter: WindowPresenter {
    struct State {
      var put: [ObjectIdentifier] = []
      var withdrawals = 0
      var made = 0
      var leaves = 0
      var refuses = false
      var placement: WindowPlacementResult?
      var busy: Set<ObjectIdentifier> = []
    }
    let state = Locked(State())
    let isCoveredByPainting: Bool
    let keptPictureCount: Int

    init(isCoveredByPainting: Bool = true, keptPictureCount: Int = 0) {
      self.isCoveredByPainting = isCoveredByPainting
      self.keptPictureCount = keptPictureCount
    }

    func makePicture(_ size: PictureSize, for window: OpaquePointer) -> CairoPicture? {
      state.withLock { $0.made += 1 }
      return nil
    }
    func place(_ area: WindowArea?) -> WindowPlacementResult {
      state.withLock { $0.placement } ?? (area == nil ? .unavailable : .placed)
    }
    func withdraw() { state.withLock { $0.withdrawals += 1 } }
    func leaveWindow() { state.withLock { $0.leaves += 1 } }
    func isFree(_ picture: CairoPicture) -> Bool { !state.withLock { $0.busy.contains(ObjectIdentifier(picture)) } }
    func reclaim(_ picture: CairoPicture) {}
    func put(_ picture: CairoPicture, in area: WindowArea) -> Bool {
      state.withLock { state in
        guard !state.refuses else { return false }
        state.put.append(ObjectIdentifier(picture))
        return true
      }
    }
    var putCount: Int { state.withLock { $0.put.count } }
  }

  private final class View {
    let surface: GTKVideoSurface
    let requests = Locked(0)
    let needs = Locked(0)

    init(_ presenter: Presenter? = nil) {
      let (requests, needs) = (requests, needs)
      surface = GTKVideoSurface(presenter: presenter) { requests.withLock { $0 += 1 } }
      surface.setNeedsDisplayHandler { needs.withLock { $0 += 1 } }
    }

    var requestCount: Int { requests.withLock { $0 } }
    var needsCount: Int { needs.withLock { $0 } }
  }

  private func shown(_ presenter: Presenter? = nil, _ area: WindowArea? = nil) -> View {
    let view = View(presenter)
    view.surface.update(size: Self.size, isVisible: true, window: Self.window, area: area)
    return view
  }

  private func render(_ view: View, _ color: [UInt8]) throws {
    try view.surface.render(PlainFrame.make(color), gravity: .resize)
  }

  /// What GTK would paint.
  private func painted(_ view: View) -> [UInt8]? {
    view.surface.pictureToPaint().map { picture in (0..<3).map { picture.pixels[$0] } }
  }

  @Test func aPictureIsPaintedOnceItIsThereAndStays() throws {
    let view = shown()
    #expect(painted(view) == nil && view.surface.image() == nil)
    try render(view, Self.red)
    #expect(view.surface.image()?.pixel(31, 17).prefix(3) == Self.red[...])
    #expect(painted(view) == Self.red && painted(view) == Self.red)
    try render(view, Self.white)
    #expect(painted(view) == Self.white)
    #expect(view.surface.convertedCount == 2)
  }

  @Test func aSurfaceWithNothingToDrawOnIsRebuiltAndShowsTheSameFrame() async throws {
    let view = View()
    // Without a window there are no pictures.
    view.surface.update(size: Self.size, isVisible: true, window: nil)
    let layer = SampleBufferDisplayLayer(name: "test", renderer: view.surface)
    layer.enqueue(try PlainFrame.make(Self.red))
    #expect(try await eventually { layer.statistics.presented == 1 })
    #expect(layer.statistics.rebuilt == 1 && layer.error == nil)
    #expect(painted(view) == Self.red)
    layer.enqueue(try PlainFrame.make(Self.white))
    #expect(try await eventually { layer.statistics.presented == 2 && painted(view) == Self.white })
    #expect(layer.statistics.rebuilt == 1)
    layer.detach()
  }

  @Test func rebuildingHasTheServersMemoryMadeAnewToo() throws {
    let presenter = Presenter()
    let view = shown(presenter, Self.area)
    let made = presenter.state.withLock { $0.made }
    view.surface.update(size: Self.size, isVisible: true, window: Self.window, area: Self.area)
    #expect(presenter.state.withLock { $0.made } == made && made == 3)
    try view.surface.rebuild()
    #expect(view.requestCount == 1, "GTK's thread is to come by")
    try render(view, Self.red)
    view.surface.update(size: Self.size, isVisible: true, window: Self.window, area: Self.area)
    #expect(presenter.state.withLock { $0.made } == 2 * made)
    try render(view, Self.white)
    #expect(painted(view) == Self.white)
    view.surface.updateSize()
    #expect(view.requestCount == 2)
  }

  @Test func paintingIsAskedForOnceUntilItHappens() throws {
    let view = shown()
    for _ in 0..<3 { try render(view, Self.red) }
    #expect(view.requestCount == 1)
    _ = painted(view)
    try render(view, Self.red)
    #expect(view.requestCount == 2)
  }

  @Test func theNewestOfManyPicturesIsPainted() throws {
    let view = shown()
    for number in 0..<10 {
      try render(view, [UInt8(number), 0, 0])
      if number % 4 == 3 { #expect(painted(view)?.first == UInt8(number)) }
    }
    #expect(painted(view)?.first == 9)
  }

  @Test func whatGTKPaintsIsNotDrawnOnMeanwhile() throws {
    let view = shown()
    try render(view, Self.red)
    let picture = try #require(view.surface.pictureToPaint())
    for _ in 0..<5 { try render(view, Self.white) }
    #expect((0..<3).map { picture.pixels[$0] } == Self.red)
  }

  @Test func nothingIsConvertedThatNobodySees() throws {
    let view = View()
    try render(view, Self.red)
    view.surface.update(size: Self.size, isVisible: false, window: Self.window)
    try render(view, Self.red)
    view.surface.update(size: nil, isVisible: true)
    try render(view, Self.red)
    #expect(view.surface.convertedCount == 0 && view.requestCount == 0)
    #expect(!view.surface.isVisible && view.surface.renderSize == nil)
  }

  @Test func theNewestFrameIsAskedForWhenTheViewIsSeenOrHasAnotherSize() {
    let view = View()
    let update = { (size: PictureSize?, isVisible: Bool) in
      let before = view.needsCount
      view.surface.update(size: size, isVisible: isVisible, window: Self.window)
      return view.needsCount > before
    }
    #expect(!update(Self.size, false))
    #expect(update(Self.size, true))
    #expect(!update(Self.size, true))
    #expect(update(PictureSize(width: 64, height: 36), true))
    #expect(!update(nil, true))
    #expect(update(Self.size, true))
    #expect(!update(Self.size, false))
    #expect(view.surface.renderSize == Self.size && !view.surface.isVisible)
  }

  @Test func picturesHaveTheViewsNewSize() throws {
    let view = shown()
    try render(view, Self.red)
    view.surface.update(size: PictureSize(width: 64, height: 36), isVisible: true, window: Self.window)
    // The old one, until there is another.
    #expect(view.surface.image()?.size == Self.size)
    for _ in 0..<4 {
      try render(view, Self.white)
      #expect(view.surface.image()?.size == PictureSize(width: 64, height: 36))
      _ = painted(view)
    }
  }

  @Test func anImageThatIsRemovedIsGoneAndTheNextOneIsShown() throws {
    let view = shown()
    try render(view, Self.red)
    _ = painted(view)
    try render(view, Self.white)
    let before = view.requestCount
    view.surface.removeImage()
    view.surface.removeImage()
    #expect(view.requestCount <= before + 1)
    #expect(view.surface.image() == nil)
    #expect(painted(view) == nil)
    try render(view, Self.red)
    #expect(view.surface.image() != nil && painted(view) == Self.red)
    // A picture that comes before GTK has painted the removal takes its place.
    view.surface.removeImage()
    try render(view, Self.white)
    #expect(view.surface.image() != nil && painted(view) == Self.white)
  }

  @Test func manyRemovalsLoseNoPictures() throws {
    let view = shown()
    for number in 0..<20 {
      try render(view, [UInt8(number), 0, 0])
      if number % 2 == 0 { _ = painted(view) }
      view.surface.removeImage()
      if number % 3 == 0 { _ = painted(view) }
    }
    try render(view, Self.red)
    #expect(painted(view) == Self.red)
  }

  // MARK: - Past GTK

  @Test func aPictureGoesPastGTKWhereThatIsPossible() throws {
    let presenter = Presenter()
    let view = shown(presenter, Self.area)
    try render(view, Self.red)
    #expect(presenter.putCount == 1 && view.requestCount == 0)
    presenter.state.withLock { $0.refuses = true }
    try render(view, Self.red)
    #expect(view.requestCount == 1, "GTK paints what could not be put")
  }

  @Test func aPictureOfAnotherSizeThanItsPlaceIsGTKs() throws {
    let presenter = Presenter()
    let view = View(presenter)
    view.surface.update(
      size: PictureSize(width: 64, height: 36), isVisible: true, window: Self.window, area: Self.area)
    try render(view, Self.red)
    #expect(presenter.putCount == 0 && view.requestCount == 1)
  }

  @Test(arguments: [false, true]) func whatGTKHasUnderWayMayCoverWhatGoesPastIt(isCovered: Bool) throws {
    let presenter = Presenter(isCoveredByPainting: isCovered)
    let view = shown(presenter, Self.area)
    _ = painted(view)
    try render(view, Self.red)
    #expect(presenter.putCount == 1 && view.requestCount == (isCovered ? 1 : 0))
    _ = painted(view)
    view.surface.didPaint()
    try render(view, Self.red)
    #expect(presenter.putCount == 2 && view.requestCount == (isCovered ? 1 : 0))
  }

  @Test func aPlaceThatCannotBeUsedOrThatWasLeftGetsNoPictures() throws {
    let presenter = Presenter()
    let view = shown(presenter, Self.area)
    view.surface.leaveWindow()
    try render(view, Self.red)
    #expect(presenter.putCount == 0 && view.requestCount == 1)
    #expect(presenter.state.withLock { $0.leaves } == 1)
    presenter.state.withLock { $0.placement = .unavailable }
    view.surface.update(size: Self.size, isVisible: true, window: Self.window, area: Self.area)
    try render(view, Self.red)
    #expect(presenter.putCount == 0)
  }

  @Test func gtkPaintsWhenPicturesHaveAnotherPlace() {
    let presenter = Presenter()
    let view = shown(presenter, Self.area)
    for (placement, mustPaint) in [(WindowPlacementResult.placed, false), (.placedAnew, true), (.unavailable, false)] {
      presenter.state.withLock { $0.placement = placement }
      let result = view.surface.update(size: Self.size, isVisible: true, window: Self.window, area: Self.area)
      #expect(result == mustPaint, "\(placement)")
    }
  }

  @Test func whatWasPutGoesWhenGTKHasPaintedAllThereIs() throws {
    let presenter = Presenter()
    let withdrawals = { presenter.state.withLock { $0.withdrawals } }
    let view = shown(presenter, Self.area)
    // There is no picture: the view is black.
    view.surface.didPaint()
    #expect(withdrawals() == 1)
    try render(view, Self.red)
    _ = painted(view)
    view.surface.didPaint()
    #expect(withdrawals() == 1, "the picture that was put is the one to see")
    // Stretched until there is one of the view's new size.
    view.surface.update(
      size: PictureSize(width: 64, height: 36), isVisible: true, window: Self.window, area: Self.area)
    view.surface.didPaint()
    #expect(withdrawals() == 2)
    view.surface.update(size: Self.size, isVisible: true, window: Self.window, area: nil)
    try render(view, Self.red)
    view.surface.didPaint()
    #expect(withdrawals() == 3)
  }

  @Test func aPictureThatTheServerReadsIsNotDrawnOnWhileThereIsAnother() throws {
    let presenter = Presenter(keptPictureCount: 1)
    let view = shown(presenter, Self.area)
    try render(view, Self.red)
    for _ in 0..<12 {
      // The server shows one, and has the next already.
      let kept = presenter.state.withLock { Set($0.put.suffix(2)) }
      presenter.state.withLock { $0.busy = kept }
      try render(view, Self.white)
      #expect(presenter.state.withLock { $0.put.last.map { !kept.contains($0) } } == true)
    }
  }
}
