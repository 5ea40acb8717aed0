import CGTK
import PipSink

/// The own picture, over the whole width alone, or in one half with the other side's in the other.
///
/// ``showsRemote`` changes that while frames flow; the streams are not touched, and a remote picture that is not shown
/// is not converted either. ``PipSink/OffscreenSplitView`` does the same without a window.
@MainActor
public final class SplitVideoView: GTKWidgetOwner {
  public var unsafeGtkWidget: UnsafeMutableRawPointer { UnsafeMutableRawPointer(tiles.widget) }

  private let tiles: TiledView
  private let state = State()

  /// What the layout needs to know; it must not keep the view.
  @MainActor
  private final class State {
    var local: RemoteVideoView?
    var remote: RemoteVideoView?
    var showsRemote = false

    func frames(in size: PictureSize) -> [PictureRect?] {
      let frames = SplitLayout.frames(in: size, showsRemote: showsRemote && remote != nil)
      return (local == nil ? [] : [frames.local]) + (remote == nil ? [] : [frames.remote])
    }
  }

  /// - Throws: ``PipSinkError/displayUnavailable(reason:)``.
  public init() throws(PipSinkError) {
    try GTKDisplay.open()
    let state = state
    tiles = TiledView { _, size in state.frames(in: size) }
  }

  public var local: RemoteVideoView? {
    get { state.local }
    set { replace(newValue, state.remote) }
  }

  public var remote: RemoteVideoView? {
    get { state.remote }
    set { replace(state.local, newValue) }
  }

  /// Whether the remote picture is shown; at first it is not.
  public var showsRemote: Bool {
    get { state.showsRemote }
    set {
      guard newValue != state.showsRemote else { return }
      state.showsRemote = newValue
      tiles.rearrange()
    }
  }

  /// The local one comes first.
  private func replace(_ local: RemoteVideoView?, _ remote: RemoteVideoView?) {
    for old in [state.local, state.remote].compactMap(\.self) { tiles.remove(old.overlay) }
    (state.local, state.remote) = (local, remote)
    for new in [local, remote].compactMap(\.self) { tiles.add(new.overlay) }
  }
}
