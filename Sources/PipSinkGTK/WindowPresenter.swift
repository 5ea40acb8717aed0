import PipSink

/// Takes a view's pictures to the display server past GTK.
///
/// Its functions without a word about the thread are called on the presenting thread, one at a time.
protocol WindowPresenter: Sendable {
  /// A picture in memory that the display server reads; nil when there is none.
  ///
  /// - Parameter window: the GdkWindow that it is for.
  @MainActor func makePicture(_ size: PictureSize, for window: OpaquePointer) -> CairoPicture?

  /// Says where pictures go from now on: nowhere where `area` is nil.
  @MainActor func place(_ area: WindowArea?) -> WindowPlacementResult

  /// What has been put is no longer to be seen; GTK has painted what is.
  @MainActor func withdraw()

  /// The window goes away, or the view leaves it.
  @MainActor func leaveWindow()

  /// Whether the picture can be drawn on, or soon; from any thread.
  func isFree(_ picture: CairoPicture) -> Bool

  /// Waits until the picture can be drawn on, where that is soon.
  func reclaim(_ picture: CairoPicture)

  /// Shows a picture.
  ///
  /// - Returns: whether it could; if not, GTK has to paint it.
  func put(_ picture: CairoPicture, in area: WindowArea) -> Bool

  /// Pictures that the display server keeps for itself while others are shown.
  var keptPictureCount: Int { get }

  /// Whether what GTK paints at the same time may come to lie over what is put.
  var isCoveredByPainting: Bool { get }
}

enum WindowPlacementResult {
  /// GTK has to paint the view's pictures.
  case unavailable
  case placed
  /// As above, once GTK has painted the window.
  case placedAnew
}

extension WindowPresenter {
  @MainActor func place(_ area: WindowArea?) -> WindowPlacementResult { area == nil ? .unavailable : .placed }
  @MainActor func withdraw() {}
  @MainActor func leaveWindow() {}
}
