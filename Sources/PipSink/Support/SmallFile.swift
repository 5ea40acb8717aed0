import Glibc

/// Reads a file. It does not wait for the writer of a FIFO, and reads no more of a device than of a file.
///
/// - Returns: nil when the path is not that of a regular file, and when the file has more than `limit` bytes.
package func smallFile(at path: String, limit: Int) -> [UInt8]? {
  let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
  guard descriptor >= 0 else { return nil }
  defer { close(descriptor) }
  var status = stat()
  guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, (0...limit).contains(Int(status.st_size))
  else { return nil }
  return [UInt8](unsafeUninitializedCapacity: Int(status.st_size)) { buffer, count in
    count = max(0, read(descriptor, buffer.baseAddress, buffer.count))
  }
}
