import CGIO
import PipSink

/// A method call that waits for its answer.
///
/// `@unchecked Sendable`: GDBus accepts an answer from every thread, and only one thread at a time uses the call: the
/// service's thread until the call is in a ``CallQueue``, and the main actor from then on.
final class BusCall: @unchecked Sendable {
  let interface: String
  let method: String
  let arguments: BusArguments
  /// The invocation; nil when it has been answered.
  private var invocation: OpaquePointer?

  /// Takes over an invocation.
  init(_ invocation: OpaquePointer, arguments parameters: OpaquePointer?) {
    self.invocation = invocation
    interface = String(cString: g_dbus_method_invocation_get_interface_name(invocation))
    method = String(cString: g_dbus_method_invocation_get_method_name(invocation))
    arguments = BusArguments(parameters)
  }

  deinit {
    if let invocation { g_object_unref(UnsafeMutableRawPointer(invocation)) }
  }

  /// Answers the call with its results.
  func answer(_ results: [BusValue]) {
    g_dbus_method_invocation_return_value(takeInvocation(), BusValue.makeTuple(results))
  }

  /// Answers the call with an error.
  ///
  /// - Parameters:
  ///   - error: the error's name on the bus.
  ///   - message: the text for people.
  func refuse(_ error: String, _ message: String) {
    g_dbus_method_invocation_return_dbus_error(takeInvocation(), error, message)
  }

  private func takeInvocation() -> OpaquePointer? {
    defer { invocation = nil }
    return invocation
  }
}

/// The arguments of a call, as the interfaces use them.
struct BusArguments: Sendable {
  /// All arguments that are strings, object paths, booleans ("true" or "false") or whole numbers (in decimal digits),
  /// in their order.
  private(set) var texts: [String] = []
  /// A property's new value, where it is a number.
  private(set) var number: Double?

  /// Reads the arguments.
  ///
  /// - Parameter tuple: borrowed for the time of the call.
  init(_ tuple: OpaquePointer?) {
    for index in 0..<(tuple.map(g_variant_n_children) ?? 0) {
      let child = g_variant_get_child_value(tuple, index)
      defer { g_variant_unref(child) }
      switch String(cString: g_variant_get_type_string(child)) {
      case "s", "o": texts.append(String(cString: g_variant_get_string(child, nil)))
      case "b": texts.append(g_variant_get_boolean(child) != 0 ? "true" : "false")
      case "u": texts.append("\(g_variant_get_uint32(child))")
      case "x": texts.append("\(g_variant_get_int64(child))")
      case "v":
        let value = g_variant_get_variant(child)
        defer { g_variant_unref(value) }
        if String(cString: g_variant_get_type_string(value)) == "d" { number = g_variant_get_double(value) }
      default: break
      }
    }
  }
}

extension PipSinkError {
  /// The error's name on the bus, by which callers can tell errors apart.
  var busName: String {
    let kind =
      switch self {
      case .system(.invalidArgument): "InvalidArgument"
      case .stream(.unknown): "UnknownStream"
      case .stream(.duplicate): "DuplicateStream"
      case .pipeline(.missingElements): "MissingElements"
      case .pipeline(let error) where error.isMistake: "InvalidPipeline"
      case .stream(.unsupportedCaps): "InvalidPipeline"
      case .system(.resourceExhausted): "ResourceExhausted"
      case .pictureInPicture(.illegalTransition): "IllegalTransition"
      case .pictureInPicture(.sourceNotReady): "SourceNotReady"
      case .pictureInPicture(.unsupported), .pictureInPicture(.notPossible): "NotPossible"
      default: "Failed"
      }
    return "org.pipsink.Error.\(kind)"
  }
}
