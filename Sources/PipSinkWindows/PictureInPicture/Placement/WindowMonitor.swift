import PipSink

/// A monitor, as a display server describes it.
package struct WindowMonitor: Equatable, Sendable {
  /// What it is known by after it was away: the name of its connector mostly.
  package var name: String
  /// In units, in the coordinates of windows' frames.
  package var area: PictureRect

  package init(name: String, area: PictureRect) {
    (self.name, self.area) = (name, area)
  }
}

extension [WindowMonitor] {
  /// The one that most of a window is on.
  ///
  /// - Parameter current: the name of the one that it is taken for where another has no more of it.
  /// - Returns: nil where it is on none.
  package func under(_ frame: PictureRect, current: String? = nil) -> WindowMonitor? {
    var best: (monitor: WindowMonitor, overlap: Int)?
    for monitor in filter({ $0.name == current }) + filter({ $0.name != current }) {
      let overlap = monitor.area.intersection(frame).map { $0.width * $0.height } ?? 0
      if overlap > best?.overlap ?? 0 { best = (monitor, overlap) }
    }
    return best?.monitor
  }
}
