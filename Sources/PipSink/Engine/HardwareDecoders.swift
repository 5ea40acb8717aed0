import CGStreamer

/// The preference between hardware decoders (VA-API, V4L2, NVDEC) and software decoders.
///
/// It applies to the whole process, and to pipelines that are made after a change: decodebin and similar elements
/// choose the decoder with the highest rank.
public enum HardwareDecoders {
  /// Whether hardware decoders are used.
  public enum Preference: String, CaseIterable, Sendable {
    /// Decoders keep the ranks that GStreamer gave them.
    case automatic
    /// Hardware decoders are preferred to all others.
    case on
    /// Hardware decoders are not used.
    case off
  }

  private struct State {
    var preference = Preference.automatic
    /// The ranks that GStreamer gave the decoders, by the names of their factories.
    var ranks: [String: guint] = [:]
  }

  private static let state = Locked(State())

  /// The preference of this process; ``Preference/automatic`` at first. Setting it changes the ranks of all hardware
  /// video decoders. It may be read and set from any thread.
  public static var preference: Preference {
    get { state.withLock { $0.preference } }
    set {
      state.withLock { state in
        state.preference = newValue
        for name in ElementInspection.hardwareVideoDecoders {
          guard let factory = gst_element_factory_find(name) else { continue }
          defer { gst_object_unref(UnsafeMutableRawPointer(factory)) }
          let own = state.ranks[name] ?? gst_plugin_feature_get_rank(factory)
          state.ranks[name] = own
          let rank =
            switch newValue {
            case .automatic: own
            // This is above the rank of the best software decoder.
            case .on: max(own, GST_RANK_PRIMARY.rawValue + 100)
            case .off: GST_RANK_NONE.rawValue
            }
          gst_plugin_feature_set_rank(factory, rank)
        }
      }
    }
  }
}
