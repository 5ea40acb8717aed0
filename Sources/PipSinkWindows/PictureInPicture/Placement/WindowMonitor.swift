import PipSink

/// A monitor, as a display server describes it.
package struct WindowMonitor: Equatable, Sendable {
  /// The name that identifies the monitor even after it was disconnected. It is usually the name of its connector.
  package var name: String
  /// The monitor's rectangle, in units and in the coordinates of windows' rectangles.
  package var area: PictureRect

  /// Creates the description of a monitor.
  package init(name: String, area: PictureRect) {
    (self.name, self.area) = (name, area)
  }
}

extension [WindowMonitor] {
  /// Finds the monitor that shows most of a window.
  ///
  /// - Parameters:
  ///   - rectangle: the window's rectangle, in the coordinates of the monitors' areas.
  ///   - current: the name of the monitor that is preferred when several show equal parts of the window.
  /// - Returns: nil when no monitor shows any part of the window.
  package func under(_ rectangle: PictureRect, current: String? = nil) -> WindowMonitor? {
    var best: (monitor: WindowMonitor, overlap: Int)?
    for monitor in filter({ $0.name == current }) + filter({ $0.name != current }) {
      let overlap = monitor.area.intersection(rectangle).map { $0.width * $0.height } ?? 0
      if overlap > best?.overlap ?? 0 { best = (monitor, overlap) }
    }
    return best?.monitor
  }

  /// Gives monitors the names that somebody else has for them.
  ///
  /// - Parameter others: the same monitors with their other names, in any order. A monitor that is not among them, or
  ///   that cannot be told from others, keeps its name.
  package func named(as others: [WindowMonitor]) -> [WindowMonitor] {
    let names = map { others.under($0.area)?.name }
    return zip(self, names).map { monitor, name in
      guard let name, names.filter({ $0 == name }).count == 1 else { return monitor }
      return WindowMonitor(name: name, area: monitor.area)
    }
  }
}
