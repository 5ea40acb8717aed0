import CGTK
import PipSink

/// Any number of streams in rows and columns, as many of each as show them largest.
@MainActor
public final class GridVideoView: GTKWidgetOwner {
  public private(set) var views: [RemoteVideoView] = []
  public var unsafeGtkWidget: UnsafeMutableRawPointer { UnsafeMutableRawPointer(tiles.widget) }

  private let tiles: TiledView

  /// - Throws: ``PipSinkError/displayUnavailable(reason:)``.
  public init() throws(PipSinkError) {
    // No widget can be made before.
    try GTKDisplay.open()
    tiles = TiledView { count, size in GridLayout.frames(count: count, in: size) }
  }

  /// Adds a stream's view behind those that are there.
  public func add(_ view: RemoteVideoView) {
    views.append(view)
    tiles.add(view.overlay)
  }

  public func remove(_ view: RemoteVideoView) {
    guard let index = views.firstIndex(where: { $0 === view }) else { return }
    views.remove(at: index)
    tiles.remove(view.overlay)
  }
}
