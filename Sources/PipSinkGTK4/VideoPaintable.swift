import CGStreamer
import PipSink

/// A surface for frames that is a GdkPaintable: GTK 4 draws it wherever a program shows one, in a GtkPicture for instance.
///
/// ```swift
/// let paintable = try VideoPaintable()
/// session.layer(of: "anna")?.attach(to: paintable)
/// gtk_picture_set_paintable(picture, paintable.unsafePaintable)
/// ```
///
/// Pictures are made at the widget's size in pixels, on the layer's presenting thread, and GTK gets them as they are. The
/// scale of the screen is that of the program's window whose scale is largest, as GTK does not tell a paintable in which
/// one it is drawn. Where several widgets show it, a picture is as large as the largest of them. No picture is made before
/// GTK has drawn the one before, and so none while nobody sees the widget.
///
/// It has the stream's size and shape, for square pixels and turned as the frames say; `content-fit` or `keep-aspect-ratio`
/// of the widget says what becomes of that, and the layer's gravity does nothing. It may outlive its layer, which shows
/// nothing any more then, and GTK may keep it longer than this object lives. All calls are allowed from every thread.
///
/// `@unchecked Sendable`: what changes is behind the picture's lock, and a GObject's references are counted atomically.
public final class VideoPaintable: VideoRenderer, @unchecked Sendable {
  private let picture: PaintablePicture
  private let object: UnsafeMutablePointer<GObject>

  /// GTK 4 is used that the program has loaded already, by linking it or through its bindings; none is loaded.
  ///
  /// - Throws: ``PipSinkError/System/toolkitUnavailable(_:reason:)``.
  public init() throws(PipSinkError) {
    let gtk = try GTK4Library.inProcess()
    picture = PaintablePicture(gtk)
    guard let object = PaintableType.makeInstance(of: picture, gtk) else {
      throw .system(.toolkitUnavailable(GTK4Library.name, reason: "GObject makes no paintable"))
    }
    self.object = object
    picture.object.set(object)
  }

  deinit { g_object_unref(object) }

  /// The GdkPaintable. Borrowed: who keeps it longer than this object lives takes a reference.
  public var unsafePaintable: UnsafeMutableRawPointer { UnsafeMutableRawPointer(object) }

  /// Whether anybody else has a reference to the GdkPaintable, such as a widget that shows it.
  package var isShared: Bool { object.pointee.ref_count > 1 }

  /// What is drawn instead of the picture, all of which it hides; nil draws the picture.
  public var placeholder: StreamPlaceholder? {
    get { picture.placeholder }
    set { picture.placeholder = newValue }
  }

  /// Frames that were converted so far: none while nobody can see it.
  public var convertedFrameCount: UInt64 { picture.convertedFrameCount }

  // MARK: - As a layer's surface

  public func render(_ sampleBuffer: SampleBuffer, gravity: VideoGravity) throws(RenderingError) {
    do throws(PipSinkError) {
      try picture.render(sampleBuffer)
    } catch {
      throw RenderingError(error)
    }
  }

  public func removeImage() { picture.removeImage() }
  public func rebuild() { picture.rebuild() }

  /// What pictures are made at, in pixels; nil before GTK has drawn it.
  public var renderSize: PictureSize? { picture.renderSize }
  public var isVisible: Bool { picture.isVisible }
  public func setNeedsDisplayHandler(_ handler: (@Sendable () -> Void)?) { picture.needsDisplay = handler }
}
