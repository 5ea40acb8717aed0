import CWindows
import PipSink

/// The objects that a compositor offers: its global objects, its outputs and its seats. Outputs and seats come and go.
final class WaylandGlobals: Sendable {
  private struct State {
    var registry: WaylandProxy?
    var objects: [String: WaylandProxy] = [:]
    var outputs: [UInt32: WaylandOutput] = [:]
    var seats: [UInt32: WaylandSeat] = [:]
    var watchers: [ObjectIdentifier: @Sendable () -> Void] = [:]
    /// What gets the input on surfaces of PipSink's windows, by their wl_surface.
    var inputs: [OpaquePointer: WaylandInput] = [:]
    var lastAction: WaylandAction?
  }

  private let loop: WaylandEventLoop
  private let state = Locked(State())

  /// The interfaces of which a compositor has one global object, by their names. Each has the highest version that is
  /// used.
  private static let wanted: [String: WaylandInterface] = Dictionary(
    uniqueKeysWithValues: [
      WaylandInterface.compositor, .sharedMemory, .subcompositor, .shell, .layerShell, .pipShell, .decorationManager,
      .tagManager, .viewporter, .fractionalScaleManager, .alphaModifier, .xdgOutputManager, .cursorShapeManager,
      .activation, .relativePointerManager,
    ].map { ($0.name, $0) })

  /// Whether seats are bound, so that the pointer, the keyboard and touches are received.
  private let hasInput: Bool

  init(_ loop: WaylandEventLoop, hasInput: Bool = true) { (self.loop, self.hasInput) = (loop, hasInput) }

  /// Asks the compositor for its global objects, which are bound as they are announced.
  func ask() {
    // The loop's thread may receive the first announcement before this thread goes on. To bind the object it needs the
    // registry, so it waits for the lock.
    state.withLock { state in
      state.registry = loop.makeRegistry { [weak self] event, arguments in
        if event == 0 {
          self?.add(arguments.uint(0), arguments.text(1) ?? "", arguments.uint(2))
        } else {
          self?.remove(arguments.uint(0))
        }
      }
    }
    loop.flush()
  }

  /// Releases all objects.
  func forget() {
    let old = state.withLock { state in
      defer { state = State() }
      return state
    }
    withExtendedLifetime(old) {}
  }

  // MARK: - On any thread

  private subscript(_ interface: WaylandInterface) -> WaylandProxy? {
    state.withLock { $0.objects[interface.name] }
  }

  var compositor: WaylandProxy? { self[.compositor] }
  var sharedMemory: WaylandProxy? { self[.sharedMemory] }
  var subcompositor: WaylandProxy? { self[.subcompositor] }
  var shell: WaylandProxy? { self[.shell] }
  var layerShell: WaylandProxy? { self[.layerShell] }
  var pipShell: WaylandProxy? { self[.pipShell] }
  var decorationManager: WaylandProxy? { self[.decorationManager] }
  var tagManager: WaylandProxy? { self[.tagManager] }
  var viewporter: WaylandProxy? { self[.viewporter] }
  var fractionalScaleManager: WaylandProxy? { self[.fractionalScaleManager] }
  var alphaModifier: WaylandProxy? { self[.alphaModifier] }
  var xdgOutputManager: WaylandProxy? { self[.xdgOutputManager] }
  var cursorShapeManager: WaylandProxy? { self[.cursorShapeManager] }
  var activation: WaylandProxy? { self[.activation] }
  var relativePointerManager: WaylandProxy? { self[.relativePointerManager] }

  /// The monitors, in the order in which the compositor announced them.
  var outputs: [WaylandOutput] { state.withLock { $0.outputs.sorted { $0.key < $1.key }.map(\.value) } }

  /// The same monitors, as far as the compositor has described them.
  var monitors: [WindowMonitor] { outputs.compactMap(\.monitor) }

  /// The user's last action in one of PipSink's windows.
  var lastAction: WaylandAction? {
    get { state.withLock { $0.lastAction } }
    set { state.withLock { $0.lastAction = newValue } }
  }

  /// Sets a handler that is called on the connection's thread when monitors have changed; nil removes it.
  func watchOutputs(_ key: ObjectIdentifier, _ handler: (@Sendable () -> Void)?) {
    state.withLock { $0.watchers[key] = handler }
  }

  /// Calls the handlers for a change of monitors.
  func outputsDidChange() {
    for handler in state.withLock({ Array($0.watchers.values) }) { handler() }
  }

  /// Sets what gets the input on a surface; nil removes it.
  func setInput(_ input: WaylandInput?, of surface: OpaquePointer) {
    state.withLock { state in
      state.inputs[surface] = input
      if input == nil, state.lastAction?.surface == surface { state.lastAction = nil }
    }
  }

  /// Returns what gets the input on a surface, or nil when the surface does not belong to PipSink.
  func input(of surface: OpaquePointer?) -> WaylandInput? {
    guard let surface else { return nil }
    return state.withLock { $0.inputs[surface] }
  }

  // MARK: - On the connection's thread

  private func add(_ name: UInt32, _ interface: String, _ version: UInt32) {
    switch interface {
    case WaylandInterface.output.name:
      let output = WaylandOutput { [weak self] in self?.outputsDidChange() }
      state.withLock { $0.outputs[name] = output }
      output.proxy = bind(.output, name, min(version, 4), destructor: version >= 3 ? 0 : nil) { [weak output] in
        output?.handle($0, $1)
      }
      if let manager = xdgOutputManager { output.ask(manager) }
    case WaylandInterface.seat.name:
      guard hasInput else { return }
      let seat = WaylandSeat(self, loop)
      seat.proxy = bind(.seat, name, min(version, 8), destructor: version >= 5 ? 3 : nil) { [weak seat] in
        seat?.handle($0, $1)
      }
      state.withLock { $0.seats[name] = seat }
    default:
      guard let known = Self.wanted[interface] else { return }
      addObject(known, name, version)
    }
  }

  private func addObject(_ interface: WaylandInterface, _ name: UInt32, _ version: UInt32) {
    let hasDestructor = ![WaylandInterface.compositor.name, WaylandInterface.sharedMemory.name].contains(interface.name)
    // Layer-shell has a destroy request since version 3, with the number 1.
    let destructor: UInt32? =
      interface.name == WaylandInterface.layerShell.name ? (version >= 3 ? 1 : nil) : hasDestructor ? 0 : nil
    var handler: WaylandProxy.Handler?
    if interface.name == WaylandInterface.shell.name {
      handler = { [weak self] _, arguments in
        // xdg-shell: a client that does not answer a ping is considered unresponsive.
        self?.shell?.send(3, .uint(arguments.uint(0)))
        self?.loop.flush()
      }
    }
    let object = bind(interface, name, min(version, interface.version), destructor: destructor, handler)
    state.withLock { $0.objects[interface.name] = object }
    if interface.name == WaylandInterface.xdgOutputManager.name, let object {
      for output in outputs { output.ask(object) }
    }
  }

  private func bind(
    _ interface: WaylandInterface, _ name: UInt32, _ version: UInt32, destructor: UInt32?,
    _ handler: WaylandProxy.Handler?
  ) -> WaylandProxy? {
    let version = min(version, interface.version)
    return state.withLock { $0.registry }?.make(
      interface, 0, .uint(name), .text(interface.name), .uint(version), .new, version: version, destructor: destructor,
      handler: handler)
  }

  private func remove(_ name: UInt32) {
    let (output, _) = state.withLock { state in
      (state.outputs.removeValue(forKey: name), state.seats.removeValue(forKey: name))
    }
    if output != nil { outputsDidChange() }
  }
}

/// An action of the user in a window. A compositor requires one before it lets a program move, resize or show a window.
///
/// `@unchecked Sendable`: the surface's address is only compared, and its owner alone uses the surface.
struct WaylandAction: @unchecked Sendable {
  let serial: UInt32
  let seat: WaylandProxy
  let surface: OpaquePointer
}
