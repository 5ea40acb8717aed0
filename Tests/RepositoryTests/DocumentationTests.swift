import Foundation
import Testing

@testable import TestSupport

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
        let code = try #require(block.components(separatedBy: "```").first)
        // A manifest is no program. The test below covers it.
        if code.contains("import PackageDescription") { continue }
        count += 1
        let path = folder.path("\(article.deletingPathExtension().lastPathComponent)\(count).swift")
        try code.write(toFile: path, atomically: true, encoding: .utf8)
        let result = try await RunningProgram("/usr/bin/env", ["swiftc", "-typecheck", path] + options).result()
        #expect(result.status == 0, "\(article.lastPathComponent): \(result.errors)")
      }
    }
    #expect(count >= 10)
  }

  @Test func thePackageThatTheFirstArticleDescribesUsesProductsThatThereAre() async throws {
    let text = try String(contentsOf: Self.articles.appendingPathComponent("GettingStarted.md"), encoding: .utf8)
    let block = try #require(text.components(separatedBy: "```swift\n").first { $0.contains("PackageDescription") })
    let manifest = try #require(block.components(separatedBy: "```").first)
    #expect(manifest.contains(".package(name: \"pipsink\", path: \"../pipsink\")"))
    let folder = try TemporaryFolder()
    try manifest.write(toFile: folder.path("Package.swift"), atomically: true, encoding: .utf8)
    // SwiftPM runs manifests in a sandbox where the system has one. This manifest needs none.
    let result = try await RunningProgram(
      "/usr/bin/env", ["swift", "package", "--package-path", folder.url.path, "--disable-sandbox", "dump-package"]
    ).result()
    #expect(result.status == 0, "\(result.errors)")
    let own = try String(contentsOf: Demo.root.appendingPathComponent("Package.swift"), encoding: .utf8)
    let products = manifest.matches(of: /\.product\(name: "(\w+)", package: "pipsink"\)/).map { String($0.1) }
    #expect(products.count >= 2)
    for product in products { #expect(own.contains(".library(name: \"\(product)\""), "\(product)") }
  }
}
