import CGStreamer
import PipSink

/// A renderer that is a GdkPaintable: GTK 4 draws it wherever a program shows one, for instance in a GtkPicture.
///
/// ```swift
/// let paintable = try VideoPaintable()
/// session.layer(of: "anna")?.attach(to: paintable)
/// gtk_picture_set_paintable(picture, paintable.unsafePaintable)
/// ```
///
/// Pictures are made on the layer's presenting thread, at the widget's size in pixels, and GTK gets them without a
/// further conversion. The scale is that of the program's window with the largest scale, because GTK does not tell a
/// paintable in which window it is drawn. If several widgets show the paintable, a picture is as large as the largest
/// of them. No picture is made before GTK has drawn the one before, and so none while nobody can see the widget.
///
/// The paintable has the stream's size and shape, with square pixels and rotated as the frames say. The widget's
/// `content-fit` or `keep-aspect-ratio` decides how it is fitted; the layer's gravity has no effect. It may outlive its
/// layer, and shows nothing then. GTK may keep the paintable longer than this object lives. Every method may be called
/// on every thread.
///
/// `@unchecked Sendable`: what changes is behind the picture's lock, and a GObject's references are counted atomically.
public final class VideoPaintable: VideoRenderer, @unchecked Sendable {
  private let picture: PaintablePicture
  private let object: UnsafeMutablePointer<GObject>

  /// Makes a paintable with the GTK 4 that the program has loaded already, by being linked with it or through its
  /// bindings. It does not load GTK itself.
  ///
  /// - Throws: ``PipSinkError/System/toolkitUnavailable(_:reason:)``.
  public init() throws(PipSinkError) {
    let gtk = try GTK4Library.inProcess()
    picture = PaintablePicture(gtk)
    guard let object = PaintableType.makeInstance(of: picture, gtk) else {
      throw .system(.toolkitUnavailable(GTK4Library.name, reason: "GObject could not create the paintable"))
    }
    self.object = object
    picture.object.set(object)
  }

  deinit { g_object_unref(object) }

  /// The GdkPaintable. It is borrowed: whoever keeps it longer than this object lives has to take a reference.
  public var unsafePaintable: UnsafeMutableRawPointer { UnsafeMutableRawPointer(object) }

  /// Whether somebody else has a reference to the GdkPaintable, such as a widget that shows it.
  package var isShared: Bool { object.pointee.ref_count > 1 }

  /// What is drawn instead of the picture; nil draws the picture.
  public var placeholder: StreamPlaceholder? {
    get { picture.placeholder }
    set { picture.placeholder = newValue }
  }

  /// How many frames have been converted so far. No frame is converted while the paintable is hidden.
  public var convertedFrameCount: UInt64 { picture.convertedFrameCount }

  // MARK: - The renderer

  /// Makes a picture of a frame, for GTK to draw.
  ///
  /// - Throws: ``RenderingError`` for a frame that cannot be read or converted, or when there is no memory.
  public func render(_ sampleBuffer: SampleBuffer, gravity: VideoGravity) throws(RenderingError) {
    do throws(PipSinkError) {
      try picture.render(sampleBuffer)
    } catch {
      throw RenderingError(error)
    }
  }

  /// Removes the picture and frees memory that is not in use.
  public func removeImage() { picture.removeImage() }
  /// Has the next pictures made in new memory.
  public func rebuild() { picture.rebuild() }

  /// The size at which pictures are made, in pixels; nil before GTK has drawn the paintable.
  public var renderSize: PictureSize? { picture.renderSize }
  /// Whether GTK would draw another picture: it has drawn the one before, and there is no placeholder.
  public var isVisible: Bool { picture.isVisible }
  /// Takes the handler that asks the layer for its newest frame.
  public func setNeedsDisplayHandler(_ handler: (@Sendable () -> Void)?) { picture.needsDisplay.set(handler) }
}
