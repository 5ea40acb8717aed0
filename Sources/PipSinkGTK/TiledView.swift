import CGTK
import PipSink

/// A widget that shows several streams.
@MainActor
protocol StreamViewContainer: GTKWidgetOwner {
  func add(_ view: RemoteVideoView)
  func remove(_ view: RemoteVideoView)
}

/// Any number of streams in rows and columns, as many of each as show them largest.
@MainActor
public final class GridVideoView: GTKWidgetOwner, StreamViewContainer {
  public private(set) var views: [RemoteVideoView] = []
  public var unsafeGtkWidget: UnsafeMutableRawPointer { UnsafeMutableRawPointer(tiles.widget) }

  private lazy var tiles = TiledView { [weak self] size in
    let views = self?.views ?? []
    return zip(views, GridLayout.frames(count: views.count, in: size)).map { ($0.overlay, $1) }
  }

  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
  public init() throws(PipSinkError) {
    // No widget can be made before.
    try GTKDisplay.open()
  }

  /// Whether one view comes before another; nil has every new one come last.
  var areInOrder: (@MainActor (RemoteVideoView, RemoteVideoView) -> Bool)?

  /// Adds a stream's view behind those that are there.
  public func add(_ view: RemoteVideoView) {
    views.insert(view, at: views.firstIndex { areInOrder?(view, $0) ?? false } ?? views.endIndex)
    tiles.add(view.overlay)
  }

  public func remove(_ view: RemoteVideoView) {
    guard let index = views.firstIndex(where: { $0 === view }) else { return }
    views.remove(at: index)
    tiles.remove(view.overlay)
  }
}

/// The own picture, over the whole width alone, or in one half with the other side's in the other.
///
/// ``showsRemote`` changes that while frames flow; the streams are not touched, and a remote picture that is not shown
/// is not converted either. ``PipSink/OffscreenSplitView`` does the same without a window.
@MainActor
public final class SplitVideoView: GTKWidgetOwner, StreamViewContainer {
  public var unsafeGtkWidget: UnsafeMutableRawPointer { UnsafeMutableRawPointer(tiles.widget) }

  public var local: RemoteVideoView? {
    didSet { replace([oldValue, remote]) }
  }

  public var remote: RemoteVideoView? {
    didSet { replace([local, oldValue]) }
  }

  /// Whether the remote picture is shown; at first it is not.
  public var showsRemote = false {
    didSet { if showsRemote != oldValue { tiles.rearrange() } }
  }

  private lazy var tiles = TiledView { [weak self] size in
    guard let self else { return [] }
    let frames = SplitLayout.frames(in: size, showsRemote: showsRemote && remote != nil)
    let places: [(RemoteVideoView?, PictureRect?)] = [(local, frames.local), (remote, frames.remote)]
    return places.compactMap { view, frame in view.map { ($0.overlay, frame) } }
  }

  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
  public init() throws(PipSinkError) {
    // No widget can be made before.
    try GTKDisplay.open()
  }

  /// The local one comes first.
  private func replace(_ old: [RemoteVideoView?]) {
    for old in old.compactMap(\.self) { tiles.remove(old.overlay) }
    for new in [local, remote].compactMap(\.self) { tiles.add(new.overlay) }
  }

  /// Takes the first place that is free; where both are taken it is not shown.
  func add(_ view: RemoteVideoView) {
    if local == nil { local = view } else if remote == nil { remote = view }
  }

  func remove(_ view: RemoteVideoView) {
    if local === view { local = nil } else if remote === view { remote = nil }
  }
}

/// A container that gives every child its own rectangle, anew whenever its size changes.
@MainActor
final class TiledView {
  let widget: GtkWidgetPointer
  private let layout: Layout
  private let signals = SignalConnections()

  /// Every child, and where it goes in a container of a size, in GTK's pixels; nil hides it.
  typealias Layout = @MainActor (PictureSize) -> [(child: GtkWidgetPointer, frame: PictureRect?)]

  init(layout: @escaping Layout) {
    self.layout = layout
    widget = gtk_overlay_new()
    g_object_ref_sink(widget)
    // What an overlay needs below its children; it is black.
    let background = gtk_drawing_area_new()
    gtk_container_add(widget.asContainer, background)
    gtk_widget_show(background)
    signals.connect(widget, "get-child-position") { [weak self] (parameters: UnsafePointer<GValue>) in
      guard let self, let child = g_value_get_object(parameters + 1),
        let allocation = g_value_get_boxed(parameters + 2)?.assumingMemoryBound(to: GdkRectangle.self),
        let rectangle = frame(of: child.assumingMemoryBound(to: GtkWidget.self))
      else { return false }
      allocation.pointee = GdkRectangle(
        x: gint(rectangle.x), y: gint(rectangle.y), width: gint(rectangle.width), height: gint(rectangle.height))
      return true
    }
  }

  isolated deinit {
    if !GTKDisplay.isLost {
      gtk_widget_destroy(widget)
      g_object_unref(widget)
    }
  }

  func add(_ child: GtkWidgetPointer) {
    guard !GTKDisplay.isLost else { return }
    gtk_overlay_add_overlay(widget.cast(), child)
    gtk_widget_show_all(child)
    rearrange()
  }

  func remove(_ child: GtkWidgetPointer) {
    guard !GTKDisplay.isLost else { return }
    gtk_container_remove(widget.asContainer, child)
    rearrange()
  }

  /// To be called when the layout has changed.
  func rearrange() {
    guard !GTKDisplay.isLost else { return }
    // Whether a child is shown does not depend on the size, which may not be known yet.
    for (child, frame) in layout(PictureSize(width: 1920, height: 1080)) {
      gtk_widget_set_visible(child, frame == nil ? 0 : 1)
    }
    gtk_widget_queue_resize(widget)
  }

  private func frame(of child: GtkWidgetPointer) -> PictureRect? {
    let size = PictureSize(
      width: Int(gtk_widget_get_allocated_width(widget)), height: Int(gtk_widget_get_allocated_height(widget)))
    return layout(size).first { $0.child == child }?.frame
  }
}
