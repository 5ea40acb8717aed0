import Foundation
import Testing

@testable import TestSupport

/// The files that translate what PipSink shows.
@Suite struct TranslationTests {
  private static let folder = Demo.root.appendingPathComponent("po")

  @Test func everyTextOfTheSourcesIsInTheFileOfEachLanguageAndNoOther() async throws {
    let sources = Demo.root.appendingPathComponent("Sources")
    let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
    var (texts, calls) = ([String](), 0)
    for case let file as URL in files where file.pathExtension == "swift" {
      let source = try String(contentsOf: file, encoding: .utf8)
      calls += source.matches(of: /\btranslated\(/).count
      texts += source.matches(of: /\btranslated\("([^"]*)"\)/).map { String($0.1) }
    }
    #expect(calls == texts.count + 1, "one is the function itself, and all others have a literal")
    #expect(texts.allSatisfy { !$0.contains("\\(") })
    let languages = try String(contentsOf: Self.folder.appendingPathComponent("LINGUAS"), encoding: .utf8)
    #expect(languages == "de\nzh_CN\n")
    for language in languages.split(separator: "\n") {
      let path = Self.folder.appendingPathComponent("\(language).po").path
      let check = try await RunningProgram("/usr/bin/msgfmt", ["--check", "-o", "/dev/null", "--statistics", path])
        .result()
      #expect(check.status == 0, "\(check.errors)")
      #expect(check.errors.contains("\(Set(texts).count) translated messages.\n"), "\(check.errors)")
      let file = try String(contentsOfFile: path, encoding: .utf8)
      #expect(Set(file.matches(of: /\nmsgid "(.+)"/).map { String($0.1) }) == Set(texts), "\(language)")
    }
  }
}
