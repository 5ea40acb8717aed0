import CGStreamer

/// An element of a running pipeline that has a volume or that tells a sound server what a stream is for.
///
/// Used by one thread at a time.
final class AudioElement {
  typealias ID = UInt

  /// What a session wants of it.
  struct Wish {
    var volume: Double?
    /// The overall volume and ducking.
    var factor = 1.0
    var isMuted: Bool?
    var isMutedByAll = false
  }

  let pointer: GstElementPointer
  let hasVolume: Bool
  private let takesStreamProperties: Bool
  private let isSource: Bool
  /// As the description has them.
  private let ownProperties: UnsafeMutablePointer<GstStructure>?
  private var volume = Override<Double>()
  private var mute = Override<Bool>()
  private let handler: gulong
  /// Whether a server has asked it to be still, and has silenced it meanwhile.
  var isSilencedByServer = false

  private static let (double, boolean) = (g_type_from_name("gdouble"), g_type_from_name("gboolean"))

  /// - Parameter pointer: a reference that is given back by `deinit`.
  /// - Returns: nil when it has nothing to set, after giving the reference back.
  init?(owning pointer: GstElementPointer) {
    isSource = pointer.pointee.numsinkpads == 0
    // A microphone's or a generator's volume is not how loud a stream is played.
    hasVolume =
      !isSource && pointer.hasProperty("volume", Self.double) && pointer.hasProperty("mute", Self.boolean)
    takesStreamProperties = pointer.hasProperty("stream-properties", gst_structure_get_type())
    guard hasVolume || takesStreamProperties else {
      gst_object_unref(pointer)
      return nil
    }
    self.pointer = pointer
    ownProperties =
      takesStreamProperties
      ? pointer.property("stream-properties") { value in
        gst_value_get_structure(&value).flatMap { gst_structure_copy($0) }
      } : nil
    handler = hasVolume ? Self.watchMute(of: pointer) : 0
  }

  deinit {
    if handler != 0 { g_signal_handler_disconnect(pointer, handler) }
    if let ownProperties { gst_structure_free(ownProperties) }
    gst_object_unref(pointer)
  }

  static func id(of pointer: UnsafeMutableRawPointer) -> ID { UInt(bitPattern: pointer) }
  var id: ID { Self.id(of: pointer) }

  func take(_ wish: Wish) {
    guard hasVolume else { return }
    volume.update(
      wish.volume == nil && wish.factor == 1 ? nil : { (wish.volume ?? $0) * wish.factor },
      read: readVolume,
      write: { new in pointer.setProperty("volume", Self.double) { g_value_set_double(&$0, new) } })
    mute.update(
      wish.isMuted == nil && !wish.isMutedByAll ? nil : { wish.isMutedByAll || (wish.isMuted ?? $0) },
      read: { isSilencedByServer ? false : isMuted },
      // What the server has silenced is for it to let be heard again.
      write: { if $0 || !isSilencedByServer { write(isMuted: $0) } })
  }

  /// As it is, a server's part in it included.
  var isMuted: Bool { pointer.property("mute") { g_value_get_boolean(&$0) != 0 } }

  /// After a server has silenced it and taken that back, which also takes our own silence back.
  func restoreMute() {
    if let wanted = mute.value, isMuted != wanted { write(isMuted: wanted) }
  }

  private func readVolume() -> Double { pointer.property("volume") { g_value_get_double(&$0) } }

  private func write(isMuted: Bool) {
    pointer.setProperty("mute", Self.boolean) { g_value_set_boolean(&$0, isMuted ? 1 : 0) }
  }

  // MARK: - Stream properties

  /// Tells the server what the stream is for; what the description says goes first. Servers read it when the stream
  /// begins.
  func take(_ category: AudioCategory, applicationName: String?) {
    // A microphone is one of a call, or none of our business.
    guard takesStreamProperties, !isSource || category == .voiceChat else { return }
    let properties = ownProperties.flatMap { gst_structure_copy($0) } ?? gst_structure_new_empty("props")
    defer { gst_structure_free(properties) }
    var fields = ["media.role": category.mediaRole, "application.name": applicationName]
    if category == .voiceChat { fields["filter.want"] = "echo-cancel" }
    for (name, text) in fields where gst_structure_has_field(properties, name) == 0 {
      guard let text else { continue }
      var value = GValue()
      g_value_init(&value, g_type_from_name("gchararray"))
      defer { g_value_unset(&value) }
      g_value_set_string(&value, text)
      gst_structure_set_value(properties, name, &value)
    }
    pointer.setProperty("stream-properties", gst_structure_get_type()) { gst_value_set_structure(&$0, properties) }
  }

  // MARK: - Changes from outside

  private typealias NotifyHandler = @convention(c) (GstElementPointer, OpaquePointer?, UnsafeMutableRawPointer?) -> Void

  /// By way of the bus: elements say it on threads that must not wait.
  private static let muteChanged: NotifyHandler = { element, _, _ in BusNote.muteChanged.post(from: element) }

  private static func watchMute(of pointer: GstElementPointer) -> gulong {
    let handler = unsafeBitCast(muteChanged, to: GCallback.self)
    return g_signal_connect_data(pointer, "notify::mute", handler, nil, nil, GConnectFlags(rawValue: 0))
  }
}

/// A value that is set over one that somebody else sees to: a description, a server, a desktop's mixer.
///
/// While there is nothing to set it is left alone, and so keeps what others make of it; afterwards it is as before.
struct Override<Value: Equatable> {
  private var own: Value?
  /// What was set; nil while it is left alone.
  private(set) var value: Value?

  /// - Parameter wanted: what to make of the other's value; nil leaves it alone.
  mutating func update(_ wanted: ((Value) -> Value)?, read: () -> Value, write: (Value) -> Void) {
    if own == nil, wanted == nil { return }
    let base = own ?? read()
    let new = wanted?(base) ?? base
    if new != value ?? base { write(new) }
    own = wanted == nil ? nil : base
    value = wanted == nil ? nil : new
  }
}
