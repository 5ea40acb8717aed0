import CGStreamer
import Glibc
import PipSink
import PipSinkCommandLine

/// The folder that pictures of the surfaces are written to.
final class SnapshotFolder {
  private let path: String
  private var count = 0
  /// The paths of the files that were written so far.
  private(set) var files: [String] = []

  /// Makes the folder if need be, and checks that a file can be written there.
  init(_ path: String) throws(CommandError) {
    self.path = path
    do throws(OutputFileError) {
      // GLib reports another error for an empty path.
      guard g_mkdir_with_parents(path, 0o777) == 0 else {
        throw OutputFileError(code: path.isEmpty ? ENOENT : errno)
      }
      try OutputFile.check(folder: path)
    } catch {
      throw CommandError(
        .usage, "the snapshot folder \"\(path)\" cannot be written: \(error); name another with --snapshots")
    }
  }

  /// Writes pictures that were taken at the same time.
  func write(_ images: [(name: String, image: BGRAImage)], at seconds: Double) throws(PipSinkError) {
    count += 1
    let tenths = UInt64(max(0, seconds) * 10 + 0.5)
    let prefix = "\(count < 10 ? "0" : "")\(count)-\(tenths / 10).\(tenths % 10)s-"
    for (file, image) in zip(SnapshotName.names(of: images.map(\.name)), images.map(\.image)) {
      let path = path + (path.utf8.last == UInt8(ascii: "/") ? "" : "/") + "\(prefix)\(file).png"
      try image.writePNG(to: path)
      files.append(path)
    }
  }
}

/// Makes file names for the pictures of surfaces. A stream ID may contain any character, but a file name may not.
enum SnapshotName {
  /// The longest name in bytes. With the prefix and the extension, it must not exceed 255 bytes.
  private static let longest = 160

  /// Makes a file name for each name. All file names stay in the folder, and they differ from each other, even on file
  /// systems that ignore the case of letters.
  static func names(of names: [String]) -> [String] {
    // Swift's comparison of strings treats different encodings of the same accented letter as equal.
    var taken: Set<String> = []
    return names.map { name in
      let encoded = shortened(encoded(name))
      var candidate = encoded
      var number = 2
      while !taken.insert(candidate.lowercased()).inserted {
        candidate = "\(encoded)~\(number)"
        number += 1
      }
      return candidate
    }
  }

  /// Keeps letters, digits and other harmless characters, and encodes the bytes of all others as in a URI.
  private static func encoded(_ name: String) -> String {
    name.unicodeScalars.map { scalar in
      let isHarmless =
        scalar.properties.isAlphabetic || scalar.properties.numericType != nil || "-_.".unicodeScalars.contains(scalar)
      return isHarmless
        ? String(scalar) : String(scalar).utf8.map { "%" + $0.text(digits: 2, radix: 16).uppercased() }.joined()
    }
    .joined()
  }

  /// Shortens a long name to its beginning and a hash of the whole name (FNV-1a).
  private static func shortened(_ name: String) -> String {
    guard name.utf8.count > longest else { return name }
    let hash = name.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    var start = ""
    for scalar in name.unicodeScalars {
      guard start.utf8.count + UTF8.width(scalar) <= longest - 17 else { break }
      start.unicodeScalars.append(scalar)
    }
    return start + "~" + String(hash, radix: 16)
  }
}
