import PipSink

/// The monitors that the parts of a window are on, and the scale that follows from them.
struct WaylandWindowMonitors {
  /// In the order in which the parts entered them. Some compositors tell only of the parts that nothing covers, so what
  /// is behind the tiles, where the part is nil, does not count alone.
  private var entered: [(monitor: WaylandReference<WLOutput>, part: ObjectIdentifier?)] = []
  /// The scale that the compositor prefers for the window; nil where it has not said.
  var preferredScale: Double?

  /// Notes that a part has entered or left a monitor.
  mutating func note(_ monitor: WaylandReference<WLOutput>, isOn: Bool, of part: ObjectIdentifier?) {
    entered.removeAll { $0.monitor == monitor && $0.part == part }
    if isOn { entered.append((monitor, part)) }
  }

  /// Forgets a part that the window does not have any more.
  mutating func forget(_ part: ObjectIdentifier) { entered.removeAll { $0.part == part } }

  /// Forgets the monitors that are not there any more.
  mutating func forget(allBut known: [WaylandOutput]) {
    let there = known.compactMap { $0.proxy?.reference }
    entered.removeAll { !there.contains($0.monitor) }
  }

  /// The monitor that was entered last, of those that show a part of the window.
  func last(of known: [WaylandOutput]) -> WindowMonitor? {
    entered.last.flatMap { last in known.first { $0.proxy?.reference == last.monitor }?.monitor }
  }

  /// The window's scale.
  ///
  /// - Parameters:
  ///   - globals: the compositor's objects.
  ///   - chosen: the monitor on which a window without one will appear; nil where the compositor chooses it.
  func scale(_ globals: WaylandGlobals, chosen: WaylandOutput?) -> Double {
    if let preferredScale, globals.viewporter != nil { return preferredScale }
    let known = globals.outputs
    let own = known.filter { output in entered.contains { $0.monitor == output.proxy?.reference } }
    // The largest scale of the monitors that the window is on counts.
    return (own.isEmpty ? (chosen ?? known.first).map { [$0] } ?? [] : own)
      .map { globals.viewporter == nil ? Double($0.wholeScale) : $0.scale }.max() ?? 1
  }
}
