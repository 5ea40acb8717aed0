import CGIO
import Logging
import PipSink

/// Tells assistive technology, such as a screen reader, of a session's picture-in-picture windows: their controls, each
/// with its name, its state and a press, and the people in them (AT-SPI 2, over D-Bus).
///
/// Nothing is done, and no bus is started, before some assistive technology runs (`org.a11y.Status`, `IsEnabled`).
@MainActor
public final class AccessibilityService {
  private weak var session: PictureInPictureSession?
  private let applicationName: String
  /// The session bus, on which assistive technology says that it runs.
  private var sessionBus: BusConnection?
  /// The bus of assistive technology.
  private var bus: BusConnection?
  private let inbox = CallInbox()
  private var tree: AccessibleTree?
  private var parent = AccessibleInterfaces.nothing
  private var number: Int32 = 0
  private var start: Task<Void, Never>?
  private static let logger = Logger(visible: "pipsink.dbus")
  private static let service = "org.a11y.Bus"
  private static let properties = "org.freedesktop.DBus.Properties"

  /// Begins to tell assistive technology of a session. The bus is asked in the background.
  ///
  /// - Parameters:
  ///   - session: the session; not kept alive.
  ///   - applicationName: the app's name for its user; nil for ``PipSink/ShownTexts/applicationName``, or else
  ///     "PipSink".
  public init(for session: PictureInPictureSession, applicationName: String? = nil) {
    self.session = session
    self.applicationName = applicationName ?? ShownTexts.current.applicationName ?? "PipSink"
    inbox.perform = { [weak self] in self?.perform($0) }
    start = Task { [weak self] in
      do throws(PipSinkError) {
        let connection = try await BusConnection.connected(to: .session)
        guard let self, !Task.isCancelled else { return connection.stop() }
        sessionBus = connection
        await follow(connection)
      } catch {
        Self.logger.debug("assistive technology is not told: \(error)")
      }
    }
    session.observeEvents { [weak self] event in
      switch event {
      case .engine(.audioLevel), .engine(.buffering): break
      default: self?.update()
      }
    }
  }

  isolated deinit {
    stop()
  }

  /// Leaves the bus of assistive technology.
  public func stop() {
    start?.cancel()
    inbox.close()
    for controller in session?.controllers ?? [] { controller.presentationChanged = nil }
    bus?.stop()
    sessionBus?.stop()
    (bus, sessionBus, tree) = (nil, nil, nil)
  }

  // MARK: - Whether there is any

  private func follow(_ connection: BusConnection) async {
    connection.subscribe(
      .init(service: Self.service, path: "/org/a11y/bus", interface: Self.properties, name: "PropertiesChanged")
    ) { [weak self] arguments in
      guard arguments.first == .string("org.a11y.Status"), arguments.count > 1,
        case .dictionary(_, let changed) = arguments[1], changed["IsEnabled"] == .variant(.bool(true))
      else { return }
      Task { @MainActor in await self?.join() }
    }
    // Where the user has it on, it is on from the start of its service, which says nothing then.
    connection.subscribe(Self.busMember("NameOwnerChanged"), first: Self.service) { [weak self] arguments in
      if arguments.last != .string("") { Task { @MainActor in await self?.look(connection) } }
    }
    let owner = await connection.call(Self.busMember("NameHasOwner"), .string(Self.service))
    if owner?.first == .bool(true) { await look(connection) }
  }

  private static func busMember(_ name: String) -> BusConnection.Member {
    let bus = "org.freedesktop.DBus"
    return .init(service: bus, path: "/org/freedesktop/DBus", interface: bus, name: name)
  }

  /// Asks whether there is any.
  private func look(_ connection: BusConnection) async {
    let answer = await connection.call(
      .init(service: Self.service, path: "/org/a11y/bus", interface: Self.properties, name: "Get"),
      .string("org.a11y.Status"), .string("IsEnabled"))
    if answer?.first == .variant(.bool(true)) { await join() }
  }

  /// Goes to the bus of assistive technology, and tells its registry of the program.
  private func join() async {
    guard bus == nil, let sessionBus else { return }
    let address = await sessionBus.call(
      .init(service: Self.service, path: "/org/a11y/bus", interface: Self.service, name: "GetAddress"))
    guard case .string(let text)? = address?.first, bus == nil else { return }
    do throws(PipSinkError) {
      let connection = try await BusConnection.connected(
        to: .address(text),
        trees: [
          .init(path: AccessibleInterfaces.folder, description: AccessibleInterfaces.description),
          .init(path: AccessibleInterfaces.cacheFolder, description: AccessibleInterfaces.cacheDescription),
        ], handler: inbox.take)
      guard bus == nil, self.sessionBus != nil else { return connection.stop() }
      bus = connection
      update()
      let registry = AccessibleInterfaces.prefix + "Registry"
      let answer = await connection.call(
        .init(
          service: registry, path: AccessibleInterfaces.path(of: AccessibleTree.root),
          interface: AccessibleInterfaces.prefix + "Socket", name: "Embed"),
        .tuple([.string(connection.uniqueName), .objectPath(AccessibleInterfaces.path(of: AccessibleTree.root))]))
      if let desktop = answer?.first { parent = desktop }
    } catch {
      Self.logger.debug("assistive technology is not told: \(error)")
    }
  }

  // MARK: - What has changed

  private func update() {
    guard let bus, let session else { return }
    for controller in session.controllers {
      if controller.presentationChanged == nil { controller.presentationChanged = { [weak self] in self?.update() } }
    }
    let new = AccessibleTree(of: session, applicationName: applicationName)
    guard let old = tree else {
      tree = new
      return
    }
    tree = new
    guard new != old else { return }
    for id in new.nodes.keys.sorted() {
      guard let node = new[id], let before = old[id] else { continue }
      if node.name != before.name { say("PropertyChange", of: id, "accessible-name", 0, .string(node.name), on: bus) }
      if node.description != before.description {
        say("PropertyChange", of: id, "accessible-description", 0, .string(node.description), on: bus)
      }
      if node.progress != before.progress {
        say(
          "PropertyChange", of: id, "accessible-value", 0, .double(node.progress?.position.seconds ?? 0), on: bus)
      }
      for state in AccessibleNode.State.allCases where node.states.contains(state) != before.states.contains(state) {
        say(
          "StateChanged", of: id, state.name, node.states.contains(state) ? 1 : 0, .signed32(0), on: bus)
      }
      if node.role == .window, node.states.contains(.active) != before.states.contains(.active) {
        say(
          node.states.contains(.active) ? "Activate" : "Deactivate", of: id, "", 0, .string(node.name), on: bus,
          kind: "Window")
      }
      for (index, child) in before.children.enumerated() where !node.children.contains(child) {
        say("ChildrenChanged", of: id, "remove", Int32(index), interfaces(bus).reference(to: child), on: bus)
      }
      for (index, child) in node.children.enumerated() where !before.children.contains(child) {
        say("ChildrenChanged", of: id, "add", Int32(index), interfaces(bus).reference(to: child), on: bus)
      }
    }
  }

  private func say(
    _ signal: String, of id: String, _ detail: String, _ number: Int32, _ value: BusValue, on bus: BusConnection,
    kind: String = "Object"
  ) {
    bus.emit(
      signal,
      [.string(detail), .signed32(number), .signed32(0), .variant(value), .variants([:])],
      of: AccessibleInterfaces.prefix + "Event.\(kind)", at: AccessibleInterfaces.path(of: id))
  }

  // MARK: - Answers

  private func interfaces(_ bus: BusConnection) -> AccessibleInterfaces {
    AccessibleInterfaces(
      tree: tree ?? AccessibleTree(), busName: bus.uniqueName, parent: parent, number: number)
  }

  private func perform(_ call: BusCall) {
    if let bus, call.path == AccessibleInterfaces.cachePath, call.method == "GetItems" {
      return call.answer([interfaces(bus).items])
    }
    let id = String(call.path.dropFirst(AccessibleInterfaces.folder.utf8.count + 1))
    guard let bus, let node = tree?[id] else {
      return call.refuse(unknown: "Object")
    }
    let known = interfaces(bus)
    // A call for a property has the interface's name as first argument.
    if call.interface == Self.properties {
      guard case .string(let interface)? = call.arguments.first else { return call.answer([]) }
      return access(interface, call, of: node, known)
    }
    guard AccessibleInterfaces.interfaces(of: node).contains(call.interface) else {
      return call.refuse(unknown: "Interface")
    }
    if call.method == "DoAction" {
      let isDone = controller(of: node).map { controller in
        guard let action = node.action, call.arguments.first == .signed32(0), controller.offers(action) else {
          return false
        }
        controller.perform(action)
        return true
      }
      return call.answer([.bool(isDone ?? false)])
    }
    guard let answer = known.answer(call.method, call.arguments, about: node) else {
      return call.refuse(unknown: "Method")
    }
    call.answer(answer)
  }

  private func access(
    _ interface: String, _ call: BusCall, of node: AccessibleNode, _ known: AccessibleInterfaces
  ) {
    let values = known.properties(of: node, interface)
    switch call.method {
    case "GetAll": call.answer([.variants(values)])
    case "Set":
      switch (call.arguments.dropFirst().first, call.arguments.last) {
      case (.string("Id"), .variant(.signed32(let id))): number = id
      case (.string("CurrentValue"), .variant(.double(let seconds))) where node.progress != nil:
        controller(of: node)?.seek(to: MediaTime(seconds: seconds))
      default: break
      }
      call.answer([])
    default:
      guard case .string(let name)? = call.arguments.last, let value = values[name] else {
        return call.refuse(unknown: "Property")
      }
      call.answer([.variant(value)])
    }
  }

  /// The controller of the window in which a control is.
  private func controller(of node: AccessibleNode) -> PictureInPictureController? {
    guard let session, let window = node.window else { return nil }
    return AccessibleTree.controller(of: window, in: session)
  }
}
