import Glibc
import PipSink
import PipSinkCommandLine

/// The file of this program, which a benchmark starts again for each of its parts.
enum ThisProgram {
  static var path: String { String(taking: realpath("/proc/self/exe", nil)) ?? CommandLine.arguments[0] }

  /// The folder of this program, where the demo and the plugin are that were built with it.
  static var folder: String {
    let path = path
    return String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
  }
}

/// The programs in the repository's folder `Benchmarks`, which are built if need be.
struct BenchPrograms {
  let consumer: String
  /// The library that counts allocations, to be loaded before the C library.
  let allocationCounter: String

  /// - Throws: ``CommandError`` when the programs cannot be built, as where the sources are no longer there.
  init() throws {
    // This program is not installed, so that the sources that it was built from are on this machine.
    let root = #filePath.split(separator: "/").dropLast(4).reduce("") { "\($0)/\($1)" }
    let folder = root + "/Benchmarks"
    let make = try ChildProcess("/usr/bin/env", ["make", "-s", "-C", folder])
    guard make.finish().status == 0 else {
      throw CommandError(
        .unavailable, "\(folder) cannot be built; make, cc and pkg-config are needed: \(make.errors)")
    }
    consumer = folder + "/build/c-appsink"
    allocationCounter = folder + "/build/liballocations.so"
  }
}
