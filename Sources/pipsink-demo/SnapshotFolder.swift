import Foundation
import PipSink

/// Where pictures of the surfaces are written.
final class SnapshotFolder {
  private let path: String
  private var count = 0
  /// The files so far.
  private(set) var files: [String] = []

  /// Makes the folder if need be, and finds out whether a file can be written there.
  init(_ path: String) throws {
    self.path = path
    try Self.prepare(path)
  }

  /// Writes pictures that belong together.
  func write(_ images: [(name: String, image: BGRAImage)], at seconds: Double) throws(PipSinkError) {
    count += 1
    for (name, image) in images {
      let file = String(format: "%02d-%.1fs-", count, seconds) + Self.fileName(name) + ".png"
      let path = (path as NSString).appendingPathComponent(file)
      try image.writePNG(to: path)
      files.append(path)
    }
  }

  /// A stream ID may hold anything; a file name may not.
  private static func fileName(_ name: String) -> String {
    String(name.map { $0.isLetter || $0.isNumber || "-_.".contains($0) ? $0 : "_" })
  }

  private static func prepare(_ path: String) throws {
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      let probe = (path as NSString).appendingPathComponent(".pipsink-\(getpid())")
      try Data().write(to: URL(fileURLWithPath: probe))
      try FileManager.default.removeItem(atPath: probe)
    } catch {
      throw DemoError(
        .usage, "the snapshot folder \"\(path)\" cannot be written: \(reason(error)); name another with --snapshots")
    }
  }

  private static func reason(_ error: any Error) -> String {
    let underlying = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
    guard let posix = underlying, posix.domain == NSPOSIXErrorDomain else { return error.localizedDescription }
    return String(cString: strerror(Int32(posix.code)))
  }
}
