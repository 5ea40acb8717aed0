import Foundation

@testable import TestSupport

/// The package's modules as they were built with the tests. Tests run compilers and tools on them.
enum BuiltModules {
  /// The targets of the library products, which other packages can import.
  static let libraries = [
    "PipSink", "PipSinkWindows", "PipSinkGTK", "PipSinkGTK4", "PipSinkDBus", "PipSinkCalls", "GstPipSink",
  ]

  private static let products = URL(fileURLWithPath: Demo.path).deletingLastPathComponent()

  private static let systemLibraries = [
    "gstreamer-allocators-1.0", "gstreamer-app-1.0", "gstreamer-video-1.0", "gstreamer-pbutils-1.0",
    "gstreamer-sdp-1.0", "gio-2.0", "gtk+-3.0", "xcb", "xkbcommon", "xkbcommon-x11", "wayland-cursor", "cairo",
    "pangocairo",
  ]

  /// The options that SwiftPM gives the compiler for a module that imports the package's modules.
  static func searchOptions(moduleCache: String) async throws -> [String] {
    let flags = try await packageOptions("--cflags-only-I")
    let scratch = products.deletingLastPathComponent().deletingLastPathComponent()
    let maps =
      ["CCurl", "CGIO", "CGL", "CGStreamer", "CLibYUV", "CGTK", "CWebRTC", "CWindows"].map {
        Demo.root.appendingPathComponent("Sources/\($0)/module.modulemap").path
      }
      + [
        scratch.appendingPathComponent("checkouts/swift-numerics/Sources/_NumericsShims/include/module.modulemap").path
      ]
    return ["-module-cache-path", moduleCache, "-I", products.appendingPathComponent("Modules").path]
      + maps.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
      + flags.flatMap { ["-Xcc", $0] }
  }

  /// The option by which the compiler finds a target in C, whose module map SwiftPM makes.
  static func moduleMapOption(of target: String) -> [String] {
    ["-Xcc", "-fmodule-map-file=\(products.appendingPathComponent("\(target).build/module.modulemap").path)"]
  }

  /// The options that link another main file with what an executable target of the package is linked with.
  static func objectsAndLibraries(of target: String, listedIn list: String) async throws -> [String] {
    let objects = try String(
      contentsOf: products.appendingPathComponent("\(target).product/Objects.LinkFileList"), encoding: .utf8)
    try objects.split(separator: "\n").filter { !$0.contains("/\(target).build/") }.joined(separator: "\n")
      .write(toFile: list, atomically: true, encoding: .utf8)
    return try await ["@" + list] + packageOptions("--libs")
  }

  private static func packageOptions(_ kind: String) async throws -> [String] {
    let result = try await RunningProgram("/usr/bin/pkg-config", [kind] + systemLibraries).result()
    return result.output.split(whereSeparator: \.isWhitespace).map(String.init)
  }
}
