import Foundation

@testable import TestSupport

/// The package's modules as they were built with the tests. Tests run compilers and tools on them.
enum BuiltModules {
  /// The targets of the library products, which other packages can import.
  static let libraries = ["PipSink", "PipSinkWindows", "PipSinkGTK", "PipSinkGTK4", "PipSinkDBus", "GstPipSink"]

  private static let products = URL(fileURLWithPath: Demo.path).deletingLastPathComponent()

  /// The options that SwiftPM gives the compiler for a module that imports the package's modules.
  static func searchOptions(moduleCache: String) async throws -> [String] {
    let libraries = [
      "gstreamer-app-1.0", "gstreamer-video-1.0", "gstreamer-pbutils-1.0", "gtk+-3.0", "xcb", "xkbcommon",
      "xkbcommon-x11", "cairo", "pangocairo",
    ]
    let flags = try await RunningProgram("/usr/bin/pkg-config", ["--cflags-only-I"] + libraries).result().output
    let scratch = products.deletingLastPathComponent().deletingLastPathComponent()
    let maps =
      ["CGIO", "CGStreamer", "CLibYUV", "CGTK", "CWindows"].map {
        Demo.root.appendingPathComponent("Sources/\($0)/module.modulemap").path
      }
      + [
        scratch.appendingPathComponent("checkouts/swift-numerics/Sources/_NumericsShims/include/module.modulemap").path
      ]
    return ["-module-cache-path", moduleCache, "-I", products.appendingPathComponent("Modules").path]
      + maps.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
      + flags.split(whereSeparator: \.isWhitespace).flatMap { ["-Xcc", String($0)] }
  }
}
