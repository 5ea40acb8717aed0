import CGStreamer
import Glibc

/// The reason why a file could not be written, in the system's words.
package struct OutputFileError: Error, Equatable, CustomStringConvertible {
  /// The reason, as a clause without a full stop.
  package let description: String

  /// Makes an error with a reason of PipSink's.
  package init(_ description: String) {
    self.description = description
  }

  /// Makes an error with the system's text for an `errno`.
  package init(code: Int32) {
    description = String(cString: strerror(code))
  }
}

/// Writes files as a whole or not at all. A reader finds either the old content or the new, and a full disk leaves the
/// old. PipSink writes all its files with this.
///
/// A symbolic link is followed, as other programs do: the file that it points to is replaced, and the link stays. What
/// is not a regular file (`/dev/null`, a terminal, a FIFO that somebody reads) is written to; block devices, sockets
/// and folders are refused. `/dev/stdout`, `/dev/stderr` and `/dev/fd/N` stand for the process's own descriptors.
package enum OutputFile {
  /// Replaces the file, or creates it. A new file gets the mode 0666 less the umask. A file that is replaced keeps its
  /// mode and, where that is allowed, its owner. A file that this process may not write is not replaced, even where its
  /// folder would allow that. A writable file in a folder that is not writable is written in place.
  ///
  /// The call waits for the disk. For the reader of a FIFO or a terminal it waits two seconds at most.
  package static func write(_ bytes: some Sequence<UInt8>, to path: String) throws(OutputFileError) {
    let bytes = Array(bytes)
    guard !path.isEmpty else { throw OutputFileError("it has no name") }
    let (descriptor, path) = try follow(path)
    if let descriptor { return try write(bytes, to: descriptor, patience: patience) }
    var status = stat()
    guard stat(path, &status) == 0 else {
      guard errno == ENOENT else { throw OutputFileError(code: errno) }
      return try replace(path, with: bytes, like: nil)
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG: try replace(path, with: bytes, like: status)
    case S_IFCHR: try writeInPlace(bytes, path, flags: O_NONBLOCK)
    case S_IFIFO:
      do throws(OutputFileError) {
        try writeInPlace(bytes, path, flags: O_NONBLOCK)
      } catch {
        throw error == OutputFileError(code: ENXIO) ? OutputFileError("nobody reads it") : error
      }
    case S_IFDIR: throw OutputFileError(code: EISDIR)
    case S_IFBLK: throw OutputFileError("it is a block device")
    default: throw OutputFileError("it is not a file, a terminal or a FIFO")
    }
  }

  /// Checks that a file can be created in a folder, by creating one and removing it.
  package static func check(folder: String) throws(OutputFileError) {
    let (descriptor, path) = try makeTemporary(in: folder)
    close(descriptor)
    unlink(path)
  }

  /// How long to wait for a reader, in milliseconds.
  private static let patience: Int32 = 2000

  // MARK: - The path

  /// Follows the symbolic links in the last component of the path, which need not exist yet.
  ///
  /// - Returns: the descriptor of this process that the path stands for, if it does, and the path without such links.
  private static func follow(_ path: String) throws(OutputFileError) -> (descriptor: Int32?, path: String) {
    var path = path
    // The kernel follows as many links.
    for _ in 0..<40 {
      let (folder, name) = split(path)
      guard let folder = String(taking: realpath(folder, nil)) else { return (nil, path) }
      if folder == "/proc/\(getpid())/fd", let descriptor = Int32(name) { return (descriptor, path) }
      path = (folder == "/" ? "" : folder) + "/" + name
      // The text of other links below /proc does not name what they point to.
      guard !folder.hasPrefix("/proc/"), let target = String(taking: g_file_read_link(path, nil)) else {
        return (nil, path)
      }
      path = target.hasPrefix("/") ? target : (folder == "/" ? "" : folder) + "/" + target
    }
    throw OutputFileError(code: ELOOP)
  }

  private static func split(_ path: String) -> (folder: String, name: String) {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
    let name = String(path[path.utf8.index(after: slash)...])
    // A path that ends in a slash names a folder, and the call that opens it reports that.
    guard !name.isEmpty else { return (path, ".") }
    return (slash == path.startIndex ? "/" : String(path[..<slash]), name)
  }

  // MARK: - Writing

  /// Writes a new file and renames it to `path`.
  private static func replace(_ path: String, with bytes: [UInt8], like old: stat?) throws(OutputFileError) {
    if old != nil, faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0 { throw OutputFileError(code: errno) }
    let (descriptor, temporary): (Int32, String)
    do throws(OutputFileError) {
      (descriptor, temporary) = try makeTemporary(in: split(path).folder)
    } catch {
      let isForbidden = error == OutputFileError(code: EACCES) || error == OutputFileError(code: EPERM)
      guard old != nil, isForbidden else { throw error }
      return try writeInPlace(bytes, path, flags: O_TRUNC)
    }
    do throws(OutputFileError) {
      defer { close(descriptor) }
      try write(bytes, to: descriptor, patience: -1)
      if let old {
        // The owner comes first, since changing it clears some bits of the mode.
        if old.st_uid != geteuid() || old.st_gid != getegid() { _ = fchown(descriptor, old.st_uid, old.st_gid) }
        guard fchmod(descriptor, old.st_mode & 0o777) == 0 else { throw OutputFileError(code: errno) }
      }
      try checkClosing(descriptor)
      guard rename(temporary, path) == 0 else { throw OutputFileError(code: errno) }
    } catch {
      unlink(temporary)
      // A file system may be mounted on the file itself, as in containers.
      guard old != nil, error == OutputFileError(code: EBUSY) else { throw error }
      try writeInPlace(bytes, path, flags: O_TRUNC)
    }
  }

  /// Creates a file with a random name in `folder`.
  private static func makeTemporary(in folder: String) throws(OutputFileError) -> (descriptor: Int32, path: String) {
    while true {
      // The name comes from the kernel's random numbers, so that nobody can guess it, and O_EXCL makes sure that nobody
      // has. mkstemp(3) is not used, because others cannot read its files whatever the umask says.
      let path = "\(folder)/.pipsink-\(String(UInt64.random(in: .min ... .max), radix: 36))"
      let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
      if descriptor >= 0 { return (descriptor, path) }
      guard errno == EEXIST || errno == EINTR else { throw OutputFileError(code: errno) }
    }
  }

  private static func writeInPlace(_ bytes: [UInt8], _ path: String, flags: Int32) throws(OutputFileError) {
    let descriptor = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC | flags)
    guard descriptor >= 0 else { throw OutputFileError(code: errno) }
    defer { close(descriptor) }
    try write(bytes, to: descriptor, patience: patience)
    try checkClosing(descriptor)
  }

  /// Writes all of `bytes` to a descriptor.
  ///
  /// - Parameter patience: milliseconds to wait for a non-blocking descriptor that accepts no data; -1 waits for ever.
  package static func write(_ bytes: [UInt8], to descriptor: Int32, patience: Int32 = -1) throws(OutputFileError) {
    guard let code = errorOfWriting(bytes, to: descriptor, patience: patience) else { return }
    throw code == EAGAIN ? OutputFileError("its reader accepts no data") : OutputFileError(code: code)
  }

  /// Writes `bytes` to a descriptor, or as many of them as possible.
  ///
  /// - Returns: an `errno`; nil when everything is written.
  package static func errorOfWriting(_ bytes: [UInt8], to descriptor: Int32, patience: Int32 = -1) -> Int32? {
    bytes.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        if count > 0 {
          rest = rest.dropFirst(count)
        } else if count == 0 {
          return EIO
        } else if errno == EAGAIN {
          var file = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          if poll(&file, 1, patience) == 0 { return EAGAIN }
        } else if errno != EINTR {
          return errno
        }
      }
      return nil
    }
  }

  /// Checks that what was written to a descriptor has arrived. Some file systems report a failed write only when a file
  /// is closed.
  package static func checkClosing(_ descriptor: Int32) throws(OutputFileError) {
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { throw OutputFileError(code: errno) }
    guard close(copy) == 0 || errno == EINTR else { throw OutputFileError(code: errno) }
  }
}
