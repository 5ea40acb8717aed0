import Foundation

/// The main loop of a program, by its name in `host-loop.py`.
enum HostLoop: String, CaseIterable {
  case glib, gtk3, gtk4, qt6, sdl2

  /// The path in a library folder of a file that the loop needs; nil when it needs none.
  private var file: String? {
    switch self {
    case .glib: nil
    case .gtk3: "girepository-1.0/Gtk-3.0.typelib"
    case .gtk4: "girepository-1.0/Gtk-4.0.typelib"
    case .qt6: "python3/dist-packages/PyQt6/QtWidgets.abi3.so"
    case .sdl2: "libSDL2-2.0.so.0"
    }
  }

  static var installed: [HostLoop] {
    let root = "/usr/lib"
    let folders =
      [root] + ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).map { "\(root)/\($0)" }
    return allCases.filter { loop in
      guard let file = loop.file else { return true }
      return folders.contains { FileManager.default.fileExists(atPath: "\($0)/\(file)") }
    }
  }
}
