import CWindows
import PipSink

/// The placements of a picture-in-picture window on each monitor, and the monitor that the user put it on last. They
/// are saved in a file, so that they are remembered after a restart.
package struct WindowPlaces: Equatable, Sendable {
  /// The placement that was changed last, on whichever monitor. It is used for monitors that the window has not been
  /// on.
  package private(set) var last: WindowPlacement
  /// The name of the monitor that the user put the window on last, or nil when no monitor has been recorded.
  package var monitor: String?
  /// The placements on single monitors, the latest first.
  private var monitors: [Entry] = []

  /// The placement on one monitor.
  private struct Entry: Equatable {
    let name: String
    var placement: WindowPlacement
  }

  /// The number of monitors for which placements are remembered. For further monitors, for instance projectors, the
  /// oldest placements are forgotten.
  package static let maximumMonitorCount = 32

  /// Creates places with one placement for all monitors.
  package init(_ placement: WindowPlacement = WindowPlacement(), monitor: String? = nil) {
    (last, self.monitor) = (placement, monitor)
  }

  /// Returns the placement on a monitor, or the last one when the monitor has none.
  package func placement(on monitor: String?) -> WindowPlacement {
    monitors.first { $0.name == monitor }?.placement ?? last
  }

  /// Records where the window is now.
  package mutating func note(_ placement: WindowPlacement, on monitor: String?) {
    last = placement
    guard let monitor else { return }
    monitors.removeAll { $0.name == monitor }
    monitors.insert(Entry(name: monitor, placement: placement), at: 0)
    monitors.removeLast(max(0, monitors.count - Self.maximumMonitorCount))
  }

  /// Records one placement for every monitor.
  package mutating func noteEverywhere(_ placement: WindowPlacement) {
    last = placement
    for index in monitors.indices { monitors[index].placement = placement }
  }

  // MARK: - The file

  private static let group = "picture-in-picture"

  /// Loads the places from a file.
  ///
  /// - Returns: nil when there is no such file, or when it contains no placement or is much too large.
  package init?(from path: String) {
    guard let file = KeyFile(from: path), let last = Self.placement(file, Self.group) else { return nil }
    self.last = last
    monitor = file.text(Self.group, "monitor")
    // The groups are numbered, because a monitor's name may have characters that are not allowed in a group's name.
    for number in 1...Self.maximumMonitorCount {
      let group = "monitor-\(number)"
      guard let name = file.text(group, "name"), let placement = Self.placement(file, group) else { continue }
      monitors.append(Entry(name: name, placement: placement))
    }
  }

  private static func placement(_ file: KeyFile, _ group: String) -> WindowPlacement? {
    let width = Int(g_key_file_get_integer(file.pointer, group, "width", nil))
    let height = Int(g_key_file_get_integer(file.pointer, group, "height", nil))
    guard let corner = file.text(group, "corner").flatMap({ WindowCorner(rawValue: $0) }),
      (1...32767).contains(width), (1...32767).contains(height)
    else { return nil }
    return WindowPlacement(corner: corner, width: width, height: height)
  }

  /// Saves the places in a file.
  ///
  /// - Returns: false when the file cannot be written. The only consequence is that the places are not remembered.
  @discardableResult
  package func save(to path: String) -> Bool {
    let folder = g_path_get_dirname(path)
    defer { g_free(folder) }
    guard g_mkdir_with_parents(folder, 0o700) == 0 else { return false }
    let file = KeyFile()
    let set = { (placement: WindowPlacement, group: String) in
      g_key_file_set_string(file.pointer, group, "corner", placement.corner.rawValue)
      g_key_file_set_integer(file.pointer, group, "width", gint(clamping: placement.width))
      g_key_file_set_integer(file.pointer, group, "height", gint(clamping: placement.height))
    }
    set(last, Self.group)
    if let monitor { g_key_file_set_string(file.pointer, Self.group, "monitor", monitor) }
    for (index, entry) in monitors.enumerated() {
      let group = "monitor-\(index + 1)"
      g_key_file_set_string(file.pointer, group, "name", entry.name)
      set(entry.placement, group)
    }
    var length: gsize = 0
    guard let text = g_key_file_to_data(file.pointer, &length, nil) else { return false }
    defer { g_free(text) }
    return (try? OutputFile.write(String(cString: text).utf8, to: path)) != nil
  }
}
