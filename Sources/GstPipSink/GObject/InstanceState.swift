import CGStreamer

/// Keeps the Swift state of the instances of a GType that is derived from one of GStreamer's. Each instance has a
/// pointer to its state, behind the fields of the parent type.
struct InstanceState<State: AnyObject>: Sendable {
  private let parent: GType
  /// The sizes of the parent type's class and instances, in bytes.
  private let parentSize: (class: guint, instance: guint)

  init(behind parent: GType) {
    self.parent = parent
    var query = GTypeQuery()
    g_type_query(parent, &query)
    parentSize = (query.class_size, query.instance_size)
  }

  /// The sizes of the derived type's class and instances, in bytes.
  var size: (class: guint, instance: guint) {
    (parentSize.class, parentSize.instance + guint(MemoryLayout<UnsafeRawPointer>.size))
  }

  /// The class of the parent type, which lives as long as the class that is derived from it.
  var parentClass: UnsafeMutableRawPointer? { g_type_class_peek(parent) }

  private func slot(_ instance: UnsafeMutableRawPointer) -> UnsafeMutablePointer<Unmanaged<State>> {
    (instance + Int(parentSize.instance)).assumingMemoryBound(to: Unmanaged<State>.self)
  }

  @inline(__always)
  func state(of instance: UnsafeMutableRawPointer) -> State { slot(instance).pointee.takeUnretainedValue() }

  /// Gives a new instance its state, and retains the state for the instance.
  func set(_ state: State, of instance: UnsafeMutableRawPointer) { slot(instance).initialize(to: .passRetained(state)) }

  /// Finalizes an instance: releases its state, and calls the parent type's `finalize`.
  func finalize(_ object: UnsafeMutablePointer<GObject>?) {
    guard let object else { return }
    slot(object).pointee.release()
    parentClass?.assumingMemoryBound(to: GObjectClass.self).pointee.finalize?(object)
  }
}
