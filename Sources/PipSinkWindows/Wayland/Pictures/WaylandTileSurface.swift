import CWindows
import PipSink

/// The compositor's objects of a tile that is attached to a window: a subsurface for the pictures, and where the tile
/// must not cover its window completely, another one for their lowest row.
///
/// The tile uses it while it holds the lock on its state. It flushes the connection afterwards.
struct WaylandTileSurface {
  typealias Place = WaylandTile.Place

  /// The window's surface.
  private let parent: WaylandReference<WLSurface>
  private let main: WaylandSubsurface
  private let edge: WaylandSubsurface?
  private let alpha: WaylandObject<WPAlphaModifierSurface>?
  private let frameFormats: WaylandFrameFormats?
  /// What is drawn over a frame that the compositor reads itself.
  private var decoration: WaylandDecoration
  /// The part of the picture that the compositor shows; nil for all of it.
  private var source: PictureRect?
  /// What the compositor knows of the picture's YUV.
  private var colors: (object: WaylandObject<WPColorRepresentationSurface>, value: WaylandColors)?
  private let isForeign: Bool
  /// The place whose size the compositor knows, or nil while no picture is shown.
  private var shownPlace: Place?
  /// The opacity that the compositor knows.
  private var opacity = UInt32.max

  /// - Parameters:
  ///   - globals: the compositor's objects.
  ///   - parent: the window's wl_surface.
  ///   - isForeign: whether the window belongs to a toolkit, as in ``WaylandTile/init(_:_:decoration:isForeign:)``.
  ///   - outputsChanged: as in ``WaylandTile/attach(to:outputsChanged:scaleChanged:)``.
  ///   - scaleChanged: as there.
  /// - Returns: nil when libwayland cannot allocate memory.
  init?(
    _ globals: WaylandTile.Globals, over parent: WaylandReference<WLSurface>, isForeign: Bool,
    outputsChanged: (@Sendable (_ output: WaylandReference<WLOutput>, _ isOn: Bool) -> Void)?,
    scaleChanged: (@Sendable (Double) -> Void)?
  ) {
    guard
      let main = WaylandSubsurface(globals, over: parent, outputsChanged: outputsChanged, scaleChanged: scaleChanged)
    else { return nil }
    (self.parent, self.main, self.isForeign, frameFormats) = (parent, main, isForeign, globals.frameFormats)
    decoration = WaylandDecoration(globals, over: parent, main.surface.reference)
    edge = isForeign ? WaylandSubsurface(globals, over: parent) : nil
    alpha = globals.alphaModifier?.getSurface(main.surface.reference)
  }

  /// The number of a picture's rows that are in the lowest row of the window's units.
  ///
  /// - Parameters:
  ///   - place: the picture's place.
  ///   - isForeign: whether the window belongs to a toolkit. In other windows there is no such row.
  static func edgeRows(_ place: Place, isForeign: Bool) -> Int {
    guard isForeign, place.units.height > 1 else { return 0 }
    return max(1, min(place.pixels.height / place.units.height, place.pixels.height - 1))
  }

  /// Moves and resizes the tile. A picture of another size is stretched until there is a new one.
  ///
  /// - Parameters:
  ///   - place: the new place.
  ///   - stretches: whether there is a picture that the compositor can stretch.
  mutating func move(to place: Place, stretches: Bool) {
    main.move(toX: place.units.x, y: place.units.y)
    edge?.move(toX: place.units.x, y: place.units.y + place.units.height - 1)
    if stretches, shownPlace?.units.size != place.units.size {
      setSize(place)
      commit()
      edge?.surface.commit()
    }
    // A toolkit commits its surface itself.
    if !isForeign { parent.commit() }
  }

  /// Hides the tile until a picture is attached again.
  mutating func hide() {
    if let shownPlace { decoration.show(nil, over: shownPlace, scale: 1) }
    shownPlace = nil
    main.hide()
    edge?.hide()
  }

  /// Sets the opacity for the next commit, where the compositor supports that (wp_alpha_modifier).
  ///
  /// - Returns: whether there is something to commit.
  mutating func setOpacity(_ opacity: UInt32) -> Bool {
    guard let alpha, self.opacity != opacity else { return false }
    alpha.setMultiplier(opacity)
    self.opacity = opacity
    setOpaque()
    return true
  }

  /// Attaches a picture for the next commit, except for one that OpenGL attaches itself. Its lowest row, if it is a picture
  /// of its own, is shown at once.
  ///
  /// - Parameter scale: the number of pixels in a unit.
  mutating func attach(_ picture: WaylandPicture, at place: Place, scale: Double) {
    setSize(place)
    if let edge, let image = picture.image, image.edgeRows > 0 {
      image.attachEdge(to: edge.surface)
      edge.surface.commit()
    }
    let frame = picture.frame
    if frame?.source != source {
      main.setSource(frame?.source)
      source = frame?.source
    }
    setColors(frame?.memory.way.colors)
    decoration.show(frame?.decoration, over: place, scale: scale)
    switch picture {
    case .image(let image): image.attach(to: main.surface)
    case .frame(let frame): frame.attach(to: main.surface)
    case .drawn: break
    }
  }

  /// Tells the compositor how the picture's YUV becomes RGB; nil for a picture that is RGB.
  private mutating func setColors(_ colors: WaylandColors?) {
    guard colors != self.colors?.value else { return }
    // The object that says so may not exist when an RGB picture is shown.
    guard let colors, let object = self.colors?.object ?? frameFormats?.colors(of: main.surface) else {
      self.colors?.object.destroy()
      self.colors = nil
      return
    }
    object.setCoefficientsAndRange(colors.coefficients, colors.range)
    self.colors = (object, colors)
  }

  /// The surface of the pictures, which OpenGL draws on.
  var native: WaylandObject<WLSurface> { main.surface }

  /// Asks the compositor to say when it wants another picture than the one that is committed next.
  ///
  /// - Parameter handler: called on the thread that reads the connection.
  func requestFrame(_ handler: @escaping @Sendable () -> Void) -> WaylandProxy? {
    main.surface.frame { events in events.done { _ in handler() } }
  }

  /// Asks the compositor when the picture that is committed next is on the screen, as in
  /// ``WaylandPresentation/ask(_:_:)``.
  func askForScreenTime(
    _ presentation: WaylandPresentation,
    _ answer: @escaping @Sendable ((shownAt: MonotonicTime, refreshInterval: UInt64)?) -> Void
  ) -> WaylandProxy? {
    presentation.ask(main.surface.reference, answer)
  }

  /// Makes the compositor show the new state.
  func commit() { main.surface.commit() }

  func destroy() {
    colors?.object.destroy()
    decoration.destroy()
    alpha?.destroy()
    edge?.destroy()
    main.destroy()
  }

  /// Sets the surfaces' sizes for their next commits.
  private mutating func setSize(_ place: Place) {
    guard shownPlace != place else { return }
    let (size, pixels) = (place.units.size, place.pixels)
    let edgeRows = Self.edgeRows(place, isForeign: isForeign)
    main.setSize(mainSize(place), pixels: PictureSize(width: pixels.width, height: pixels.height - edgeRows))
    edge?.setSize(
      PictureSize(width: size.width, height: 1), pixels: PictureSize(width: pixels.width, height: edgeRows))
    shownPlace = place
    setOpaque()
  }

  /// Tells the compositor that the pictures have no transparent pixels, so that it need not draw what they cover. That
  /// is not true of the lowest row, which must not count as covering the window.
  private func setOpaque() {
    guard let shownPlace else { return }
    main.setOpaque(opacity == .max ? mainSize(shownPlace) : nil)
  }

  /// The size of the picture without its lowest row, in the window's units.
  private func mainSize(_ place: Place) -> PictureSize {
    PictureSize(width: place.units.width, height: place.units.height - (edge == nil ? 0 : 1))
  }
}
