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
/// The kernel alone says what a path means, and whether this process may write there: symbolic links are followed as far
/// as it allows in folders that others can write (`fs.protected_symlinks`), and another user's file or FIFO in such a
/// folder is refused where it refuses that (`fs.protected_regular`, `fs.protected_fifos`).
///
/// A file that a link leads to is replaced, and the link stays. What is not a regular file (`/dev/null`, a terminal, a
/// FIFO that somebody reads) is written to; block devices, sockets and folders are refused. `/dev/fd/N`, and any name of
/// the file that is standard output or standard error, stand for the process's own descriptor.
package enum OutputFile {
  /// Replaces the file, or creates it. A new file gets the mode 0666 less the umask. A file that is replaced keeps its
  /// mode and, where that is allowed, its owner. A file that this process may not write is not replaced, even where its
  /// folder would allow that. A writable file in a folder that is not writable is written in place.
  ///
  /// The call waits for the disk. For the reader of a FIFO or a terminal it waits two seconds at most.
  package static func write(_ bytes: some Sequence<UInt8>, to path: String) throws(OutputFileError) {
    let bytes = Array(bytes)
    guard !path.isEmpty else { throw OutputFileError("it has no name") }
    if let own = ownDescriptor(path) { return try write(bytes, to: own, patience: patience) }
    var status = stat()
    let isNew = stat(path, &status) != 0
    // With O_CREAT the kernel also checks who owns a file that exists.
    let descriptor = open(path, O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else {
      guard errno == ENXIO else { throw OutputFileError(code: errno) }
      let isFIFO = status.st_mode & S_IFMT == S_IFIFO
      throw OutputFileError(isFIFO ? "nobody reads it" : "it is not a file, a terminal or a FIFO")
    }
    defer { close(descriptor) }
    guard fstat(descriptor, &status) == 0 else { throw OutputFileError(code: errno) }
    switch status.st_mode & S_IFMT {
    case S_IFREG:
      if let own = [STDOUT_FILENO, STDERR_FILENO].first(where: { own in isSame(status) { fstat(own, $0) } }) {
        return try write(bytes, to: own)
      }
      try replace(descriptor, status, with: bytes, isNew: isNew)
    case S_IFBLK: throw OutputFileError("it is a block device")
    default:
      try write(bytes, to: descriptor, patience: patience)
      try checkClosing(descriptor)
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

  /// The descriptor of this process that a path stands for: a name of standard output or standard error, or a number in
  /// the folder `/dev/fd`, by whatever name.
  private static func ownDescriptor(_ path: String) -> Int32? {
    if let standard = ["/dev/stdout": STDOUT_FILENO, "/dev/stderr": STDERR_FILENO][path] { return standard }
    let (folder, name) = split(path)
    guard let number = Int32(name), let folder = String(taking: realpath(folder, nil)) else { return nil }
    return folder == "/proc/\(getpid())/fd" ? number : nil
  }

  private static func split(_ path: String) -> (folder: String, name: String) {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
    return (slash == path.startIndex ? "/" : String(path[..<slash]), String(path[path.utf8.index(after: slash)...]))
  }

  /// Whether the file that `look` finds is the one with this status.
  private static func isSame(_ status: stat, _ look: (UnsafeMutablePointer<stat>) -> Int32) -> Bool {
    var other = stat()
    return look(&other) == 0 && other.st_dev == status.st_dev && other.st_ino == status.st_ino
  }

  // MARK: - Writing

  /// Writes a new file and gives it the name of the one that is open. Where that is not possible, it writes into the one
  /// that is open.
  private static func replace(
    _ old: Int32, _ status: stat, with bytes: [UInt8], isNew: Bool
  ) throws(OutputFileError) {
    // The kernel knows where it has found the file. Whether the file is still there is looked up again.
    let path = String(taking: g_file_read_link("/proc/self/fd/\(old)", nil)) ?? ""
    guard isSame(status, { lstat(path, $0) }) else { return try overwrite(old, with: bytes) }
    var temporary = ""
    do throws(OutputFileError) {
      let descriptor: Int32
      (descriptor, temporary) = try makeTemporary(in: split(path).folder)
      defer { close(descriptor) }
      try write(bytes, to: descriptor)
      // The owner comes first, since changing it clears some bits of the mode.
      if status.st_uid != geteuid() || status.st_gid != getegid() {
        _ = fchown(descriptor, status.st_uid, status.st_gid)
      }
      guard fchmod(descriptor, status.st_mode & 0o777) == 0 else { throw OutputFileError(code: errno) }
      try checkClosing(descriptor)
      guard rename(temporary, path) == 0 else { throw OutputFileError(code: errno) }
    } catch {
      if !temporary.isEmpty { unlink(temporary) }
      // The folder may not be writable, or a file system may be mounted on the file itself, as in containers.
      if !isNew, [EACCES, EPERM, EBUSY].contains(where: { error == OutputFileError(code: $0) }) {
        return try overwrite(old, with: bytes)
      }
      if isNew { unlink(path) }
      throw error
    }
  }

  private static func overwrite(_ descriptor: Int32, with bytes: [UInt8]) throws(OutputFileError) {
    guard ftruncate(descriptor, 0) == 0 else { throw OutputFileError(code: errno) }
    try write(bytes, to: descriptor)
    try checkClosing(descriptor)
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
    SizeLimit.withoutSignal { bytes.withUnsafeBytes { errorOfWriting($0[...], to: descriptor, patience: patience) } }
  }

  private static func errorOfWriting(
    _ bytes: Slice<UnsafeRawBufferPointer>, to descriptor: Int32, patience: Int32
  ) -> Int32? {
    var rest = bytes
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

  /// Checks that what was written to a descriptor has arrived. Some file systems report a failed write only when a file
  /// is closed.
  package static func checkClosing(_ descriptor: Int32) throws(OutputFileError) {
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { throw OutputFileError(code: errno) }
    guard close(copy) == 0 || errno == EINTR else { throw OutputFileError(code: errno) }
  }
}
