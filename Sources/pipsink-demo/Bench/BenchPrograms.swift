import Foundation

/// The programs in `Benchmarks`, built where that is needed.
struct BenchPrograms {
  let consumer: String
  /// To be loaded before the C library.
  let allocationCounter: String

  /// - Throws: ``DemoError``: there is no such folder above this program or the working directory, or no C compiler.
  init() throws {
    let starts = [ChildProcess.demo, "."]
    guard let folder = starts.lazy.compactMap(Self.folder(above:)).first else {
      throw DemoError(.unavailable, "the folder Benchmarks of PipSink's sources is not above this program or here")
    }
    let make = try ChildProcess("/usr/bin/env", ["make", "-s", "-C", folder])
    guard make.finish().status == 0 else {
      throw DemoError(.unavailable, "\(folder) cannot be built; make, cc and pkg-config are needed: \(make.errors)")
    }
    consumer = folder + "/build/c-appsink"
    allocationCounter = folder + "/build/liballocations.so"
  }

  private static func folder(above path: String) -> String? {
    var url = URL(fileURLWithPath: path).standardizedFileURL
    while url.path != "/" {
      let folder = url.appendingPathComponent("Benchmarks")
      if FileManager.default.fileExists(atPath: folder.appendingPathComponent("c-appsink/main.c").path) {
        return folder.path
      }
      url.deleteLastPathComponent()
    }
    return nil
  }
}
