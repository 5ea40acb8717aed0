import Foundation
import Testing

/// The targets: functions that read untrusted input, and check what they make of it.
enum FuzzTargets {
  static let all: [String: @MainActor ([UInt8]) -> Void] = [
    "pipeline-file": PipelineFileTarget.run, "options": OptionsTarget.run, "dbus": BusTarget.run,
    "caps": CapsTarget.run, "calls": CallsTarget.run, "output": OutputTarget.run,
  ]
}

/// Runs the fuzzing targets on the seeds without libFuzzer. `make fuzz` starts with the same seeds.
@MainActor
@Suite struct SeedTests {
  @Test(arguments: FuzzTargets.all.keys.sorted())
  func noOracleObjectsToASeed(name: String) throws {
    let target = try #require(FuzzTargets.all[name])
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("seeds/\(name)")
    let seeds = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    #expect(!seeds.isEmpty)
    for seed in seeds { target([UInt8](try Data(contentsOf: seed))) }
  }
}
