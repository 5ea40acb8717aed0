import Foundation

/// Helpers for the plugin in programs that are not written in Swift.
enum Plugin {
  /// Whether GStreamer's programs can load the plugin. They start without the sanitizers' runtimes, which a plugin that
  /// is built with them needs.
  static let isUsable = {
    let program = dlopen(nil, RTLD_LAZY)
    return dlsym(program, "__tsan_init") == nil && dlsym(program, "__asan_init") == nil
  }()

  /// The environment of programs that load the plugin that was built with the tests. They use a registry of their own.
  static func environment(_ folder: TemporaryFolder) throws -> [String: String] {
    let plugins = folder.path("plugins")
    try FileManager.default.createDirectory(atPath: plugins, withIntermediateDirectories: true)
    let file = "libgstpipsink.so"
    try FileManager.default.createSymbolicLink(
      atPath: "\(plugins)/\(file)",
      withDestinationPath: URL(fileURLWithPath: Demo.path).deletingLastPathComponent().appendingPathComponent(file).path
    )
    // With the user's registry, which these tests have written, GStreamer need not look at the system's plugins again.
    let registry = folder.path("registry.bin")
    if let known = userRegistry { try? FileManager.default.copyItem(atPath: known, toPath: registry) }
    return ["GST_PLUGIN_PATH": plugins, "GST_REGISTRY": registry]
  }

  /// The path of the registry that GStreamer keeps in the user's cache, or nil when there is none.
  private static var userRegistry: String? {
    let environment = ProcessInfo.processInfo.environment
    let cache = environment["XDG_CACHE_HOME"] ?? NSHomeDirectory() + "/.cache"
    let folder = URL(fileURLWithPath: cache).appendingPathComponent("gstreamer-1.0")
    let files = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    return files?.first { $0.lastPathComponent.hasPrefix("registry.") && $0.pathExtension == "bin" }?.path
  }

  static func launch(
    _ description: String, _ folder: TemporaryFolder, environment: [String: String] = [:], options: [String] = []
  ) throws -> RunningProgram {
    try RunningProgram(
      "/usr/bin/gst-launch-1.0", options + description.split(separator: " ").map(String.init),
      environment: self.environment(folder).merging(environment) { $1 })
  }
}
