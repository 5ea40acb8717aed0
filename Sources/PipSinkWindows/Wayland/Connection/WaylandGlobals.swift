import PipSink

/// The objects that a compositor offers: its global objects, its outputs and its seats. Outputs and seats come and go.
final class WaylandGlobals: Sendable {
  private struct State {
    var registry: WaylandObject<WLRegistry>?
    var objects: [String: WaylandProxy] = [:]
    var outputs: [UInt32: WaylandOutput] = [:]
    var seats: [UInt32: WaylandSeat] = [:]
    var presentation: WaylandPresentation?
    let frameFormats = WaylandFrameFormats()
    var watchers: [ObjectIdentifier: @Sendable () -> Void] = [:]
    /// What gets the input on the surfaces of PipSink's windows.
    var inputs: [WaylandReference<WLSurface>: WaylandInput] = [:]
    var lastAction: WaylandAction?
  }

  private let loop: WaylandEventLoop
  private let state = Locked(State())

  /// The interfaces of which a compositor has one global object, by their names.
  private static let wanted: [String: any WaylandInterface.Type] = {
    func named<Interface: WaylandInterface>(_ interface: Interface.Type) -> (String, any WaylandInterface.Type) {
      (Interface.table.name, interface)
    }
    let interfaces: [any WaylandInterface.Type] = [
      WLCompositor.self, WLShm.self, WLSubcompositor.self, ZWLRLayerShell.self, XXPipShell.self,
      ZXDGDecorationManager.self, XDGToplevelTagManager.self, WPViewporter.self, WPFractionalScaleManager.self,
      WPAlphaModifier.self, WPCursorShapeManager.self, XDGActivation.self, ZWPRelativePointerManager.self,
      ZWPIdleInhibitManager.self,
    ]
    return Dictionary(uniqueKeysWithValues: interfaces.map { named($0) })
  }()

  /// Whether seats are bound, so that the pointer, the keyboard and touches are received.
  private let hasInput: Bool

  init(_ loop: WaylandEventLoop, hasInput: Bool = true) { (self.loop, self.hasInput) = (loop, hasInput) }

  /// Asks the compositor for its global objects, which are bound as they are announced.
  func ask() {
    // The loop's thread may receive the first announcement before this thread goes on. To bind the object it needs the
    // registry, so it waits for the lock.
    state.withLock { state in
      state.registry = loop.makeRegistry { events in
        events.global { [weak self] name, interface, version in self?.add(name, interface, version) }
        events.globalRemove { [weak self] name in self?.remove(name) }
      }
    }
    loop.flush()
  }

  /// Releases all objects.
  func forget() {
    let old = state.exchange(State())
    withExtendedLifetime(old) {}
  }

  // MARK: - On any thread

  private subscript<Interface: WaylandInterface>(_: Interface.Type) -> WaylandObject<Interface>? {
    state.withLock { $0.objects[Interface.table.name] } as? WaylandObject<Interface>
  }

  var compositor: WaylandObject<WLCompositor>? { self[WLCompositor.self] }
  var sharedMemory: WaylandObject<WLShm>? { self[WLShm.self] }
  var subcompositor: WaylandObject<WLSubcompositor>? { self[WLSubcompositor.self] }
  var shell: WaylandObject<XDGWMBase>? { self[XDGWMBase.self] }
  var layerShell: WaylandObject<ZWLRLayerShell>? { self[ZWLRLayerShell.self] }
  var pipShell: WaylandObject<XXPipShell>? { self[XXPipShell.self] }
  var decorationManager: WaylandObject<ZXDGDecorationManager>? { self[ZXDGDecorationManager.self] }
  var tagManager: WaylandObject<XDGToplevelTagManager>? { self[XDGToplevelTagManager.self] }
  var viewporter: WaylandObject<WPViewporter>? { self[WPViewporter.self] }
  var fractionalScaleManager: WaylandObject<WPFractionalScaleManager>? { self[WPFractionalScaleManager.self] }
  var alphaModifier: WaylandObject<WPAlphaModifier>? { self[WPAlphaModifier.self] }
  var outputManager: WaylandObject<ZXDGOutputManager>? { self[ZXDGOutputManager.self] }
  var cursorShapeManager: WaylandObject<WPCursorShapeManager>? { self[WPCursorShapeManager.self] }
  var activation: WaylandObject<XDGActivation>? { self[XDGActivation.self] }
  var idleInhibitManager: WaylandObject<ZWPIdleInhibitManager>? { self[ZWPIdleInhibitManager.self] }
  var relativePointerManager: WaylandObject<ZWPRelativePointerManager>? { self[ZWPRelativePointerManager.self] }

  /// What says when pictures are on the screen, or nil where the compositor does not.
  var presentation: WaylandPresentation? { state.withLock { $0.presentation } }

  /// Which frames the compositor reads itself.
  var frameFormats: WaylandFrameFormats { state.withLock { $0.frameFormats } }

  /// Whether the compositor draws by a GPU, as one that takes pictures in a GPU's memory (zwp_linux_dmabuf_v1) does.
  var drawsByGPU: Bool { frameFormats.factory != nil }

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
  func setInput(_ input: WaylandInput?, of surface: WaylandReference<WLSurface>) {
    state.withLock { state in
      state.inputs[surface] = input
      if input == nil, state.lastAction?.surface == surface { state.lastAction = nil }
    }
  }

  /// Returns what gets the input on a surface, or nil when the surface does not belong to PipSink.
  func input(of surface: WaylandReference<WLSurface>?) -> WaylandInput? {
    guard let surface else { return nil }
    return state.withLock { $0.inputs[surface] }
  }

  // MARK: - On the connection's thread

  private func add(_ name: UInt32, _ interface: String, _ version: UInt32) {
    switch interface {
    case WLOutput.table.name:
      let output = WaylandOutput { [weak self] in self?.outputsDidChange() }
      state.withLock { $0.outputs[name] = output }
      output.proxy = bind(WLOutput.self, name, version) { output.follow($0) }
      if let outputManager { output.ask(outputManager) }
    case WLSeat.table.name:
      guard hasInput else { return }
      let seat = WaylandSeat(self, loop)
      seat.proxy = bind(WLSeat.self, name, version) { seat.follow($0) }
      state.withLock { $0.seats[name] = seat }
    case XDGWMBase.table.name:
      // A client that does not answer a ping is considered unresponsive.
      keep(
        bind(XDGWMBase.self, name, version) { events in
          events.ping { [weak self] serial in
            self?.shell?.pong(serial)
            self?.loop.flush()
          }
        })
    case WPPresentation.table.name:
      let presentation = WaylandPresentation()
      presentation.object = bind(WPPresentation.self, name, version) { presentation.follow($0) }
      state.withLock { $0.presentation = presentation }
    case ZWPLinuxDMABuf.table.name:
      let formats = frameFormats
      formats.factory = bind(ZWPLinuxDMABuf.self, name, version) { formats.follow($0) }
    case WPColorRepresentationManager.table.name:
      let formats = frameFormats
      formats.colorManager = bind(WPColorRepresentationManager.self, name, version) { formats.follow($0) }
    case ZXDGOutputManager.table.name:
      keep(bind(ZXDGOutputManager.self, name, version))
      if let outputManager { for output in outputs { output.ask(outputManager) } }
    default:
      if let known = Self.wanted[interface] { bindWanted(known, name, version) }
    }
  }

  private func bindWanted<Interface: WaylandInterface>(_ interface: Interface.Type, _ name: UInt32, _ version: UInt32) {
    keep(bind(interface, name, version))
  }

  private func keep<Interface: WaylandInterface>(_ object: WaylandObject<Interface>?) {
    state.withLock { $0.objects[Interface.table.name] = object }
  }

  private func bind<Interface: WaylandInterface>(
    _ interface: Interface.Type, _ name: UInt32, _ version: UInt32,
    handlers: (WaylandHandlers<Interface>) -> Void = { _ in }
  ) -> WaylandObject<Interface>? {
    state.withLock { $0.registry }?.bind(interface, name, version: version, handlers: handlers)
  }

  private func remove(_ name: UInt32) {
    let (output, _) = state.withLock { state in
      (state.outputs.removeValue(forKey: name), state.seats.removeValue(forKey: name))
    }
    if output != nil { outputsDidChange() }
  }
}

/// An action of the user in a window. A compositor requires one before it lets a program move, resize or show a window.
struct WaylandAction: Sendable {
  let serial: UInt32
  let seat: WaylandObject<WLSeat>
  /// It is only compared, because its owner alone uses the surface.
  let surface: WaylandReference<WLSurface>
}
