import CGStreamer
import PipSink

/// The properties of the element `pipsinkfilter`. A property's number in GObject is its raw value.
enum FilterProperty: guint, CaseIterable {
  case process = 1
  case stats

  private func makeSpecification() -> UnsafeMutablePointer<GParamSpec>? {
    switch self {
    case .process:
      g_param_spec_string("process", "Process", ElementProperty.processSummary, nil, ElementProperty.whenPlaying)
    case .stats:
      g_param_spec_boxed(
        "stats", "Statistics",
        "The numbers of frames that the processors have passed on, dropped on purpose, and dropped because they could "
          + "not process them (failed)", gst_structure_get_type(), GParamFlags(rawValue: G_PARAM_READABLE.rawValue))
    }
  }

  static func install(on objectClass: UnsafeMutablePointer<GObjectClass>) {
    objectClass.pointee.set_property = { object, id, value, _ in
      guard let object, let value, FilterProperty(rawValue: id) == .process else { return }
      PipSinkFilterElement.state(of: object).set(process: g_value_get_string(value).map { String(cString: $0) })
    }
    objectClass.pointee.get_property = { object, id, value, _ in
      guard let object, let value, let property = FilterProperty(rawValue: id) else { return }
      let state = PipSinkFilterElement.state(of: object)
      switch property {
      case .process: g_value_set_string(value, state.process)
      case .stats: g_value_take_boxed(value, UnsafeRawPointer(state.makeStatistics()))
      }
    }
    for property in allCases {
      g_object_class_install_property(objectClass, property.rawValue, property.makeSpecification())
    }
  }
}
