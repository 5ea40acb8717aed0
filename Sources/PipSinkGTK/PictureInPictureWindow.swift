import CGTK
import Logging
import PipSink

/// A small window above all others that shows one stream, or two in a half each.
///
/// It has no border, is on all workspaces, in no taskbar or pager, and takes no focus when it appears. It is moved by
/// dragging it anywhere and then goes to the nearest corner of the screen, is resized at its corners and by the scroll
/// wheel, and keeps the shape of its picture. Controls come with the pointer; a double click goes back to the app. On
/// X11 all that is asked of the window manager (EWMH); on Wayland it is a surface on layer-shell's overlay layer, or,
/// where the compositor has none, an ordinary window with one warning.
@MainActor
public final class PictureInPictureWindow: PictureInPictureHost {
  /// The role (X11) and namespace (layer-shell) by which window managers know these windows.
  public static let role = "picture-in-picture"

  public let view: GTKVideoView
  public var renderer: any VideoRenderer { view.renderer }
  /// The right half's: made when somebody asks for it, unless the display server has gone by then.
  private var secondView: GTKVideoView?
  public var secondRenderer: (any VideoRenderer)? {
    if secondView == nil { secondView = try? GTKVideoView() }
    return secondView?.renderer
  }
  public var eventHandler: (@MainActor (PictureInPictureWindowEvent) -> Void)?
  /// A key was pressed in it; says whether it meant something. What it leaves, the window's own keys take: space, m, the
  /// arrows, Escape.
  public var keyPressed: ((_ keyval: UInt32) -> Bool)?
  /// A key was pressed that means nothing to the window either, or a control that it does not offer now.
  package var otherKeyPressed: ((_ keyval: UInt32) -> Void)?

  private(set) var window: GtkWidgetPointer
  let isLayer: Bool
  var placement: WindowPlacement
  /// The shape that the window manager keeps, and the window's size while that is about to change.
  var hintedAspectRatio: Double?
  var sizeBeforeReshaping: PictureSize?
  private(set) var isOpen = false
  var presentation: PictureInPicturePresentation?
  var controls: PictureInPictureControls
  let signals = SignalConnections()
  lazy var pointer = WindowPointer(self)
  private var halves: WindowHalves
  private var cover: PictureCover
  private var fade: Fade
  private var microphone: MicrophoneMark
  private let placementPath: String?
  private static var hasWarned = false

  /// Makes the window; ``open(_:)`` shows it.
  ///
  /// - Parameters:
  ///   - placement: where it is when nothing was remembered.
  ///   - placementPath: the file to remember its place in; nil to forget it.
  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
  public init(
    placement: WindowPlacement = WindowPlacement(), placementPath: String? = WindowPlacement.defaultPath
  ) throws(PipSinkError) {
    let kind = try GTKDisplay.open()
    view = try GTKVideoView()
    self.placementPath = placementPath
    self.placement = placementPath.flatMap { WindowPlacement.load(from: $0) } ?? placement
    isLayer = GTKDisplay.hasLayerShell
    if kind == .wayland, !isLayer, !Self.hasWarned {
      Self.hasWarned = true
      Logger(visible: "pipsink.gtk").warning(
        """
        this Wayland compositor has no layer-shell, so that picture-in-picture cannot stay above other windows; it is an \
        ordinary window
        """)
    }
    (window, halves, cover, microphone, controls) = Self.makeWidgets(around: view)
    fade = Fade(window)
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

  /// What picture-in-picture is on this display, before there is any window. Connects to the display server as
  /// ``GTKDisplay/open()`` does, so it is to be asked on the main thread.
  public static var support: PictureInPictureSupport {
    do throws(PipSinkError) {
      try GTKDisplay.open()
    } catch {
      return .unsupported(reason: "\(error)")
    }
    return limitationOfDisplay.map { .limited(reason: $0) } ?? .full
  }

  private static var limitationOfDisplay: String? {
    let support = DisplaySupport.current
    return support.staysAbove ? nil : "other windows can cover it: \(support.staysAboveReason)"
  }

  public var unsupportedReason: String? { GTKDisplay.isLost ? "the display server has gone" : nil }

  public var limitation: String? { GTKDisplay.isLost ? nil : Self.limitationOfDisplay }

  public func open(_ presentation: PictureInPicturePresentation) throws(PipSinkError) {
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
    // Only a compositing window manager can show what is half there. On Wayland it is the compositor that brings in a window.
    let fades = GTKDisplay.kind == .x11 && gdk_screen_is_composited(gtk_widget_get_screen(window)) != 0
    fade.stop(at: fades ? 0 : 1)
    gtk_widget_show(window)
    if fades { fade.run(to: 1) }
    // Some window managers place a window when it is mapped.
    snap(to: placement.corner)
    PictureInPictureDisplay.register(self)
  }

  public func close() {
    guard isOpen else { return }
    isOpen = false
    sizeBeforeReshaping = nil
    Self.stack.close(ObjectIdentifier(self))
    guard !GTKDisplay.isLost else { return }
    controls.hide()
    fade.stop(at: 1)
    gtk_widget_hide(window)
  }

  public func update(_ presentation: PictureInPicturePresentation) {
    guard !GTKDisplay.isLost, isOpen else { return }
    let old = self.presentation
    self.presentation = presentation
    controls.update(presentation)
    if old?.streamID != presentation.streamID || old?.secondStreamID != presentation.secondStreamID {
      let names = [presentation.streamID, presentation.secondStreamID].compactMap { $0?.rawValue }
      gtk_window_set_title(window.asWindow, "Picture in Picture: \(names.joined(separator: ", "))")
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
  public func image() -> BGRAImage? {
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
    let text: String? =
      switch content {
      case .video, .screenShare: nil
      case .cameraOff(let name): "\(name)\nCamera is off"
      case .reconnecting: "Reconnecting"
      case .ended(let name): "\(name)\nThe stream has ended"
      case .inactive: "No video"
      }
    cover.show(text)
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
    if let screen = PictureInPictureDisplay.screen { gtk_window_set_screen(window.asWindow, screen) }
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
    gtk_window_set_role(window, Self.role)
    gtk_window_set_accept_focus(window, 1)
    gtk_window_set_focus_on_map(window, 0)
    if isLayer {
      // With a default size instead, gtk-layer-shell 0.8 never draws the window.
      gtk_widget_set_size_request(self.window, gint(placement.width), gint(placement.height))
      gtk_layer_init_for_window(window)
      gtk_layer_set_namespace(window, Self.role)
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

  /// The window's connection has been ended from outside: another one is made on the app's.
  func displayDied() {
    let wasOpen = isOpen
    close()
    signals.disconnectAll()
    for view in [view, secondView].compactMap(\.self) {
      if let parent = gtk_widget_get_parent(view.widget) { gtk_container_remove(parent.asContainer, view.widget) }
    }
    gtk_widget_destroy(window)
    g_object_unref(window)
    presentation = nil
    (window, halves, cover, microphone, controls) = Self.makeWidgets(around: view)
    fade = Fade(window)
    setUp()
    if wasOpen { lose("it was killed") }
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
