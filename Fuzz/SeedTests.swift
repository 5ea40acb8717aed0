import Foundation
import Testing

/// Runs the fuzzing targets on the seeds without libFuzzer. `make fuzz` starts with the same seeds.
@MainActor
@Suite struct SeedTests {
  private static let targets: [String: @MainActor ([UInt8]) -> Void] = [
    "pipeline-file": PipelineFileTarget.run, "options": OptionsTarget.run, "dbus": BusTarget.run,
    "caps": CapsTarget.run,
    "output": OutputTarget.run,
  ]

  @Test(arguments: ["pipeline-file", "options", "dbus", "caps", "output"])
  func noOracleObjectsToASeed(name: String) throws {
    let target = try #require(Self.targets[name])
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("seeds/\(name)")
    let seeds = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    #expect(!seeds.isEmpty)
    for seed in seeds { target([UInt8](try Data(contentsOf: seed))) }
  }
}

/// Records a failed check of a target as an issue of the test.
func require(_ condition: Bool, _ message: @autoclosure () -> String) {
  if !condition { Issue.record("\(message())") }
}
