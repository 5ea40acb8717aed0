import ArgumentParser
import Foundation
import PipSink

/// Puts results into a document, so that its numbers are those of the files.
struct TableCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "table",
    abstract: "Prints results of --json as tables in Markdown, or brings those in a document up to date.")

  @Argument(help: "Results.")
  var files: [String]

  @Option(
    help: ArgumentHelp("Replace what the document has between <!-- bench:NAME --> and <!-- end -->.", valueName: "FILE")
  )
  var into: String?

  func run() async throws {
    let results = try files.map { try BenchResult(contentsOf: $0) }
    guard let into else {
      for result in results { try StandardStream.output.print(BenchTable(result: result).markdown) }
      return
    }
    do {
      var text = try String(contentsOfFile: into, encoding: .utf8)
      for result in results { try Self.replace(result, in: &text) }
      try OutputFile.write(text.utf8, to: into)
    } catch let error as CocoaError {
      throw DemoError(.failed, "\"\(into)\" cannot be changed: \(error.localizedDescription)")
    } catch let error as OutputFileError {
      throw DemoError(.failed, "\"\(into)\" cannot be changed: \(error)")
    }
  }

  private static func replace(_ result: BenchResult, in text: inout String) throws {
    guard let start = text.range(of: "<!-- bench:\(result.benchmark) -->\n"),
      let end = text.range(of: "<!-- end -->", range: start.upperBound..<text.endIndex)
    else { throw DemoError(.usage, "the document has no place <!-- bench:\(result.benchmark) --> ... <!-- end -->") }
    text.replaceSubrange(start.upperBound..<end.lowerBound, with: BenchTable(result: result).markdown + "\n")
  }
}
