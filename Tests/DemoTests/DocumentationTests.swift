import Foundation
import Testing

/// The code in the documentation's articles compiles.
@Suite struct DocumentationTests {
  private static let articles = Demo.root.appendingPathComponent("Sources/PipSink/PipSink.docc")
  private static let products = URL(fileURLWithPath: Demo.path).deletingLastPathComponent()

  @Test func theCodeInEveryArticleCompiles() async throws {
    let folder = try TemporaryFolder()
    let options = try await compilerOptions(moduleCache: folder.path("cache"))
    let articles = try FileManager.default.contentsOfDirectory(at: Self.articles, includingPropertiesForKeys: nil)
      .filter { $0.pathExtension == "md" }
    var count = 0
    for article in articles {
      let text = try String(contentsOf: article, encoding: .utf8)
      for block in text.components(separatedBy: "```swift\n").dropFirst() {
        count += 1
        let code = try #require(block.components(separatedBy: "```").first)
        let path = folder.path("\(article.deletingPathExtension().lastPathComponent)\(count).swift")
        try code.write(toFile: path, atomically: true, encoding: .utf8)
        let result = try await RunningProgram("/usr/bin/env", ["swiftc", "-typecheck", path] + options).result()
        #expect(result.status == 0, "\(article.lastPathComponent): \(result.errors)")
      }
    }
    #expect(count >= 6)
  }

  /// What SwiftPM gives the compiler for a module that uses the package's.
  private func compilerOptions(moduleCache: String) async throws -> [String] {
    let libraries = [
      "gstreamer-app-1.0", "gstreamer-video-1.0", "gstreamer-pbutils-1.0", "gtk+-3.0", "xcb", "xkbcommon",
      "xkbcommon-x11", "cairo", "pangocairo",
    ]
    let flags = try await RunningProgram("/usr/bin/pkg-config", ["--cflags-only-I"] + libraries).result().output
    let scratch = Self.products.deletingLastPathComponent().deletingLastPathComponent()
    let maps =
      ["CCounter", "CGIO", "CGStreamer", "CLibYUV", "CGTK", "CWindows"].map {
        Demo.root.appendingPathComponent("Sources/\($0)/module.modulemap").path
      }
      + [
        scratch.appendingPathComponent("checkouts/swift-numerics/Sources/_NumericsShims/include/module.modulemap").path
      ]
    return [
      "-swift-version", "6", "-module-cache-path", moduleCache, "-I",
      Self.products.appendingPathComponent("Modules").path,
    ]
      + maps.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
      + flags.split(whereSeparator: \.isWhitespace).flatMap { ["-Xcc", String($0)] }
  }
}
