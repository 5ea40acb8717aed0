import CGStreamer

/// Which decoders GStreamer prefers: those that work in hardware (VA-API, V4L2, NVDEC) or others.
///
/// It holds for the whole process and for pipelines that are made afterwards: decodebin and its kin take the decoder of
/// the highest rank.
public enum HardwareDecoders {
  public enum Preference: String, CaseIterable, Sendable {
    /// GStreamer's own ranks.
    case automatic
    /// Before all others.
    case on
    /// Not at all.
    case off
  }

  private struct State {
    var preference = Preference.automatic
    /// GStreamer's own, by the factories' names.
    var ranks: [String: guint] = [:]
  }

  private static let state = Locked(State())

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
            // Above what the best software decoder has.
            case .on: max(own, GST_RANK_PRIMARY.rawValue + 100)
            case .off: GST_RANK_NONE.rawValue
            }
          gst_plugin_feature_set_rank(factory, rank)
        }
      }
    }
  }
}
