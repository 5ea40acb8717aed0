import CGIO
import Glibc
import PipSink

/// What a program asks others for on a bus.
extension BusConnection {
  /// Connects on a thread of its own, since that may wait for the bus. Nobody has asked for the connection, so that no
  /// bus is started for it, as GIO would do on X11 where `dbus-launch` is installed.
  ///
  /// - Throws: ``PipSinkError/System/sessionBusUnavailable(reason:)``, for both buses.
  static func connected(
    to bus: Bus, trees: [Tree] = [], handler: @escaping @Sendable (BusCall) -> Void = { _ in }
  ) async throws(PipSinkError) -> BusConnection {
    if case .session = bus, getenv("DBUS_SESSION_BUS_ADDRESS") == nil {
      // This is where the bus of a user is (D-Bus specification, "Well-known Message Bus Instances").
      let folder = getenv("XDG_RUNTIME_DIR").map { String(cString: $0) } ?? ""
      guard access(folder + "/bus", F_OK) == 0 else {
        throw .system(.sessionBusUnavailable(reason: "there is none"))
      }
    }
    let result = await withCheckedContinuation { continuation in
      let thread = WorkerThread(name: "pip-dbus-start") {
        continuation.resume(
          returning: Result { () throws(PipSinkError) in try BusConnection(to: bus, trees: trees, handler: handler) })
      }
      if thread == nil {
        let error = PipSinkError.system(.sessionBusUnavailable(reason: "the system refuses another thread"))
        continuation.resume(returning: .failure(error))
      }
    }
    return try result.get()
  }

  /// A method, or a signal, of another process.
  struct Member: Sendable {
    let service: String
    let path: String
    let interface: String
    let name: String
  }

  /// Calls a method. The other process has five seconds to answer.
  ///
  /// - Returns: the results; nil when the call has failed, which includes that the connection stops.
  func call(_ member: Member, _ arguments: BusValue...) async -> [BusValue]? {
    await withCheckedContinuation { continuation in
      let isTaken = perform { [self] done in
        let box = ClosureBox { (results: [BusValue]?) in
          continuation.resume(returning: results)
          done()
        }
        g_dbus_connection_call(
          connection, member.service, member.path, member.interface, member.name, BusValue.makeTuple(arguments), nil,
          G_DBUS_CALL_FLAGS_NONE, 5000, cancellable,
          { connection, result, context in
            let results = g_dbus_connection_call_finish(connection.map { OpaquePointer($0) }, result, nil)
            defer { if let results { g_variant_unref(results) } }
            ClosureBox<[BusValue]?>.take(context)?.body(results.map { BusValue.children(of: $0) })
          }, box.retained())
      }
      if !isTaken { continuation.resume(returning: nil) }
    }
  }

  /// Calls `handler` on the connection's thread with the arguments of a signal, until the connection stops.
  ///
  /// - Parameter first: what the signal's first argument has to be; nil for anything.
  func subscribe(_ member: Member, first: String? = nil, _ handler: @escaping @Sendable ([BusValue]) -> Void) {
    _ = perform { [self] done in
      g_dbus_connection_signal_subscribe(
        connection, member.service, member.interface, member.name, member.path, first, G_DBUS_SIGNAL_FLAGS_NONE,
        { _, _, _, _, _, parameters, context in
          ClosureBox<[BusValue]>.borrow(context)?.body(BusValue.children(of: parameters))
        }, ClosureBox(handler).retained(), { ClosureBox<[BusValue]>.take($0) })
      done()
    }
  }
}
