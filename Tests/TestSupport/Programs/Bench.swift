import Foundation

enum Bench {
  /// The path of the benchmarks' program, which was built beside the tests.
  static let path = URL(fileURLWithPath: Demo.path).deletingLastPathComponent().appendingPathComponent("pipsink-bench")
    .path

  static func start(_ arguments: [String], environment: [String: String] = [:]) throws -> RunningProgram {
    try RunningProgram(path, arguments, environment: environment)
  }
}
