import CGTK
import PipSink

/// A stream's place in a window: its picture or what stands there instead, its name, whether its microphone is off, and a
/// button for picture-in-picture.
///
/// It owns one display layer, which follows its bounds, and which can be exchanged while frames flow.
@MainActor
public final class RemoteVideoView: GTKWidgetOwner {
  public let streamID: StreamID
  public let view: GTKVideoView
  /// What is shown here. Another layer has the view's place, size and placeholder at once, and shows its newest frame there,
  /// or black until it has one. The one before leaves first: nothing of it is seen any more, and it can be shown elsewhere.
  public var layer: SampleBufferDisplayLayer {
    // The surface goes from the one layer to the other by itself.
    didSet { layer.attach(to: view.renderer) }
  }
  public var unsafeGtkWidget: UnsafeMutableRawPointer { UnsafeMutableRawPointer(overlay) }

  let overlay: GtkWidgetPointer
  private let nameLabel: GtkWidgetPointer
  private let cover: PictureCover
  private let microphone: MicrophoneMark
  private var controls: StreamControls?

  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
  public convenience init(streamID: StreamID, videoGravity: VideoGravity = .resizeAspect) throws(PipSinkError) {
    try self.init(
      streamID: streamID, layer: SampleBufferDisplayLayer(name: streamID.rawValue, videoGravity: videoGravity))
  }

  /// - Parameter layer: shown here from now on.
  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
  public init(streamID: StreamID, layer: SampleBufferDisplayLayer) throws(PipSinkError) {
    self.streamID = streamID
    // No widget can be made before.
    view = try GTKVideoView()
    self.layer = layer
    layer.attach(to: view.renderer)
    overlay = gtk_overlay_new()
    g_object_ref_sink(overlay)
    nameLabel = gtk_label_new(streamID.rawValue)
    (cover, microphone) = (PictureCover(), MicrophoneMark())
    gtk_container_add(overlay.asContainer, view.widget)
    // Whoever shows this view shows all of it.
    gtk_widget_show(view.widget)
    cover.add(to: overlay, over: view.widget)
    addName()
    microphone.add(to: overlay, over: view.widget)
    placeholder = .waiting
    cover.show(placeholder?.text)
  }

  isolated deinit {
    if !GTKDisplay.isLost {
      gtk_widget_destroy(overlay)
      g_object_unref(overlay)
    }
  }

  /// What is shown instead of the picture, all of which it hides; nil shows the picture.
  ///
  /// The picture of a stream that goes to picture-in-picture fades into the placeholder, and comes back so, unless the user
  /// wants no animations. Every other placeholder is there at once, so that nothing is seen of a camera that is off.
  public var placeholder: StreamPlaceholder? {
    didSet {
      let isMove = [oldValue, placeholder].contains(.inPictureInPicture)
      cover.show(placeholder?.text, fades: isMove)
      controls?.isInPictureInPicture = placeholder == .inPictureInPicture
    }
  }

  /// Called when the user presses the button that takes the stream to picture-in-picture or, while that is its placeholder,
  /// back. The button is there while the pointer moves over the view, and not at all while this is nil. Set once, when the
  /// view is made.
  public var pictureInPictureToggled: (@MainActor () -> Void)? {
    didSet {
      guard controls == nil, !GTKDisplay.isLost else { return }
      controls = StreamControls(in: overlay, over: view.widget) { [weak self] in self?.pictureInPictureToggled?() }
    }
  }

  /// Whether a crossed microphone is shown in the lower right corner, also beside a placeholder.
  public var isMicrophoneOff: Bool {
    get { microphone.isShown }
    set { microphone.isShown = newValue }
  }

  /// Whether the stream's name is shown.
  public var showsName = true {
    didSet { if !GTKDisplay.isLost { gtk_widget_set_visible(nameLabel, showsName ? 1 : 0) } }
  }

  private func addName() {
    Style.install()
    gtk_style_context_add_class(gtk_widget_get_style_context(nameLabel), "pipsink-name")
    gtk_style_context_add_class(gtk_widget_get_style_context(nameLabel), WindowArea.opaqueClass)
    gtk_widget_set_halign(nameLabel, GTK_ALIGN_START)
    gtk_widget_set_valign(nameLabel, GTK_ALIGN_END)
    gtk_widget_set_no_show_all(nameLabel, 1)
    gtk_widget_set_visible(nameLabel, 1)
    gtk_overlay_add_overlay(overlay.cast(), nameLabel)
    // Clicks and drags go through to the picture.
    gtk_overlay_set_overlay_pass_through(overlay.cast(), nameLabel, 1)
  }
}

extension StreamPlaceholder {
  var text: String {
    switch self {
    case .waiting: "Waiting for video"
    case .cameraOff: "Camera is off"
    case .reconnecting: "Reconnecting"
    case .inPictureInPicture: "In picture-in-picture"
    case .ended: "The stream has ended"
    case .failed(let reason): "The stream has failed\n\(reason)"
    }
  }
}

/// How the labels look.
@MainActor
enum Style {
  private static var installed: Set<OpaquePointer> = []

  /// - Parameter screen: of the windows; the default one where it is nil.
  static func install(for screen: OpaquePointer? = nil) {
    guard let screen = screen ?? gdk_screen_get_default(), installed.insert(screen).inserted else { return }
    let provider = gtk_css_provider_new()
    let css = """
      .pipsink-name { color: white; background-color: #1c1c1c; padding: 2px 8px; font-size: 12px; }
      .pipsink-help { color: white; background-color: rgba(0,0,0,0.8); padding: 16px; font-family: monospace; }
      window.pipsink { background-color: black; }
      .pipsink-controls { background-color: rgba(0,0,0,0.6); border-radius: 6px; margin: 6px; }
      button.pipsink-control { padding: 6px; min-width: 16px; min-height: 16px; background: none; border: none; box-shadow: none; }
      button.pipsink-control:hover { background-color: rgba(255,255,255,0.25); }
      .pipsink-cover { color: #dddddd; background-color: #1c1c1c; font-size: 15px; }
      """
    gtk_css_provider_load_from_data(provider, css, gssize(css.utf8.count), nil)
    gtk_style_context_add_provider_for_screen(
      screen, OpaquePointer(provider), guint(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION))
    g_object_unref(provider)
  }
}
