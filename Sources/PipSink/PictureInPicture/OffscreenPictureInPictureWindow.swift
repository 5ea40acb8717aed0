/// A picture-in-picture window in memory, for programs without a display and for tests.
@MainActor
public final class OffscreenPictureInPictureWindow: PictureInPictureHost {
  public let surface: OffscreenRenderer
  public var renderer: any VideoRenderer { surface }
  public var unsupportedReason: String?
  public var eventHandler: (@MainActor (PictureInPictureWindowEvent) -> Void)?
  /// What is shown; nil while it is closed.
  public private(set) var presentation: PictureInPicturePresentation?
  /// Thrown by the next ``open(_:)`` calls, as often as it has elements.
  var openFailures: [PipSinkError] = []

  /// - Throws: ``PipSinkError/Frame/invalidSize(width:height:)``.
  public init(size: PictureSize = PictureSize(width: 320, height: 180)) throws(PipSinkError) {
    surface = try OffscreenRenderer(size: size)
    surface.isVisible = false
  }

  public var isOpen: Bool { presentation != nil }

  public func open(_ presentation: PictureInPicturePresentation) throws(PipSinkError) {
    guard openFailures.isEmpty else { throw openFailures.removeFirst() }
    let wasOpen = isOpen
    self.presentation = presentation
    surface.isVisible = true
    if !wasOpen { eventHandler?(.renderSizeChanged(surface.size)) }
  }

  public func update(_ presentation: PictureInPicturePresentation) {
    if isOpen { self.presentation = presentation }
  }

  public func close() {
    presentation = nil
    surface.isVisible = false
  }

  /// Does what a user would do by a control.
  public func perform(_ action: PictureInPictureAction) {
    if isOpen { eventHandler?(.action(action)) }
  }

  /// Ends the window as its death would.
  func die(_ error: PipSinkError = .pictureInPicture(.windowLost(reason: "it was ended from outside"))) {
    guard isOpen else { return }
    close()
    eventHandler?(.lost(error))
  }
}
