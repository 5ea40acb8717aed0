import CGIO
import PipSink

/// A method call that waits for its answer.
///
/// `@unchecked Sendable`: GDBus accepts an answer from every thread, and only one thread at a time uses the call: the
/// service's thread until the call is in a ``CallQueue``, and the main actor from then on.
final class BusCall: @unchecked Sendable {
  /// The object's path.
  let path: String
  let interface: String
  let method: String
  let arguments: [BusValue]
  /// The invocation; nil when it has been answered.
  private var invocation: OpaquePointer?

  /// Takes over an invocation.
  init(_ invocation: OpaquePointer, arguments parameters: OpaquePointer?) {
    self.invocation = invocation
    path = String(cString: g_dbus_method_invocation_get_object_path(invocation))
    interface = String(cString: g_dbus_method_invocation_get_interface_name(invocation))
    method = String(cString: g_dbus_method_invocation_get_method_name(invocation))
    arguments = BusValue.children(of: parameters)
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

  /// Answers a call for something that there is not.
  ///
  /// - Parameter kind: "Object", "Interface", "Method" or "Property" (D-Bus specification).
  func refuse(unknown kind: String) {
    refuse("org.freedesktop.DBus.Error.Unknown\(kind)", "\(path) \(interface) \(method): there is no such thing")
  }

  /// Answers the call with an error that a method has thrown.
  func refuse(_ error: any Error) {
    refuse((error as? PipSinkError)?.busName ?? "org.pipsink.Error.Failed", "\(error)")
  }

  private func takeInvocation() -> OpaquePointer? {
    defer { invocation = nil }
    return invocation
  }
}

extension PipSinkError {
  /// The error's name on the bus, by which callers can tell errors apart.
  var busName: String {
    let kind =
      switch self {
      case .system(.invalidArgument), .frame(.invalidSize): "InvalidArgument"
      case .frame(.unknownProcessor), .frame(.invalidProcessorArgument), .frame(.notRead): "InvalidArgument"
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
