import CGIO
import Logging
import PipSink

/// A private connection to a bus, with a thread on which method calls, signals and answers arrive.
///
/// `@unchecked Sendable`: the pointers are constants, GDBusConnection and GMainContext may be used from every thread,
/// and the names and the thread are set before anybody else can use the connection.
final class BusConnection: @unchecked Sendable {
  /// The names on the bus. A name that another process owns already has a suffix.
  private(set) var names: [String] = []
  let connection: OpaquePointer
  /// The name that the bus has given the connection.
  var uniqueName: String { g_dbus_connection_get_unique_name(connection).map { String(cString: $0) } ?? "" }
  /// The thread's context. With it, calls arrive whether or not the app runs a GLib main loop.
  private let context: OpaquePointer
  /// Called on the connection's thread for every method call.
  private let handler: @Sendable (BusCall) -> Void
  /// Whether the connection stops, and how much its thread has to do before it ends.
  private let state = Locked((isStopping: false, openCount: 0))
  /// Ends the calls of other processes' methods that wait for their answers.
  let cancellable = g_cancellable_new()
  private var thread: WorkerThread?
  private static let logger = Logger(visible: "pipsink.dbus")

  /// Connects, exports the interfaces, requests the names, and starts to accept calls. It waits five seconds at most for
  /// the bus.
  ///
  /// - Parameters:
  ///   - bus: the bus.
  ///   - interfaces: what is exported.
  ///   - trees: objects that are exported although it is not known yet which of them there are.
  ///   - names: the names to request.
  ///   - handler: called on the connection's thread for every method call.
  /// - Throws: ``PipSinkError/System/sessionBusUnavailable(reason:)``.
  init(
    to bus: Bus = .session, exporting interfaces: [BusInterface] = [], trees: [Tree] = [], as names: [String] = [],
    handler: @escaping @Sendable (BusCall) -> Void = { _ in }
  ) throws(PipSinkError) {
    self.handler = handler
    let context = g_main_context_new()
    let deadline = BusDeadline(.seconds(5))
    do throws(PipSinkError) {
      connection = try Self.asDefault(context) { () throws(PipSinkError) in try Self.connect(bus, deadline) }
    } catch {
      g_main_context_unref(context)
      throw error
    }
    self.context = context!
    try Self.asDefault(context) { () throws(PipSinkError) in
      if !interfaces.isEmpty {
        g_signal_connect_data(
          UnsafeMutableRawPointer(connection), "closed", unsafeBitCast(Self.closed, to: GCallback.self), nil, nil,
          GConnectFlags(rawValue: 0))
      }
      for interface in interfaces { try register(interface) }
      for tree in trees { try register(tree) }
      for name in names { self.names.append(try own(name, deadline)) }
    }
    thread = WorkerThread(name: "pip-dbus") { [self] in serve() }
    if thread == nil { throw .system(.sessionBusUnavailable(reason: "the system refuses another thread")) }
  }

  deinit {
    g_object_unref(UnsafeMutableRawPointer(connection))
    g_object_unref(cancellable)
    g_main_context_unref(context)
  }

  /// Runs `body` with `context` as this thread's default, so that what it makes calls back there. The thread gives the
  /// context up afterwards; otherwise the connection's thread could not take it.
  private static func asDefault<Result>(
    _ context: OpaquePointer?, _ body: () throws(PipSinkError) -> Result
  ) throws(PipSinkError) -> Result {
    g_main_context_push_thread_default(context)
    defer { g_main_context_pop_thread_default(context) }
    return try body()
  }

  /// Opens a new connection. The process's shared connection would end the process when the bus goes away.
  private static func connect(_ bus: Bus, _ deadline: BusDeadline) throws(PipSinkError) -> OpaquePointer {
    try result(deadline) { error in
      let found =
        switch bus {
        case .session: g_dbus_address_get_for_bus_sync(G_BUS_TYPE_SESSION, deadline.cancellable, error)
        case .system: g_dbus_address_get_for_bus_sync(G_BUS_TYPE_SYSTEM, deadline.cancellable, error)
        case .address(let address): g_strdup(address)
        }
      guard let address = found else { return nil }
      defer { g_free(address) }
      let flags =
        G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT.rawValue
        | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION.rawValue
      return g_dbus_connection_new_for_address_sync(
        address, GDBusConnectionFlags(rawValue: flags), nil, deadline.cancellable, error)
    }
  }

  /// Returns what `body` returns.
  ///
  /// - Throws: ``PipSinkError/System/sessionBusUnavailable(reason:)`` when `body` returns nil, with the reason that it
  ///   reports.
  private static func result<Result>(
    _ deadline: BusDeadline? = nil, _ body: (UnsafeMutablePointer<UnsafeMutablePointer<GError>?>) -> Result?
  ) throws(PipSinkError) -> Result {
    var error: UnsafeMutablePointer<GError>?
    if let result = body(&error) { return result }
    defer { g_clear_error(&error) }
    let reason = error.map { String(cString: $0.pointee.message) } ?? "no reason given"
    throw .system(.sessionBusUnavailable(reason: deadline?.hasPassed == true ? "it does not answer" : reason))
  }

  // MARK: - Interfaces and names

  /// Where a connection goes.
  enum Bus: Sendable {
    case session
    case system
    case address(String)
  }

  /// Objects whose paths are one word longer than a path. All of them answer to the same interfaces; the handler refuses
  /// calls for objects that there are not.
  struct Tree: Sendable {
    let path: String
    /// The interfaces in D-Bus's introspection format.
    let description: String
  }

  private func register(_ tree: Tree) throws(PipSinkError) {
    _ = try Self.result { error -> UInt32? in
      guard let node = g_dbus_node_info_new_for_xml(tree.description, error) else { return nil }
      var vtable = GDBusSubtreeVTable()
      vtable.enumerate = { _, _, _, _ in
        var none: UnsafeMutablePointer<gchar>?
        return g_strdupv(&none)
      }
      vtable.introspect = { _, _, _, _, context in
        TreeContext.of(context)?.interfaces()
      }
      vtable.dispatch = { _, _, _, _, _, data, context in
        data?.pointee = TreeContext.of(context)?.connection
        return TreeContext.of(context).map { UnsafePointer($0.table) }
      }
      let context = TreeContext(node, Unmanaged.passUnretained(self).toOpaque())
      let id = g_dbus_connection_register_subtree(
        connection, tree.path, &vtable, G_DBUS_SUBTREE_FLAGS_DISPATCH_TO_UNENUMERATED_NODES,
        Unmanaged.passRetained(context).toOpaque(),
        { context in if let context { Unmanaged<TreeContext>.fromOpaque(context).release() } }, error)
      return id == 0 ? nil : id
    }
  }

  /// What GDBus asks about the objects of a tree.
  private final class TreeContext {
    private let node: UnsafeMutablePointer<GDBusNodeInfo>
    /// The connection, as the handlers of calls get it.
    let connection: UnsafeMutableRawPointer

    /// The handlers of calls, of which GDBus keeps the address as long as the tree.
    let table = UnsafeMutablePointer<GDBusInterfaceVTable>.allocate(capacity: 1)

    init(_ node: UnsafeMutablePointer<GDBusNodeInfo>, _ connection: UnsafeMutableRawPointer) {
      (self.node, self.connection) = (node, connection)
      table.initialize(to: GDBusInterfaceVTable())
      table.pointee.method_call = BusConnection.methodCall
    }

    deinit {
      g_dbus_node_info_unref(node)
      table.deallocate()
    }

    static func of(_ context: UnsafeMutableRawPointer?) -> TreeContext? {
      context.map { Unmanaged<TreeContext>.fromOpaque($0).takeUnretainedValue() }
    }

    /// The interfaces of an object, in an array that GDBus frees.
    func interfaces() -> UnsafeMutablePointer<UnsafeMutablePointer<GDBusInterfaceInfo>?>? {
      guard let all = node.pointee.interfaces else { return nil }
      var count = 0
      while all[count] != nil { count += 1 }
      let size = MemoryLayout<UnsafeMutablePointer<GDBusInterfaceInfo>?>.stride
      let list = g_malloc0_n(gsize(count + 1), gsize(size))?.assumingMemoryBound(
        to: UnsafeMutablePointer<GDBusInterfaceInfo>?.self)
      for index in 0..<count { list?[index] = g_dbus_interface_info_ref(all[index]) }
      return list
    }
  }

  private func register(_ interface: BusInterface) throws(PipSinkError) {
    var vtable = GDBusInterfaceVTable()
    // Accesses to properties arrive as calls as well, since there is no function for them.
    vtable.method_call = Self.methodCall
    _ = try Self.result { error -> UInt32? in
      guard let node = g_dbus_node_info_new_for_xml(interface.description, error) else { return nil }
      defer { g_dbus_node_info_unref(node) }
      let id = g_dbus_connection_register_object(
        connection, interface.path, g_dbus_node_info_lookup_interface(node, interface.name), &vtable,
        Unmanaged.passUnretained(self).toOpaque(), nil, error)
      return id == 0 ? nil : id
    }
  }

  /// Requests a name, and a name with a suffix where another process owns it.
  ///
  /// - Returns: the name that was obtained.
  private func own(_ name: String, _ deadline: BusDeadline) throws(PipSinkError) -> String {
    let instance = "\(name).instance\(getpid())"
    var candidate = name
    var number = 1
    while try !request(candidate, deadline) {
      candidate = number == 1 ? instance : "\(instance)_\(number)"
      number += 1
    }
    return candidate
  }

  /// Requests a name on the bus.
  ///
  /// - Returns: whether it was obtained.
  private func request(_ name: String, _ deadline: BusDeadline) throws(PipSinkError) -> Bool {
    let reply = try Self.result(deadline) { error in
      // 4 is DBUS_NAME_FLAG_DO_NOT_QUEUE.
      var arguments = [g_variant_new_string(name), g_variant_new_uint32(4)]
      return g_dbus_connection_call_sync(
        connection, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName",
        g_variant_new_tuple(&arguments, 2), nil, G_DBUS_CALL_FLAGS_NONE, -1, deadline.cancellable, error)
    }
    defer { g_variant_unref(reply) }
    let code = g_variant_get_child_value(reply, 0)
    defer { g_variant_unref(code) }
    // DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER.
    return g_variant_get_uint32(code) == 1
  }

  /// Sends a signal. Any thread may call it, and it does nothing when the bus is gone.
  func emit(_ signal: String, _ arguments: [BusValue], of interface: String, at path: String) {
    g_dbus_connection_emit_signal(
      connection, nil, path, interface, signal, BusValue.makeTuple(arguments), nil)
  }

  // MARK: - The thread

  /// Calls `body` on the connection's thread, soon. The thread does not end before what `body` gets has been called.
  ///
  /// - Returns: false, without calling it, after ``stop()``.
  func perform(_ body: @escaping @Sendable (_ done: @escaping @Sendable () -> Void) -> Void) -> Bool {
    state.withLock { state in
      guard !state.isStopping else { return false }
      state.openCount += 1
      let box = ClosureBox<Void> { [self] in body { self.state.withLock { $0.openCount -= 1 } } }
      let source = g_idle_source_new()
      g_source_set_callback(
        source,
        { context in
          ClosureBox<Void>.take(context)?.body(())
          return 0
        }, box.retained(), nil)
      g_source_attach(source, context)
      g_source_unref(source)
      return true
    }
  }

  private func serve() {
    g_main_context_push_thread_default(context)
    while state.withLock({ !$0.isStopping || $0.openCount > 0 }) { g_main_context_iteration(context, 1) }
    g_main_context_pop_thread_default(context)
  }

  /// Sends everything that waits, releases the names, and ends the thread. It must not be called on that thread. It waits
  /// a second at most for the bus.
  func stop() {
    state.withLock { $0.isStopping = true }
    g_cancellable_cancel(cancellable)
    g_main_context_wakeup(context)
    thread?.join()
    let deadline = BusDeadline(.seconds(1))
    g_dbus_connection_flush_sync(connection, deadline.cancellable, nil)
    g_dbus_connection_close_sync(connection, deadline.cancellable, nil)
    // Calls that came too late would keep the connection alive.
    while g_main_context_iteration(context, 0) != 0 {}
  }

  fileprivate static let methodCall: GDBusInterfaceMethodCallFunc = {
    _, _, _, _, _, parameters, invocation, context in
    guard let invocation, let context else { return }
    Unmanaged<BusConnection>.fromOpaque(context).takeUnretainedValue().handler(
      BusCall(invocation, arguments: parameters))
  }

  private static let closed:
    @convention(c) (
      UnsafeMutableRawPointer?, gboolean, UnsafeMutablePointer<GError>?, UnsafeMutableRawPointer?
    ) -> Void = { _, vanished, error, _ in
      guard vanished != 0 else { return }
      let reason = error.map { String(cString: $0.pointee.message) } ?? "the bus has ended"
      logger.warning("the session bus is gone, so other processes can no longer control the session: \(reason)")
    }
}

/// The end of what waits for a bus that may not answer. GIO's functions return when it has passed.
///
/// `@unchecked Sendable`: the pointer is a constant, and a GCancellable may be used from every thread.
private final class BusDeadline: @unchecked Sendable {
  let cancellable = g_cancellable_new()
  private var timer: Task<Void, Never>?

  init(_ time: Duration) {
    timer = Task.detached { [weak self] in
      if (try? await Task.sleep(for: time)) != nil, let self { g_cancellable_cancel(cancellable) }
    }
  }

  deinit {
    timer?.cancel()
    g_object_unref(UnsafeMutableRawPointer(cancellable))
  }

  var hasPassed: Bool { g_cancellable_is_cancelled(cancellable) != 0 }
}
