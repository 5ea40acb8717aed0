/// A picture-in-picture window in memory, for programs without a display and for tests.
@MainActor
public final class OffscreenPictureInPictureWindow: PictureInPictureHost {
  private let split: OffscreenSplitView
  /// The picture: all of the window, or its left half beside a second stream.
  public var surface: OffscreenRenderer { split.local }
  public var renderer: any VideoRenderer { split.local }
  public var secondRenderer: (any VideoRenderer)? { split.remote }
  public var unsupportedReason: String?
  public var eventHandler: (@MainActor (PictureInPictureWindowEvent) -> Void)?
  /// What is shown; nil while it is closed.
  public private(set) var presentation: PictureInPicturePresentation? {
    didSet {
      split.local.isVisible = isOpen
      split.showsRemote = presentation?.secondStreamID != nil
    }
  }
  /// Thrown by the next ``open(_:)`` calls, as often as it has elements.
  var openFailures: [PipSinkError] = []

  /// - Throws: ``PipSinkError/Frame/invalidSize(width:height:)``.
  public init(size: PictureSize = PictureSize(width: 320, height: 180)) throws(PipSinkError) {
    split = try OffscreenSplitView(size: size)
    split.local.isVisible = false
  }

  public var isOpen: Bool { presentation != nil }

  /// In pixels.
  public var size: PictureSize { split.size }

  /// A copy of what it shows; nil before its first picture.
  public func image() -> BGRAImage? {
    split.showsRemote ? split.image() : split.local.image()
  }

  public func open(_ presentation: PictureInPicturePresentation) throws(PipSinkError) {
    guard openFailures.isEmpty else { throw openFailures.removeFirst() }
    let wasOpen = isOpen
    self.presentation = presentation
    if !wasOpen { eventHandler?(.renderSizeChanged(size)) }
  }

  public func update(_ presentation: PictureInPicturePresentation) {
    if isOpen { self.presentation = presentation }
  }

  public func close() { presentation = nil }

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
