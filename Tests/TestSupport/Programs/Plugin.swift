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
    return ["GST_PLUGIN_PATH": plugins, "GST_REGISTRY": folder.path("registry.bin")]
  }

  static func launch(
    _ description: String, _ folder: TemporaryFolder, environment: [String: String] = [:], options: [String] = []
  ) throws -> RunningProgram {
    try RunningProgram(
      "/usr/bin/gst-launch-1.0", options + description.split(separator: " ").map(String.init),
      environment: self.environment(folder).merging(environment) { $1 })
  }
}
