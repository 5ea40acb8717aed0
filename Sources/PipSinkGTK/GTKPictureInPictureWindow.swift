import CGTK
import PipSink
import PipSinkWindows

/// A picture-in-picture window of GTK's on Wayland: a surface on layer-shell's overlay layer, or, where the compositor has
/// none and no Xwayland, an ordinary window with one warning.
@MainActor
final class GTKPictureInPictureWindow: PictureInPictureHost {
  let view: GTKVideoView
  var renderer: any VideoRenderer { view.renderer }
  /// The right half's: made when somebody asks for it, unless the display server has gone by then.
  private var secondView: GTKVideoView?
  var secondRenderer: (any VideoRenderer)? {
    if secondView == nil { secondView = try? GTKVideoView() }
    return secondView?.renderer
  }
  var eventHandler: (@MainActor (PictureInPictureWindowEvent) -> Void)?
  /// A key was pressed in it; says whether it meant something. What it leaves, the window's own keys take: space, m, the
  /// arrows, Escape.
  var keyPressed: ((_ keyval: UInt32) -> Bool)?
  /// A key was pressed that means nothing to the window either, or a control that it does not offer now.
  var otherKeyPressed: ((_ keyval: UInt32) -> Void)?

  let window: GtkWidgetPointer
  let isLayer: Bool
  var placement: WindowPlacement
  private(set) var isOpen = false
  var presentation: PictureInPicturePresentation?
  let controls: PictureInPictureControls
  let signals = SignalConnections()
  lazy var pointer = WindowPointer(self)
  private let halves: WindowHalves
  private let cover: PictureCover
  private let microphone: MicrophoneMark
  private let placementPath: String?

  /// Makes the window; ``open(_:)`` shows it.
  ///
  /// - Parameters:
  ///   - placement: where it is when nothing was remembered.
  ///   - placementPath: the file to remember its place in; nil to forget it.
  ///   - isLayer: whether it is on the compositor's overlay layer, which there must be then.
  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
  init(
    placement: WindowPlacement, placementPath: String?, isLayer: Bool
  ) throws(PipSinkError) {
    try GTKDisplay.open()
    view = try GTKVideoView()
    self.placementPath = placementPath
    self.placement = placementPath.flatMap { WindowPlacement.load(from: $0) } ?? placement
    self.isLayer = isLayer
    (window, halves, cover, microphone, controls) = Self.makeWidgets(around: view)
    setUp()
    view.renderSizeDidChange = { [weak self] size in
      guard let self, isOpen else { return }
      let isHalf = presentation?.secondStreamID != nil
      eventHandler?(.renderSizeChanged(PictureSize(width: size.width * (isHalf ? 2 : 1), height: size.height)))
    }
  }

  isolated deinit {
    Self.stack.close(ObjectIdentifier(self))
    if !GTKDisplay.isLost {
      gtk_widget_destroy(window)
      g_object_unref(window)
    }
  }

  // MARK: - PictureInPictureHost

  var unsupportedReason: String? { GTKDisplay.isLost ? "the display server has gone" : nil }

  var limitation: String? {
    GTKDisplay.isLost || isLayer ? nil : "other windows can cover it: \(PictureInPictureWindow.reasonForToplevel)"
  }

  func open(_ presentation: PictureInPicturePresentation) throws(PipSinkError) {
    guard !GTKDisplay.isLost else { throw .system(.displayUnavailable(reason: "the display server has gone")) }
    isOpen = true
    GTKDisplay.prepareActivation()
    update(presentation)
    chooseFreeCorner()
    snap(to: placement.corner)
    if !isLayer {
      // Window managers forget these when a window is hidden.
      gtk_window_set_keep_above(window.asWindow, 1)
      gtk_window_stick(window.asWindow)
      // And GTK remembers that the user had minimised it.
      gtk_window_deiconify(window.asWindow)
    }
    gtk_widget_show(window)
    // Some window managers place a window when it is mapped.
    snap(to: placement.corner)
  }

  func close() {
    guard isOpen else { return }
    isOpen = false
    Self.stack.close(ObjectIdentifier(self))
    guard !GTKDisplay.isLost else { return }
    controls.hide()
    gtk_widget_hide(window)
  }

  func update(_ presentation: PictureInPicturePresentation) {
    guard !GTKDisplay.isLost, isOpen else { return }
    let old = self.presentation
    self.presentation = presentation
    controls.update(presentation)
    if old?.streamID != presentation.streamID || old?.secondStreamID != presentation.secondStreamID {
      atk_object_set_description(gtk_widget_get_accessible(window), WindowIdentity.description(of: presentation))
    }
    if (old?.secondStreamID == nil) != (presentation.secondStreamID == nil), let secondView {
      halves.show(secondView, presentation.secondStreamID != nil)
    }
    if old?.content != presentation.content { showCover(presentation.content) }
    microphone.isShown = presentation.isMicrophoneOff
    if old?.aspectRatio != presentation.aspectRatio {
      resize(toWidth: placement.width)
      // What is dragged goes to its corner when it is let go.
      if !pointer.isActive { snap(to: placement.corner) }
    }
  }

  /// A copy of what it shows, in pixels of the screen; nil when it shows no picture.
  func image() -> BGRAImage? {
    let left = view.image()
    guard presentation?.secondStreamID != nil, let left, let right = secondView?.image() else { return left }
    let (width, height) = (left.size.width, left.size.height)
    return BGRAImage(
      size: PictureSize(width: width + right.size.width, height: height),
      parts: [
        (left, PictureRect(x: 0, y: 0, width: width, height: height)),
        (right, PictureRect(x: width, y: 0, width: right.size.width, height: height)),
      ])
  }

  /// Frames that were converted for it so far.
  var convertedFrameCount: UInt64 {
    view.convertedFrameCount + (secondView?.convertedFrameCount ?? 0)
  }

  /// Width divided by height of the picture; the window takes its shape. nil leaves it free.
  var aspectRatio: Double? { presentation?.aspectRatio }

  private func showCover(_ content: PictureInPictureContent) {
    cover.show(content.coverText)
  }

  // MARK: - Set-up

  /// The window with its view, what covers the view when there is no picture, the mark of a microphone that is off, and
  /// the controls.
  private static func makeWidgets(
    around view: GTKVideoView
  ) -> (
    window: GtkWidgetPointer, halves: WindowHalves, cover: PictureCover, microphone: MicrophoneMark,
    controls: PictureInPictureControls
  ) {
    let window: GtkWidgetPointer = gtk_window_new(GTK_WINDOW_TOPLEVEL)
    g_object_ref(window)
    Style.install(for: gtk_widget_get_screen(window))
    gtk_style_context_add_class(gtk_widget_get_style_context(window), "pipsink")
    let overlay: GtkWidgetPointer = gtk_overlay_new()
    gtk_container_add(window.asContainer, overlay)
    let halves = WindowHalves(left: view)
    gtk_container_add(overlay.asContainer, halves.widget)
    let cover = PictureCover()
    cover.add(to: overlay, over: view.widget)
    let microphone = MicrophoneMark()
    microphone.add(to: overlay, over: view.widget)
    let controls = PictureInPictureControls(in: overlay)
    gtk_widget_show(overlay)
    return (window, halves, cover, microphone, controls)
  }

  private func setUp() {
    let window = window.asWindow
    gtk_window_set_decorated(window, 0)
    gtk_window_set_title(window, WindowIdentity.title)
    gtk_window_set_role(window, WindowIdentity.role)
    gtk_window_set_accept_focus(window, 1)
    gtk_window_set_focus_on_map(window, 0)
    if isLayer {
      // With a default size instead, gtk-layer-shell 0.8 never draws the window.
      gtk_widget_set_size_request(self.window, gint(placement.width), gint(placement.height))
      gtk_layer_init_for_window(window)
      gtk_layer_set_namespace(window, WindowIdentity.role)
      gtk_layer_set_layer(window, GTK_LAYER_SHELL_LAYER_OVERLAY)
    } else {
      gtk_window_set_default_size(window, gint(placement.width), gint(placement.height))
      gtk_window_set_type_hint(window, GDK_WINDOW_TYPE_HINT_UTILITY)
      gtk_window_set_skip_taskbar_hint(window, 1)
      gtk_window_set_skip_pager_hint(window, 1)
    }
    controls.perform = { [weak self] action in self?.eventHandler?(.action(action)) }
    connectSignals()
  }

  /// It has gone without having been closed.
  func lose(_ reason: String) {
    close()
    eventHandler?(.lost(.pictureInPicture(.windowLost(reason: reason))))
  }

  func remember() {
    if let placementPath { placement.save(to: placementPath) }
  }

  // MARK: - Several windows

  /// Those that are open.
  private static var stack = WindowStack<ObjectIdentifier>()

  /// How far from the corner's edge it has to be to leave room for those that were there before.
  var stackOffset: Int { Self.stack.offset(of: ObjectIdentifier(self), in: placement.corner) }

  func notePlace() {
    if isOpen { Self.stack.note(placement, of: ObjectIdentifier(self)) }
  }

  /// Where its corner is full it takes another.
  private func chooseFreeCorner() {
    let own = ObjectIdentifier(self)
    Self.stack.open(own)
    placement.corner = Self.stack.freeCorner(for: placement, of: own, in: workArea)
    notePlace()
  }
}
