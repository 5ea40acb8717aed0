/// A picture-in-picture window in memory, for programs without a display and for tests.
@MainActor
public final class OffscreenPictureInPictureWindow: PictureInPictureHost {
  private let tiles: OffscreenTiles
  /// The renderer of the window's first place.
  public var renderer: any VideoRenderer { tiles.renderers[0] }
  /// The renderers of the other places.
  public var otherRenderers: [any VideoRenderer] { Array(tiles.renderers.dropFirst()) }
  /// Why the window cannot be shown. It is nil unless a program sets it, for instance in a test.
  public var unsupportedReason: String?
  /// What the window calls when something happens to it. The controller sets it.
  public var eventHandler: (@MainActor (PictureInPictureWindowEvent) -> Void)?
  /// What the window shows; nil while it is closed.
  package private(set) var presentation: PictureInPicturePresentation? {
    didSet { tiles.rectangles = presentation?.rectangles(in: size) ?? [] }
  }
  /// Errors that the next calls of ``open(_:)`` throw, one each.
  var openFailures: [PipSinkError] = []

  /// Makes a closed window.
  ///
  /// - Parameter size: the window's size in pixels.
  /// - Throws: ``PipSinkError/Frame/invalidSize(width:height:)``, ``PipSinkError/Frame/outOfMemory(byteCount:)``.
  public init(size: PictureSize = PictureSize(width: 320, height: 180)) throws(PipSinkError) {
    tiles = try OffscreenTiles(size: size, count: PictureInPictureLayout.maximumPlaceCount)
    tiles.rectangles = []
  }

  /// Whether the window is open.
  package var isOpen: Bool { presentation != nil }

  /// The window's size in pixels.
  package var size: PictureSize { tiles.size }

  /// A copy of what the window shows; nil while it shows no picture.
  public func image() -> BGRAImage? {
    tiles.rectangles.dropFirst().contains { $0 != nil } ? tiles.image() : tiles.renderers[0].image()
  }

  /// Opens the window. If it was closed before, the controller gets its size as an event.
  public func open(_ presentation: PictureInPicturePresentation) throws(PipSinkError) {
    guard openFailures.isEmpty else { throw openFailures.removeFirst() }
    let wasOpen = isOpen
    self.presentation = presentation
    if !wasOpen { eventHandler?(.renderSizeChanged(size)) }
  }

  /// Changes what the window shows, while it is open.
  public func update(_ presentation: PictureInPicturePresentation) {
    if isOpen { self.presentation = presentation }
  }

  /// Closes the window.
  public func close() { presentation = nil }

  /// Does what a user would do with a control of the window. It does nothing while the window is closed.
  package func perform(_ action: PictureInPictureAction) {
    if isOpen { eventHandler?(.action(action)) }
  }

  /// Closes the window as if it had been destroyed from outside.
  func die(_ error: PipSinkError = .pictureInPicture(.windowLost(reason: "it was closed from outside"))) {
    guard isOpen else { return }
    close()
    eventHandler?(.lost(error))
  }
}
