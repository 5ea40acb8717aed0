import CGStreamer
import PipSink

/// The interface GstColorBalance, which players use and playbin passes on to its sink: four channels, which are also
/// the element's properties of the same names. The colours are changed where pictures are drawn, at the window's size.
enum ElementColorBalance {
  enum Channel: String, CaseIterable {
    case brightness, contrast, hue, saturation

    var nick: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }

    var value: WritableKeyPath<ColorBalance, Int> & Sendable {
      switch self {
      case .brightness: \.brightness
      case .contrast: \.contrast
      case .hue: \.hue
      case .saturation: \.saturation
      }
    }

    var summary: String {
      switch self {
      case .brightness: "What to add to the luma: 0 for nothing, 1000 for the whole range"
      case .contrast: "The contrast of the luma: 0 leaves it unchanged, -1000 removes it, 1000 doubles it"
      case .hue: "How far to rotate the hues: 0 not at all, 1000 and -1000 by half a circle"
      case .saturation: "The strength of the colours: 0 leaves it unchanged, -1000 makes them grey, 1000 doubles it"
      }
    }
  }

  /// The channels of an element as GObjects, which players keep and compare.
  ///
  /// `@unchecked Sendable`: the objects do not change after they were made, and GObjects may be retained and released
  /// on every thread.
  final class Channels: @unchecked Sendable {
    fileprivate let list: UnsafeMutablePointer<GList>?
    private let objects: [UnsafeMutablePointer<GstColorBalanceChannel>]

    init() {
      objects = Channel.allCases.compactMap { channel in
        let object = g_object_new_with_properties(gst_color_balance_channel_get_type(), 0, nil, nil)
        let made = UnsafeMutableRawPointer(object)?.assumingMemoryBound(to: GstColorBalanceChannel.self)
        // playbin identifies a channel by its label.
        made?.pointee.label = g_strdup(channel.rawValue.uppercased())
        made?.pointee.min_value = gint(ColorBalance.range.lowerBound)
        made?.pointee.max_value = gint(ColorBalance.range.upperBound)
        return made
      }
      var list: UnsafeMutablePointer<GList>?
      for object in objects { list = g_list_append(list, object) }
      self.list = list
    }

    deinit {
      g_list_free(list)
      for object in objects { g_object_unref(object) }
    }

    fileprivate subscript(channel: Channel) -> UnsafeMutablePointer<GstColorBalanceChannel>? {
      zip(Channel.allCases, objects).first { $0.0 == channel }?.1
    }
  }

  static func install(_ interface: UnsafeMutablePointer<GstColorBalanceInterface>) {
    interface.pointee.list_channels = { element in
      element.flatMap { UnsafePointer(ElementColorBalance.state($0).colorChannels.list) }
    }
    interface.pointee.set_value = { element, channel, value in
      guard let element, let known = ElementColorBalance.known(channel) else { return }
      ElementColorBalance.state(element).set(known, Int(value), notifies: true)
    }
    interface.pointee.get_value = { element, channel in
      guard let element, let known = ElementColorBalance.known(channel) else { return 0 }
      return gint(ElementColorBalance.state(element).settings.colorBalance[keyPath: known.value])
    }
    // The processor changes the colours, but while it draws, without a pass of its own. With this answer playbin
    // inserts no element before the sink.
    interface.pointee.get_balance_type = { _ in GST_COLOR_BALANCE_HARDWARE }
  }

  private static func state(_ element: OpaquePointer) -> ElementState {
    PipSinkElement.state(of: UnsafeMutableRawPointer(element))
  }

  private static func known(_ channel: UnsafeMutablePointer<GstColorBalanceChannel>?) -> Channel? {
    guard let label = channel?.pointee.label else { return nil }
    return Channel(rawValue: String(cString: label).lowercased())
  }
}

extension ElementState {
  /// - Parameter notifies: whether to notify of the property's change. GObject does that itself when the property is
  ///   set.
  func set(_ channel: ElementColorBalance.Channel, _ value: Int, notifies: Bool = false) {
    let balance = setColorBalance { $0[keyPath: channel.value] = value }
    guard let balance else { return }
    if notifies { reference.notify(channel.rawValue) }
    guard let object = colorChannels[channel] else { return }
    reference.use { element in
      gst_color_balance_value_changed(OpaquePointer(element), object, gint(balance[keyPath: channel.value]))
    }
  }
}
