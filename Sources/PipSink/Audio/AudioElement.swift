import CGStreamer

/// An element of a running pipeline that has a volume, or that tells a sound server what a stream is for.
///
/// Only one thread uses it at a time.
final class AudioElement {
  typealias ID = UInt

  /// The volume and mute state that a session wants an element to have.
  struct Settings {
    /// The volume of the element's stream; nil where none has been set.
    var volume: Double?
    /// What the volume is multiplied by: the overall volume and ducking.
    var factor = 1.0
    /// Whether the element's stream is muted; nil where nobody has said so.
    var isMuted: Bool?
    /// Whether all streams are muted.
    var isMutedByAll = false
  }

  /// The element, with a reference that `deinit` releases.
  let pointer: GstElementPointer
  /// Whether the element's volume says how loud a stream is played.
  let hasVolume: Bool
  private let takesStreamProperties: Bool
  private let isSource: Bool
  /// The stream properties that the description sets.
  private let ownProperties: UnsafeMutablePointer<GstStructure>?
  private var volume = Override<Double>()
  private var mute = Override<Bool>()
  /// What was last added to the stream properties of the description.
  private var added: [String: String]?
  /// The handler of `notify::mute`; 0 where there is none.
  private let handler: gulong
  /// Whether a server has asked the element to be silent and has muted it.
  var isSilencedByServer = false

  private static let (double, boolean) = (g_type_from_name("gdouble"), g_type_from_name("gboolean"))

  /// Takes over a reference to an element.
  ///
  /// - Parameter pointer: the element; `deinit` releases the reference.
  /// - Returns: nil when the element has nothing to set. The reference has been released then.
  init?(owning pointer: GstElementPointer) {
    isSource = pointer.pointee.numsinkpads == 0
    // The volume of a microphone or a generator does not say how loud a stream is played.
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

  /// Sets the volume and mute state that a session wants. Where it wants nothing, what the description or a mixer has
  /// set stays.
  func take(_ settings: Settings) {
    guard hasVolume else { return }
    volume.update(
      settings.volume == nil && settings.factor == 1 ? nil : { (settings.volume ?? $0) * settings.factor },
      read: readVolume,
      write: { new in pointer.setProperty("volume", Self.double) { g_value_set_double(&$0, new) } })
    mute.update(
      settings.isMuted == nil && !settings.isMutedByAll ? nil : { settings.isMutedByAll || (settings.isMuted ?? $0) },
      read: { isSilencedByServer ? false : isMuted },
      // Only the server may unmute what it has muted.
      write: { if $0 || !isSilencedByServer { write(isMuted: $0) } })
  }

  /// Whether the element is muted now, be it by a server or by PipSink.
  var isMuted: Bool { pointer.property("mute") { g_value_get_boolean(&$0) != 0 } }

  /// Mutes the element again after a server has muted and unmuted it, which also cancels PipSink's mute.
  func restoreMute() {
    if let wanted = mute.value, isMuted != wanted { write(isMuted: wanted) }
  }

  private func readVolume() -> Double { pointer.property("volume") { g_value_get_double(&$0) } }

  private func write(isMuted: Bool) {
    pointer.setProperty("mute", Self.boolean) { g_value_set_boolean(&$0, isMuted ? 1 : 0) }
  }

  // MARK: - Stream properties

  /// Tells the server what the stream is for. Properties that the description sets take precedence. Servers read them
  /// when the stream starts.
  ///
  /// The element is told only of what is new. pulsesink replaces its properties without a lock, and reads them on the
  /// thread on which it makes its stream, so that a second call while the pipeline starts would take them from under it.
  func take(_ category: AudioCategory, applicationName: String?) {
    // A microphone belongs to a call, or is not PipSink's to describe.
    guard takesStreamProperties, !isSource || category == .voiceChat else { return }
    var fields = ["media.role": category.mediaRole]
    fields["application.name"] = applicationName
    if category == .voiceChat { fields["filter.want"] = "echo-cancel" }
    guard fields != added else { return }
    added = fields
    let properties = ownProperties.flatMap { gst_structure_copy($0) } ?? gst_structure_new_empty("props")
    defer { gst_structure_free(properties) }
    for (name, text) in fields where gst_structure_has_field(properties, name) == 0 {
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

  /// Reports a change through the bus, since elements announce it on threads that must not wait.
  private static let muteChanged: NotifyHandler = { element, _, _ in BusNote.muteChanged.post(from: element) }

  private static func watchMute(of pointer: GstElementPointer) -> gulong {
    let handler = unsafeBitCast(muteChanged, to: GCallback.self)
    return g_signal_connect_data(pointer, "notify::mute", handler, nil, nil, GConnectFlags(rawValue: 0))
  }
}

/// A value that PipSink sets over one that somebody else controls: a description, a server, a desktop's mixer.
///
/// While there is nothing to set, the value is left alone and keeps what others set. When an override ends, the value
/// from before returns.
struct Override<Value: Equatable> {
  /// The value that was there before it was overridden.
  private var own: Value?
  /// The value that was set; nil while it is left alone.
  private(set) var value: Value?

  /// Sets or removes the override.
  ///
  /// - Parameter wanted: computes the new value from the one that was there before; nil removes the override.
  mutating func update(_ wanted: ((Value) -> Value)?, read: () -> Value, write: (Value) -> Void) {
    if own == nil, wanted == nil { return }
    let base = own ?? read()
    let new = wanted?(base) ?? base
    if new != value ?? base { write(new) }
    own = wanted == nil ? nil : base
    value = wanted == nil ? nil : new
  }
}
