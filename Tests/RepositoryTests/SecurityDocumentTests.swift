import Foundation
import Testing

@testable import TestSupport

/// Tests that the document on security names what the sources read, and tests that exist.
@Suite struct SecurityDocumentTests {
  private static func document() throws -> String {
    try String(contentsOf: Demo.root.appendingPathComponent("docs/security.md"), encoding: .utf8)
  }

  @Test func everyVariableOfTheEnvironmentThatTheSourcesReadIsInTheDocument() throws {
    let document = try Self.document()
    // The benchmarks also set variables, for the programs that they start.
    let readers = try SourceText.files(in: "Sources")
      .filter { $0.value.contains("getenv(") && !$0.key.contains("Bench/") }.values
    let names = Set(readers.flatMap { $0.matches(of: /"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|DISPLAY)"/).map { $0.1 } })
    #expect(names.isSuperset(of: ["DISPLAY", "PIPSINK_DEBUG", "PIPSINK_DISPLAY", "XDG_STATE_HOME", "XCURSOR_SIZE"]))
    #expect(names.filter { !document.contains("`\($0)`") } == [])
  }

  @Test func everyTestThatTheDocumentNamesExists() throws {
    let tests = try SourceText.files(in: "Tests").values.joined()
    let names = Set(try Self.document().matches(of: /`(\w+Tests)`/).map { $0.1 })
    #expect(names.count > 10)
    #expect(names.filter { !tests.contains("struct \($0)") } == [])
  }
}
