import CWindows
import PipSink

/// A monitor, as the compositor describes it (wl_output, xdg-output).
final class WaylandOutput: Sendable {
  private struct State {
    var proxy: WaylandObject<WLOutput>?
    var xdgOutput: WaylandObject<ZXDGOutput>?
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
  var proxy: WaylandObject<WLOutput>? {
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
  func ask(_ manager: WaylandObject<ZXDGOutputManager>) {
    guard let proxy, state.withLock({ $0.xdgOutput == nil }) else { return }
    let xdgOutput = manager.getXDGOutput(proxy.reference) { events in
      events.logicalPosition { [weak self] x, y in self?.note { $0.position = SIMD2(x, y) } }
      events.logicalSize { [weak self] width, height in
        self?.note { $0.logicalSize = PictureSize(width: width, height: height) }
        // From version 2 on, wl_output's event done says that the description is complete.
        if proxy.version < 2 { self?.finish() }
      }
      events.done { [weak self] in self?.finish() }
      events.name { [weak self] name in self?.note { $0.xdgName = name } }
    }
    state.withLock { $0.xdgOutput = xdgOutput }
  }

  /// Sets the handlers of the events of wl_output.
  func follow(_ events: WaylandHandlers<WLOutput>) {
    events.geometry { [weak self] x, y, _, _, _, maker, model, transform in
      self?.state.withLock { state in
        state.next.isRotated = transform % 2 == 1
        state.next.model = "\(maker) \(model)"
        // The position from xdg-output is preferred.
        if state.xdgOutput == nil { state.next.position = SIMD2(x, y) }
      }
    }
    events.mode { [weak self] flags, width, height, _ in
      if flags.contains(.current) { self?.note { $0.mode = PictureSize(width: width, height: height) } }
    }
    events.done { [weak self] in self?.finish() }
    events.scale { [weak self] scale in self?.note { $0.scale = max(1, scale) } }
    events.name { [weak self] name in self?.note { $0.name = name } }
  }

  private func note(_ change: (inout Description) -> Void) { state.withLock { change(&$0.next) } }

  /// Takes over a description that is complete.
  private func finish() {
    let isNew = state.withLock { state in
      defer { state.current = state.next }
      return state.current != state.next
    }
    if isNew { changed() }
  }
}
