import CWindows
import PipSink

/// A monitor, as the compositor describes it (wl_output, xdg-output).
final class WaylandOutput: Sendable {
  private struct State {
    var proxy: WaylandProxy?
    var xdgOutput: WaylandProxy?
    /// The description that the compositor is sending. It becomes ``current`` once it is complete.
    var next = Description()
    var current = Description()
  }

  private struct Description: Equatable {
    /// The monitor's size in its own pixels, before it is rotated.
    var mode: PictureSize?
    /// Whether the monitor is rotated by 90 or 270 degrees, so that its width and height are exchanged.
    var isRotated = false
    /// The scale of wl_output, which is a fractional scale rounded up.
    var scale = 1
    /// The monitor's size in units, after it is rotated (xdg-output).
    var logicalSize: PictureSize?
    /// The monitor's position among the others, in units.
    var position = SIMD2(0, 0)
    /// The name from wl_output, the name from xdg-output, and the maker with the model.
    var (name, xdgName, model): (String?, String?, String) = (nil, nil, "")
  }

  private let state = Locked(State())
  private let changed: @Sendable () -> Void

  /// - Parameter changed: called on the connection's thread after each change of the description.
  init(_ changed: @escaping @Sendable () -> Void) { self.changed = changed }

  /// The wl_output.
  var proxy: WaylandProxy? {
    get { state.withLock { $0.proxy } }
    set { state.withLock { $0.proxy = newValue } }
  }

  /// The number of pixels in a unit. Where a compositor has no wp_fractional_scale, a fractional scale can only be
  /// derived from the monitor's size in units.
  var scale: Double {
    let current = state.withLock { $0.current }
    guard let mode = current.mode, let logicalSize = current.logicalSize, logicalSize.width > 0 else {
      return Double(current.scale)
    }
    let width = current.isRotated ? mode.height : mode.width
    // It is rounded to steps of 1/120, as in wp_fractional_scale.
    return max(1, (Double(width) / Double(logicalSize.width) * 120).rounded() / 120)
  }

  /// The number of pixels in a unit as a whole number. A fractional scale is rounded up.
  var wholeScale: Int { state.withLock { max(1, $0.current.scale) } }

  /// The monitor's size in units, or nil while it is not known.
  var size: PictureSize? {
    let current = state.withLock { $0.current }
    if let size = current.logicalSize { return size }
    return current.mode.map { mode in
      let (width, height) = current.isRotated ? (mode.height, mode.width) : (mode.width, mode.height)
      return PictureSize(width: width / current.scale, height: height / current.scale)
    }
  }

  /// The name of the monitor's connector, which is the same after it was disconnected. Where the compositor does not
  /// tell the name, it is the maker and the model.
  var name: String {
    let current = state.withLock { $0.current }
    return current.name ?? current.xdgName ?? current.model
  }

  /// The monitor's rectangle among the other monitors, in units, or nil while it is not known.
  var area: PictureRect? {
    let position = state.withLock { $0.current.position }
    return size.map { PictureRect(x: position.x, y: position.y, width: $0.width, height: $0.height) }
  }

  /// The monitor's name and rectangle, or nil while the rectangle is not known.
  var monitor: WindowMonitor? { area.map { WindowMonitor(name: name, area: $0) } }

  // MARK: - On the connection's thread

  /// Asks for the monitor's size and position in units, and its name (xdg-output).
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
        // From version 2 on, wl_output's event done says that the description is complete.
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

  /// Handles an event of wl_output.
  func handle(_ event: UInt32, _ arguments: WaylandArguments) {
    switch event {
    case 0:
      let (position, transform) = (SIMD2(arguments.int(0), arguments.int(1)), arguments.int(7))
      let model = [arguments.text(5), arguments.text(6)].compactMap { $0 }.joined(separator: " ")
      state.withLock { state in
        (state.next.isRotated, state.next.model) = (transform % 2 == 1, model)
        // The position from xdg-output is preferred.
        if state.xdgOutput == nil { state.next.position = position }
      }
    case 1:
      // Only the current mode counts, which has the flag 1.
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

  /// Takes over a description that is complete.
  private func finish() {
    let isNew = state.withLock { state in
      defer { state.current = state.next }
      return state.current != state.next
    }
    if isNew { changed() }
  }
}
