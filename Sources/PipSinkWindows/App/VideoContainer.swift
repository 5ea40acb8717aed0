import PipSink

/// The views of several streams, laid out in one window, and what is drawn over them.
///
/// The ``VideoWindow`` or toolkit's widget that shows the container passes its size and pointer events on to it. A
/// change of layout does not affect the streams, and no frames are converted for views that are not shown.
@MainActor
public final class VideoContainer {
  /// How a container arranges its views.
  public enum Layout: Sendable {
    /// All views are in rows and columns, in the numbers that make the views largest.
    case grid
    /// The first view has the whole width, or shares it in halves with the second one while
    /// ``VideoContainer/showsRemote`` is true. Further views are not shown.
    case split
  }

  /// How the views are arranged.
  public let layout: Layout
  /// Who draws the frames of the views.
  public let renderer: WindowRenderer
  /// The views in their order.
  public private(set) var views: [RemoteVideoView] = []

  /// Whether the second view is shown in the split layout. It is false by default, and has no effect in the grid
  /// layout.
  public var showsRemote = false {
    didSet { if showsRemote != oldValue { arrange() } }
  }

  /// Returns whether one view comes before another. It determines the position of views that are added later; while it
  /// is nil, every new view comes last.
  public var areInOrder: (@MainActor (RemoteVideoView, RemoteVideoView) -> Bool)?

  private let overlay = WindowOverlay()
  private let gaps = WindowGaps()
  private weak var window: (any NativeWindow)?
  private var help: (text: String, image: OverlayImage, scale: Double)?
  /// The view that the pointer is on, or that a button is held on.
  private weak var hovered: RemoteVideoView?
  private var isButtonHeld = false
  private var size = PictureSize(width: 0, height: 0)

  /// Creates a container without views.
  ///
  /// - Parameters:
  ///   - layout: how the container arranges its views.
  ///   - renderer: who draws the frames of the views.
  public init(layout: Layout = .grid, renderer: WindowRenderer = .fromEnvironment) {
    (self.layout, self.renderer) = (layout, renderer)
  }

  /// Adds a view after the existing ones, or at the position that ``areInOrder`` determines.
  ///
  /// - Throws: ``PipSink/PipSinkError/System/displayUnavailable(reason:)`` when the window's display server has gone.
  ///   Nothing has changed then.
  public func add(_ view: RemoteVideoView) throws(PipSinkError) {
    if let window { try place(view, in: window) }
    view.changed = { [weak self] in self?.draw() }
    views.insert(view, at: views.firstIndex { areInOrder?(view, $0) ?? false } ?? views.endIndex)
    arrange()
  }

  /// Removes a view. Its layer stays attached to the view. It does nothing for a view of another container.
  public func remove(_ view: RemoteVideoView) {
    guard let index = views.firstIndex(where: { $0 === view }) else { return }
    views.remove(at: index)
    view.changed = nil
    view.rectangle = nil
    if let tile = view.tile {
      view.tile = nil
      window?.remove(tile)
    }
    arrange()
  }

  /// Shows a text over all views, or hides it when one is shown already.
  ///
  /// - Parameter text: the text, in lines that are shown in a monospaced font.
  public func toggleHelp(_ text: String) {
    let scale = window?.scale ?? 1
    help = help == nil ? (text, OverlayDrawing.help(text, scale: scale), scale) : nil
    draw()
  }

  // MARK: - In a window

  /// Shows the views in a window that shows no other container.
  package func show(in window: any NativeWindow) throws(PipSinkError) {
    for view in views { try place(view, in: window) }
    self.window = window
    size = window.size
    arrange()
  }

  private func place(_ view: RemoteVideoView, in window: any NativeWindow) throws(PipSinkError) {
    let tile = try window.makeTile(decoration: overlay, renderer: renderer)
    view.look = window.look
    view.tile = tile
  }

  /// Stops showing the views in the window, for instance because it has been destroyed.
  package func leaveWindow() {
    for view in views {
      view.tile?.leaveWindow()
      view.tile = nil
    }
    gaps.leaveWindow()
    window = nil
    hovered = nil
  }

  /// Handles an event of the window.
  ///
  /// - Returns: whether the event was meant for the container alone.
  @discardableResult
  package func handle(_ event: WindowEvent) -> Bool {
    switch event {
    case .resized(let size):
      // It may also be another look, or another scale, in the same size.
      if let look = window?.look { for view in views where view.look != look { view.look = look } }
      self.size = size
      arrange()
    case .exposed: draw()
    case .moved(let place):
      let view = isButtonHeld ? hovered : view(at: place)
      if view !== hovered { leave() }
      hovered = view
      return send(place, to: view) { .moved(x: $0, y: $1) }
    case .pressed(let button, let place, _):
      hovered = view(at: place)
      isButtonHeld = true
      return send(place, to: hovered) { .pressed(button: button, x: $0, y: $1) }
    case .released(let button, let place):
      isButtonHeld = false
      return send(place, to: hovered) { .released(button: button, x: $0, y: $1) }
    case .scrolled(let place, let deltaX, let deltaY):
      return send(place, to: view(at: place)) { .scrolled(x: $0, y: $1, deltaX: deltaX, deltaY: deltaY) }
    case .left:
      leave()
      hovered = nil
    case .entered, .key, .keyboard, .closeRequested, .stateChanged, .screenChanged, .dragLost, .lost: break
    }
    return false
  }

  /// Tells the view that the pointer was on.
  private func leave() {
    guard let hovered else { return }
    hovered.pointerDidLeave()
    if let size = hovered.rectangle?.size { hovered.pointerHandler?(.left, size) }
  }

  private func view(at place: WindowEvent.Place) -> RemoteVideoView? {
    views.first { $0.rectangle?.contains(x: Int(place.x), y: Int(place.y)) == true }
  }

  private func send(
    _ place: WindowEvent.Place, to view: RemoteVideoView?, _ event: (Double, Double) -> PointerEvent
  ) -> Bool {
    guard let view, let rectangle = view.rectangle else { return false }
    let event = event(place.x - Double(rectangle.x), place.y - Double(rectangle.y))
    if view.handle(event, scale: window?.scale ?? 1) { return true }
    view.pointerHandler?(event, rectangle.size)
    return false
  }

  // MARK: - Layout

  private func arrange() {
    let rectangles = rectangles()
    for (index, view) in views.enumerated() { view.rectangle = index < rectangles.count ? rectangles[index] : nil }
    let hasGaps = size.isValid && layout == .grid
    gaps.move(to: hasGaps ? GridLayout.gaps(beside: rectangles.compactMap(\.self), in: size) : [], in: window)
    draw()
    window?.flush()
  }

  private func rectangles() -> [PictureRect?] {
    guard size.isValid else { return [] }
    switch layout {
    case .grid: return GridLayout.rectangles(count: views.count, in: size)
    case .split:
      let places = SplitLayout.rectangles(in: size, showsRemote: showsRemote && views.count > 1)
      return [places.local, places.remote]
    }
  }

  private func draw() {
    guard let window, !window.isBroken, size.isValid else { return }
    let scale = window.scale
    var parts = views.flatMap { $0.overlayParts(scale: scale, isAmongOthers: views.count > 1) }
    if let help {
      let image = help.scale == scale ? help.image : OverlayDrawing.help(help.text, scale: scale)
      self.help = (help.text, image, scale)
      parts.append(
        .init(image: image, origin: ((size.width - image.size.width) / 2, (size.height - image.size.height) / 2)))
    }
    overlay.set(parts, over: views.filter { $0.rectangle != nil }.map(\.place))
    gaps.draw(help.map { _ in parts.suffix(1) } ?? [])
  }
}
