import Foundation
import Testing

/// The code in the documentation's articles compiles.
@Suite struct DocumentationTests {
  private static let articles = Demo.root.appendingPathComponent("Sources/PipSink/PipSink.docc")

  @Test func theCodeInEveryArticleCompiles() async throws {
    let folder = try TemporaryFolder()
    let options = try await ["-swift-version", "6"] + BuiltModules.searchOptions(moduleCache: folder.path("cache"))
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
}
