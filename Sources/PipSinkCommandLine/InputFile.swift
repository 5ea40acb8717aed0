import CGStreamer
import Glibc

/// Why a file could not be read.
package struct InputFileError: Error, CustomStringConvertible {
  package let description: String
}

/// Reads whole files, and the names in folders.
package enum InputFile {
  /// Reads all bytes of a file. It may be a file of the kernel or a FIFO, whose size is unknown before; for a FIFO the
  /// call waits for its writers.
  package static func bytes(of path: String) throws(InputFileError) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw InputFileError(description: String(cString: strerror(errno))) }
    defer { close(descriptor) }
    return try rest(of: descriptor)
  }

  /// - Throws: ``InputFileError``, also when the file is no UTF-8 text.
  package static func text(of path: String) throws(InputFileError) -> String {
    guard let text = String(validating: try bytes(of: path), as: UTF8.self) else {
      throw InputFileError(description: "it is no UTF-8 text")
    }
    return text
  }

  /// Reads everything up to the end from a descriptor, which is not closed.
  package static func rest(of descriptor: Int32) throws(InputFileError) -> [UInt8] {
    var bytes: [UInt8] = []
    while true {
      let part = try nextBytes(of: descriptor)
      if part.isEmpty { return bytes }
      bytes += part
    }
  }

  /// Reads the next bytes, for which it waits; empty at the end.
  package static func nextBytes(of descriptor: Int32) throws(InputFileError) -> [UInt8] {
    var code: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: 1 << 16) { memory, count in
      var result = 0
      repeat { result = read(descriptor, memory.baseAddress, memory.count) } while result < 0 && errno == EINTR
      code = result < 0 ? errno : 0
      count = max(0, result)
    }
    guard code == 0 else { throw InputFileError(description: String(cString: strerror(code))) }
    return bytes
  }

  /// The names of the files in a folder, in no particular order; empty when the folder cannot be read.
  package static func names(inFolder path: String) -> [String] {
    guard let folder = g_dir_open(path, 0, nil) else { return [] }
    defer { g_dir_close(folder) }
    var names: [String] = []
    while let name = g_dir_read_name(folder) { names.append(String(cString: name)) }
    return names
  }
}
