import ArgumentParser
import PipSink
import PipSinkCommandLine

/// Puts results into a document, so that the document has the same numbers as the result files.
struct TableCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "table",
    abstract: "Prints results of --json as tables in Markdown, or updates such tables in a document.")

  @Argument(help: "The files with the results.")
  var files: [String]

  @Option(
    help: ArgumentHelp(
      "Replace the text between <!-- bench:NAME --> and <!-- end --> in this document.", valueName: "FILE")
  )
  var into: String?

  func run() async throws {
    let results = try files.map { try BenchResult(contentsOf: $0) }
    guard let into else {
      for result in results { try StandardStream.output.print(BenchTable(result: result).markdown) }
      return
    }
    do {
      var text = try InputFile.text(of: into)
      for result in results { try Self.replace(result, in: &text) }
      try OutputFile.write(text.utf8, to: into)
    } catch let error as InputFileError {
      throw CommandError(.failed, "\"\(into)\" cannot be changed: \(error)")
    } catch let error as OutputFileError {
      throw CommandError(.failed, "\"\(into)\" cannot be changed: \(error)")
    }
  }

  private static func replace(_ result: BenchResult, in text: inout String) throws {
    guard let start = text.firstRange(of: "<!-- bench:\(result.benchmark) -->\n"),
      let end = text[start.upperBound...].firstRange(of: "<!-- end -->")
    else { throw CommandError(.usage, "the document has no place <!-- bench:\(result.benchmark) --> ... <!-- end -->") }
    text.replaceSubrange(start.upperBound..<end.lowerBound, with: BenchTable(result: result).markdown + "\n")
  }
}
