import CGStreamer
import PipSink

/// The GType of paintables that show a stream: a GObject with the interface GdkPaintable. A pointer at the end of the
/// instance keeps the ``PaintablePicture``.
enum PaintableType {
  private static let registered = Locked<GType?>(nil)

  /// The sizes of GObject's structures in bytes. The pointer to the picture follows the instance.
  private static let parentSize: (class: guint, instance: guint) = {
    var parent = GTypeQuery()
    g_type_query(PIPSINK_TYPE_OBJECT, &parent)
    return (parent.class_size, parent.instance_size)
  }()

  /// Makes a paintable that keeps `picture` alive.
  ///
  /// - Returns: a new reference; nil where GObject does not make the object.
  static func makeInstance(of picture: PaintablePicture, _ gtk: GTK4Library) -> UnsafeMutablePointer<GObject>? {
    let type = registered.withLock { registered in
      let type = registered ?? register(gtk)
      registered = type
      return type
    }
    guard let object = g_object_new_with_properties(type, 0, nil, nil) else { return nil }
    slot(object).initialize(to: .passRetained(picture))
    return object
  }

  /// The picture of a paintable.
  static func picture(of instance: UnsafeMutableRawPointer) -> PaintablePicture? {
    slot(instance).pointee?.takeUnretainedValue()
  }

  /// The pointer at the end of an instance.
  private static func slot(_ instance: UnsafeMutableRawPointer) -> UnsafeMutablePointer<Unmanaged<PaintablePicture>?> {
    (instance + Int(parentSize.instance)).assumingMemoryBound(to: Unmanaged<PaintablePicture>?.self)
  }

  /// Registers the type, once for each copy of this code in the process: a program may link PipSink and load the plugin
  /// as well.
  private static func register(_ gtk: GTK4Library) -> GType {
    let type = g_type_register_static_simple(
      PIPSINK_TYPE_OBJECT, GObjectTypeName.unused("PipSinkVideoPaintable"), parentSize.class,
      { `class`, _ in
        `class`?.assumingMemoryBound(to: GObjectClass.self).pointee.finalize = { PaintableType.finalize($0) }
      }, parentSize.instance + guint(MemoryLayout<UnsafeRawPointer>.size), nil, GTypeFlags(rawValue: 0))
    var info = GInterfaceInfo(
      interface_init: { interface, _ in
        if let interface { PaintableType.fill(interface) }
      }, interface_finalize: nil, interface_data: nil)
    g_type_add_interface_static(type, gtk.paintableType(), &info)
    return type
  }

  /// Releases the picture, and then everything of GObject's.
  private static func finalize(_ object: UnsafeMutablePointer<GObject>?) {
    guard let object else { return }
    slot(object).pointee?.release()
    g_type_class_peek(PIPSINK_TYPE_OBJECT)?.assumingMemoryBound(to: GObjectClass.self).pointee.finalize?(object)
  }

  // MARK: - The interface

  private typealias Snapshot =
    @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer, Double, Double) -> Void
  private typealias CurrentImage = @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer?
  private typealias Length = @convention(c) (UnsafeMutableRawPointer) -> gint
  private typealias Ratio = @convention(c) (UnsafeMutableRawPointer) -> Double

  /// Fills in a GdkPaintableInterface. After GTypeInterface it contains `snapshot`, `get_current_image`, `get_flags`,
  /// `get_intrinsic_width`, `get_intrinsic_height` and `get_intrinsic_aspect_ratio`, in this order.
  private static func fill(_ interface: UnsafeMutableRawPointer) {
    func set<Function>(_ index: Int, _ function: Function) {
      interface.storeBytes(
        of: function, toByteOffset: MemoryLayout<GTypeInterface>.size + index * MemoryLayout<UnsafeRawPointer>.size,
        as: Function.self)
    }
    let snapshot: Snapshot = { PaintableType.picture(of: $0)?.draw(on: $1, width: $2, height: $3) }
    let currentImage: CurrentImage = { PaintableType.picture(of: $0)?.makeStill() }
    // Its content changes with every frame, and its size may change.
    let flags: Length = { _ in 0 }
    let width: Length = { PaintableType.picture(of: $0)?.intrinsicSize.width ?? 0 }
    let height: Length = { PaintableType.picture(of: $0)?.intrinsicSize.height ?? 0 }
    let ratio: Ratio = { PaintableType.picture(of: $0)?.displaySize.map { $0.width / $0.height } ?? 0 }
    set(0, snapshot)
    set(1, currentImage)
    set(2, flags)
    set(3, width)
    set(4, height)
    set(5, ratio)
  }
}
