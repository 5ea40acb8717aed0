import CGIO
import PipSink

/// A method call that waits for its answer.
///
/// `@unchecked Sendable`: GDBus allows an answer from every thread, and one thread at a time has the call: the
/// service's until it is in a ``CallQueue``, the main actor's from then on.
final class BusCall: @unchecked Sendable {
  let interface: String
  let method: String
  let arguments: BusArguments
  /// nil when it has been answered.
  private var invocation: OpaquePointer?

  /// Takes the invocation over.
  init(_ invocation: OpaquePointer, arguments parameters: OpaquePointer?) {
    self.invocation = invocation
    interface = String(cString: g_dbus_method_invocation_get_interface_name(invocation))
    method = String(cString: g_dbus_method_invocation_get_method_name(invocation))
    arguments = BusArguments(parameters)
  }

  deinit {
    if let invocation { g_object_unref(UnsafeMutableRawPointer(invocation)) }
  }

  func answer(_ results: [BusValue]) {
    g_dbus_method_invocation_return_value(takeInvocation(), BusValue.makeTuple(results))
  }

  func refuse(_ error: String, _ message: String) {
    g_dbus_method_invocation_return_dbus_error(takeInvocation(), error, message)
  }

  private func takeInvocation() -> OpaquePointer? {
    defer { invocation = nil }
    return invocation
  }
}

/// What the interfaces take of a call's arguments.
struct BusArguments: Sendable {
  /// Its strings and object paths, "true" or "false" for a boolean, and whole numbers in digits, in their order.
  private(set) var texts: [String] = []
  /// A property's new value, where it is a number.
  private(set) var number: Double?

  /// - Parameter tuple: borrowed.
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
  /// What callers on the bus can tell errors apart by.
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
