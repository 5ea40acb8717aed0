import CGStreamer

/// Where the instances of a GType that is derived from one of GStreamer's keep their Swift state: a pointer behind what the
/// parent has.
struct InstanceState<State: AnyObject>: Sendable {
  private let parent: GType
  /// The parent's, in bytes.
  private let parentSize: (class: guint, instance: guint)

  init(behind parent: GType) {
    self.parent = parent
    var query = GTypeQuery()
    g_type_query(parent, &query)
    parentSize = (query.class_size, query.instance_size)
  }

  /// Of the derived type, in bytes.
  var size: (class: guint, instance: guint) {
    (parentSize.class, parentSize.instance + guint(MemoryLayout<UnsafeRawPointer>.size))
  }

  /// The parent's class, which lives as long as the one derived from it.
  var parentClass: UnsafeMutableRawPointer? { g_type_class_peek(parent) }

  private func slot(_ instance: UnsafeMutableRawPointer) -> UnsafeMutablePointer<Unmanaged<State>> {
    (instance + Int(parentSize.instance)).assumingMemoryBound(to: Unmanaged<State>.self)
  }

  @inline(__always)
  func state(of instance: UnsafeMutableRawPointer) -> State { slot(instance).pointee.takeUnretainedValue() }

  /// Gives a new instance its state.
  func set(_ state: State, of instance: UnsafeMutableRawPointer) { slot(instance).initialize(to: .passRetained(state)) }

  /// Ends an instance with its state.
  func finalize(_ object: UnsafeMutablePointer<GObject>?) {
    guard let object else { return }
    slot(object).pointee.release()
    parentClass?.assumingMemoryBound(to: GObjectClass.self).pointee.finalize?(object)
  }
}
