import Foundation

@testable import pipsink_demo

enum Demo {
  /// The path of the demo, which was built beside the tests.
  static let path: String = {
    let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    return tests.deletingLastPathComponent().appendingPathComponent("pipsink-demo").path
  }()

  /// The root folder of the repository.
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  static func start(_ arguments: [String], environment: [String: String] = [:]) throws -> RunningProgram {
    try RunningProgram(path, arguments, environment: environment)
  }

  static func play(_ arguments: [String], environment: [String: String] = [:]) async throws -> ProgramResult {
    try await start(["play"] + arguments, environment: environment).result()
  }

  static func pipeline(_ name: String) -> [String] {
    ["--pipeline", root.appendingPathComponent("pipelines/\(name).launch").path]
  }
}

extension ProgramResult {
  /// The report that the option `--report -` made the program write.
  func report() throws -> Report {
    try JSONDecoder().decode(Report.self, from: Data(output.utf8))
  }
}

extension Report.Stream {
  /// The frames that came from upstream, of which a busy machine shows some too late.
  var arrived: UInt64 { received + late }
}
