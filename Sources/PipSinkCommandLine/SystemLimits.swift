import Glibc
import PipSink

/// Checks whether the limits of the process (`ulimit`, setrlimit(2)) leave the program enough resources to work.
///
/// When GLib, GStreamer and malloc get no file, no memory or no thread, they end the program, crash, or wait for ever
/// for a thread that could not be started. So the limits are checked before they are used.
package enum SystemLimits {
  /// The open files that the main loops of GLib and libdispatch, GStreamer's plugins and one stream need.
  private static let fileCount = 32
  private static let mebibyte = 1 << 20
  /// The address space that the program needs in addition to what it has already, in MiB.
  private static let programMebibytes = 128
  /// The address space that a pipeline needs, in MiB: each of about ten threads takes 8 MiB for its stack, and up to 64
  /// MiB that malloc reserves for it.
  private static let pipelineMebibytes = 1024

  /// - Throws: ``CommandError`` when a limit is too low. It names the limit, and says what to raise it to.
  static func checkForProgram() throws(CommandError) {
    try checkFiles()
    try checkAddressSpace(programMebibytes)
    do throws(PipSinkError) {
      try PipSink.checkLimits()
    } catch {
      throw CommandError(error)
    }
  }

  /// - Throws: ``CommandError`` when the address space is too small.
  package static func checkForPipelines() throws(CommandError) {
    try checkAddressSpace(pipelineMebibytes)
  }

  private static func checkFiles() throws(CommandError) {
    var descriptors: [Int32] = []
    defer { for descriptor in descriptors { close(descriptor) } }
    while descriptors.count < fileCount {
      let descriptor = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
      guard descriptor >= 0 else {
        let limit = limit(of: RLIMIT_NOFILE).map { " of \($0) open files (ulimit -n)" } ?? "s on open files"
        let open = descriptors.count
        throw CommandError(
          .exhausted,
          "the limit\(limit) leaves \(open) for this program, which needs \(fileCount), and more for streams; "
            + "raise it, for example with \"ulimit -n 1024\"")
      }
      descriptors.append(descriptor)
    }
  }

  private static func checkAddressSpace(_ mebibytes: Int) throws(CommandError) {
    // The memory is reserved, and not used.
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
    let size = mebibytes * mebibyte
    guard let memory = mmap(nil, size, PROT_NONE, flags, -1, 0), memory != MAP_FAILED else {
      let limit =
        limit(of: RLIMIT_AS).map { "the limit of \($0 >> 10) KiB of address space (ulimit -v)" } ?? "the system"
      throw CommandError(
        .exhausted,
        "\(limit) leaves less than the \(mebibytes) MiB that threads reserve, most of which they do not use; "
          + "raise it, for example with \"ulimit -v unlimited\", and limit memory with a control group instead")
    }
    munmap(memory, size)
  }

  /// The limit of a resource; nil when it is unlimited.
  private static func limit(of resource: __rlimit_resource) -> UInt? {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0, limit.rlim_cur != rlim_t.max else {
      return nil
    }
    return UInt(limit.rlim_cur)
  }
}
