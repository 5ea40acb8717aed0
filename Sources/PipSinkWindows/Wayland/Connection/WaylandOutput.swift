import CWindows
import PipSink

/// A monitor, as the compositor describes it.
final class WaylandOutput: Sendable {
  private struct State {
    var proxy: WaylandProxy?
    var xdgOutput: WaylandProxy?
    /// The next description, which counts when it is complete.
    var next = Description()
    var current = Description()
  }

  private struct Description: Equatable {
    /// In the monitor's pixels, before it is turned.
    var mode: PictureSize?
    var isTurned = false
    /// Of wl_output: a whole number, the next above a fraction.
    var scale = 1
    var logicalSize: PictureSize?
    /// In units.
    var position = SIMD2(0, 0)
    /// As wl_output says it, as xdg-output does, and of whom and which kind it is.
    var (name, xdgName, model): (String?, String?, String) = (nil, nil, "")
  }

  private let state = Locked(State())
  private let changed: @Sendable () -> Void

  /// - Parameter changed: called on the connection's thread.
  init(_ changed: @escaping @Sendable () -> Void) { self.changed = changed }

  var proxy: WaylandProxy? {
    get { state.withLock { $0.proxy } }
    set { state.withLock { $0.proxy = newValue } }
  }

  /// Pixels for each unit. Compositors without wp_fractional_scale say a fraction by the monitor's size in units alone.
  var scale: Double {
    let current = state.withLock { $0.current }
    guard let mode = current.mode, let logicalSize = current.logicalSize, logicalSize.width > 0 else {
      return Double(current.scale)
    }
    let width = current.isTurned ? mode.height : mode.width
    // In steps of 120ths, as wp_fractional_scale has it.
    return max(1, (Double(width) / Double(logicalSize.width) * 120).rounded() / 120)
  }

  /// A whole number, the next above a fraction.
  var wholeScale: Int { state.withLock { max(1, $0.current.scale) } }

  /// In units; nil while it is not known.
  var size: PictureSize? {
    let current = state.withLock { $0.current }
    if let size = current.logicalSize { return size }
    return current.mode.map { mode in
      let (width, height) = current.isTurned ? (mode.height, mode.width) : (mode.width, mode.height)
      return PictureSize(width: width / current.scale, height: height / current.scale)
    }
  }

  /// Of its connector, which is the same when it comes back; its maker's and model's where no compositor says it.
  var name: String {
    let current = state.withLock { $0.current }
    return current.name ?? current.xdgName ?? current.model
  }

  /// In units, among the other monitors; nil while it is not known.
  var area: PictureRect? {
    let position = state.withLock { $0.current.position }
    return size.map { PictureRect(x: position.x, y: position.y, width: $0.width, height: $0.height) }
  }

  // MARK: - On the connection's thread

  /// Asks for the size and the place in units, and the name.
  func ask(_ manager: WaylandProxy) {
    guard let proxy, state.withLock({ $0.xdgOutput == nil }) else { return }
    let xdgOutput = manager.make(.xdgOutput, 1, .new, .object(proxy.pointer)) { [weak self] event, arguments in
      switch event {
      case 0:
        let position = SIMD2(arguments.int(0), arguments.int(1))
        self?.state.withLock { $0.next.position = position }
      case 1:
        let size = PictureSize(width: arguments.int(0), height: arguments.int(1))
        self?.state.withLock { $0.next.logicalSize = size }
        // From the third version on wl_output says when it is complete.
        if proxy.version < 2 { self?.finish() }
      case 2: self?.finish()
      case 3:
        let name = arguments.text(0)
        self?.state.withLock { $0.next.xdgName = name }
      default: break
      }
    }
    state.withLock { $0.xdgOutput = xdgOutput }
  }

  func handle(_ event: UInt32, _ arguments: WaylandArguments) {
    switch event {
    case 0:
      let (position, transform) = (SIMD2(arguments.int(0), arguments.int(1)), arguments.int(7))
      let model = [arguments.text(5), arguments.text(6)].compactMap { $0 }.joined(separator: " ")
      state.withLock { state in
        (state.next.isTurned, state.next.model) = (transform % 2 == 1, model)
        // Where there is xdg-output, its place counts.
        if state.xdgOutput == nil { state.next.position = position }
      }
    case 1:
      // The current mode.
      guard arguments.uint(0) & 1 != 0 else { return }
      let size = PictureSize(width: arguments.int(1), height: arguments.int(2))
      state.withLock { $0.next.mode = size }
    case 2: finish()
    case 3:
      let scale = arguments.int(0)
      state.withLock { $0.next.scale = max(1, scale) }
    case 4:
      let name = arguments.text(0)
      state.withLock { $0.next.name = name }
    default: break
    }
  }

  private func finish() {
    let isNew = state.withLock { state in
      defer { state.current = state.next }
      return state.current != state.next
    }
    if isNew { changed() }
  }
}
