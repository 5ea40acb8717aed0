import CGStreamer
import PipSink

/// The kinds of properties, by the types of their values.
extension ElementProperty {
  static func text(of value: UnsafePointer<GValue>) -> String? {
    g_value_get_string(value).map { String(cString: $0) }
  }

  /// The stream ID in a text; nil for an empty text.
  static func identifier(_ text: String?) -> StreamID? {
    text.flatMap { $0.isEmpty ? nil : StreamID($0) }
  }

  static func string(
    _ name: String, _ nick: String, _ summary: String, _ flags: GParamFlags,
    get: @escaping @Sendable (ElementSettings) -> String?,
    set: @escaping @Sendable (inout ElementSettings, String?) -> Void
  ) -> ElementProperty {
    ElementProperty(name: name) {
      g_param_spec_string(name, nick, summary, get(ElementSettings()), flags)
    } set: { state, value in
      let text = text(of: value)
      state.set { set(&$0, text) }
    } get: { state, value in
      g_value_set_string(value, get(state.settings))
    }
  }

  static func boolean(
    _ name: String, _ nick: String, _ summary: String, _ flags: GParamFlags,
    _ setting: WritableKeyPath<ElementSettings, Bool> & Sendable
  ) -> ElementProperty {
    boolean(
      name, nick, summary, flags, isSetAtFirst: ElementSettings()[keyPath: setting],
      get: { $0.settings[keyPath: setting] },
      set: { state, isSet in state.set { $0[keyPath: setting] = isSet } })
  }

  static func wantedLength(
    _ side: String, _ length: KeyPath<(width: Int, height: Int), Int> & Sendable
  ) -> ElementProperty {
    ElementProperty(name: "wanted-\(side)") {
      g_param_spec_int(
        "wanted-\(side)", "Wanted \(side)",
        "The \(side), in pixels, of the largest size at which the stream can be seen anywhere; 0 while nobody sees it, "
          + "and 2147483647 where no size is too large", 0, .max, 0, GParamFlags(rawValue: G_PARAM_READABLE.rawValue))
    } set: { _, _ in
    } get: { state, value in
      g_value_set_int(value, gint(clamping: (state.member?.demand.limit ?? (0, 0))[keyPath: length]))
    }
  }

  static func balance(_ channel: ElementColorBalance.Channel) -> ElementProperty {
    let range = ColorBalance.range
    return ElementProperty(name: channel.rawValue) {
      g_param_spec_int(
        channel.rawValue, channel.nick, channel.summary, gint(range.lowerBound), gint(range.upperBound),
        0, whenPlaying)
    } set: { state, value in
      state.set(channel, Int(g_value_get_int(value)))
    } get: { state, value in
      g_value_set_int(value, gint(state.settings.colorBalance[keyPath: channel.value]))
    }
  }

  static func boolean(
    _ name: String, _ nick: String, _ summary: String, _ flags: GParamFlags = whenPlaying,
    isSetAtFirst: Bool = false, get: @escaping @Sendable (ElementState) -> Bool,
    set: @escaping @Sendable (ElementState, Bool) -> Void
  ) -> ElementProperty {
    ElementProperty(name: name) {
      g_param_spec_boolean(name, nick, summary, isSetAtFirst ? 1 : 0, flags)
    } set: { state, value in
      set(state, g_value_get_boolean(value) != 0)
    } get: { state, value in
      g_value_set_boolean(value, get(state) ? 1 : 0)
    }
  }

  /// - Parameter set: applies a new value; nil when it only has to be stored.
  static func enumeration<Value: ElementEnum>(
    _ name: String, _ nick: String, _ summary: String, _ flags: GParamFlags,
    _ setting: WritableKeyPath<ElementSettings, Value> & Sendable,
    set: (@Sendable (ElementState, Value) -> Void)? = nil
  ) -> ElementProperty {
    ElementProperty(name: name) {
      g_param_spec_enum(name, nick, summary, Value.makeType(), ElementSettings()[keyPath: setting].number, flags)
    } set: { state, value in
      guard let value = Value(number: g_value_get_enum(value)) else { return }
      if let set { set(state, value) } else { state.set { $0[keyPath: setting] = value } }
    } get: { state, value in
      g_value_set_enum(value, state.settings[keyPath: setting].number)
    }
  }
}
