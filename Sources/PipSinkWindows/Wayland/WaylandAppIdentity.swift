import CWindows

/// What compositors and users' rules know the program's windows by.
enum WaylandAppIdentity {
  /// The program's name, as GTK had it.
  static var appID: String {
    let program = g_get_prgname().map { String(cString: $0) } ?? "pipsink"
    return String(program.split(separator: "/").last ?? "pipsink")
  }
}
