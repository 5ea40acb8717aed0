import CGTK
import Glibc

/// What the plugin finds in the program that has loaded it. Looked up once, before GTK is used.
struct HostProgram: Sendable {
  /// Whether the program, or somebody in it, uses GTK 3 or Qt: then it runs GLib's default main context.
  let hasToolkit: Bool
  /// Whether GTK 4 is in the process, beside which GTK 3 cannot be.
  let hasGTK4: Bool
  /// Whether the program has put anything into GLib's default main context: then it is going to run it.
  let hasSources: Bool

  static let current = HostProgram()

  private init() {
    hasGTK4 = Self.hasSymbol("gtk_widget_snapshot_child")
    hasToolkit = Self.hasSymbol("gtk_init") || Self.hasSymbol("qVersion") || gdk_display_get_default() != nil
    let next = g_timeout_add(1000, { _ in 0 }, nil)
    hasSources = (1..<max(next, 1)).contains { g_main_context_find_source_by_id(nil, $0) != nil }
    g_source_remove(next)
  }

  /// Whether the program is written in Swift, and this code runs on its runtime: then the main actor is its business.
  static var sharesSwiftRuntime: Bool {
    address(of: "$sSiN") == unsafeBitCast(Int.self, to: UnsafeRawPointer.self)
  }

  private static func hasSymbol(_ name: String) -> Bool { address(of: name) != nil }

  /// In the program, the libraries that it is linked with, and those that it has loaded for all; not in what the plugin
  /// is linked with.
  private static func address(of name: String) -> UnsafeRawPointer? {
    guard let program = dlopen(nil, RTLD_LAZY) else { return nil }
    defer { dlclose(program) }
    return dlsym(program, name).map { UnsafeRawPointer($0) }
  }
}
