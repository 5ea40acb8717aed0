import Glibc
import PipSink

/// The programs in the folder `Benchmarks`, which are built if need be.
struct BenchPrograms {
  let consumer: String
  /// The library that counts allocations, to be loaded before the C library.
  let allocationCounter: String

  /// - Throws: ``DemoError`` when the folder is not above this program or the working directory, or when the programs
  ///   cannot be built.
  init() throws {
    let starts = [ChildProcess.demo, "."]
    guard let folder = starts.lazy.compactMap(Self.folder(above:)).first else {
      throw DemoError(
        .unavailable, "the folder Benchmarks of PipSink's sources is not above this program or the working directory")
    }
    let make = try ChildProcess("/usr/bin/env", ["make", "-s", "-C", folder])
    guard make.finish().status == 0 else {
      throw DemoError(.unavailable, "\(folder) cannot be built; make, cc and pkg-config are needed: \(make.errors)")
    }
    consumer = folder + "/build/c-appsink"
    allocationCounter = folder + "/build/liballocations.so"
  }

  private static func folder(above path: String) -> String? {
    var above = String(taking: realpath(path, nil)) ?? ""
    while let slash = above.lastIndex(of: "/") {
      let folder = above + "/Benchmarks"
      if access(folder + "/c-appsink/main.c", F_OK) == 0 { return folder }
      above = String(above[..<slash])
    }
    return nil
  }
}
