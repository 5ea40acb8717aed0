import CGStreamer
import PipSink

/// The volume of the pipeline that an element is in, where an element around it has one: playbin, or another bin that
/// implements GstStreamVolume.
final class ElementVolume: Sendable {
  private let owner: ElementReference
  private let news: News
  private let handler: gulong

  /// The last known answer, which the owner's signal invalidates.
  private final class News: Sendable {
    struct Answer {
      /// Whether the owner is muted; nil from a change until it is read again.
      var isMuted: Bool?
      var changeCount = 0
    }

    let answer = Locked(Answer())
    let changed: @Sendable () -> Void

    init(_ changed: @escaping @Sendable () -> Void) {
      self.changed = changed
    }
  }

  private typealias NotifyHandler =
    @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutableRawPointer?) -> Void
  private static let property = "mute"

  /// - Parameter changed: called on any thread when the volume has been muted or unmuted. It must not read ``isMuted``
  ///   there, because the thread may hold locks of the pipeline.
  init?(around element: ElementReference, changed: @escaping @Sendable () -> Void) {
    guard let owner = element.use(Self.owner) ?? nil else { return nil }
    self.owner = owner
    news = News(changed)
    let handler: NotifyHandler = { _, _, context in
      guard let context else { return }
      let news = Unmanaged<News>.fromOpaque(context).takeUnretainedValue()
      news.answer.withLock { $0 = News.Answer(changeCount: $0.changeCount + 1) }
      news.changed()
    }
    let context = Unmanaged.passRetained(news).toOpaque()
    self.handler =
      owner.use { element in
        g_signal_connect_data(
          element, "notify::\(Self.property)", unsafeBitCast(handler, to: GCallback.self), context,
          { news, _ in if let news { Unmanaged<News>.fromOpaque(news).release() } }, GConnectFlags(rawValue: 0))
      } ?? 0
  }

  deinit {
    owner.use { g_signal_handler_disconnect($0, handler) }
  }

  /// Finds the nearest element around this one that has a volume.
  private static func owner(of element: UnsafeMutablePointer<GstElement>) -> ElementReference? {
    // 0 when GStreamer's audio library is not loaded.
    let interface = g_type_from_name("GstStreamVolume")
    var next = gst_object_get_parent(UnsafeMutableRawPointer(element).assumingMemoryBound(to: GstObject.self))
    while let object = next {
      defer { gst_object_unref(object) }
      let isOwner = object.withMemoryRebound(to: GTypeInstance.self, capacity: 1) {
        g_type_check_instance_is_a($0, interface) != 0
      }
      if interface != 0, isOwner { return ElementReference(object) }
      next = gst_object_get_parent(object)
    }
    return nil
  }

  /// Whether the owner is muted; nil when it has been freed.
  var isMuted: Bool? {
    let last = news.answer.withLock { $0 }
    if let known = last.isMuted { return known }
    let isMuted = owner.use { element in
      var value = GValue()
      g_value_init(&value, PIPSINK_TYPE_BOOLEAN)
      defer { g_value_unset(&value) }
      g_object_get_property(Self.object(element), Self.property, &value)
      return g_value_get_boolean(&value) != 0
    }
    news.answer.withLock { answer in
      // Otherwise it may have changed after it was read.
      if answer.changeCount == last.changeCount { answer.isMuted = isMuted }
    }
    return isMuted
  }

  func set(isMuted: Bool) {
    owner.use { element in
      var value = GValue()
      g_value_init(&value, PIPSINK_TYPE_BOOLEAN)
      defer { g_value_unset(&value) }
      g_value_set_boolean(&value, isMuted ? 1 : 0)
      g_object_set_property(Self.object(element), Self.property, &value)
    }
  }

  private static func object(_ element: UnsafeMutablePointer<GstElement>) -> UnsafeMutablePointer<GObject> {
    UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self)
  }
}
