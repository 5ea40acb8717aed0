import Glibc
import PipSink

/// Whether the limits that the program was started with (`ulimit`, setrlimit(2)) leave it enough to work at all.
///
/// GLib, GStreamer and malloc end the program, crash, or wait for ever for a thread that could not be started, when they
/// get no file, no memory or no thread; so this is found out before they are used.
enum SystemLimits {
  /// What GLib's and libdispatch's loops, GStreamer's plugins and one stream take.
  private static let fileCount = 32
  private static let mebibyte = 1 << 20
  /// Of address space, beyond the program itself.
  private static let programMebibytes = 128
  /// A pipeline's: each of some ten threads takes 8 MiB for its stack, and up to 64 MiB that malloc sets aside for it.
  private static let pipelineMebibytes = 1024

  /// - Throws: ``DemoError``, which names the limit and says what to raise it to.
  static func checkForProgram() throws(DemoError) {
    try checkFiles()
    try checkAddressSpace(programMebibytes)
    do throws(PipSinkError) {
      try PipSink.checkLimits()
    } catch {
      throw DemoError(error)
    }
  }

  /// - Throws: as above.
  static func checkForPipelines() throws(DemoError) {
    try checkAddressSpace(pipelineMebibytes)
  }

  private static func checkFiles() throws(DemoError) {
    var descriptors: [Int32] = []
    defer { for descriptor in descriptors { close(descriptor) } }
    while descriptors.count < fileCount {
      let descriptor = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
      guard descriptor >= 0 else {
        let limit = limit(of: RLIMIT_NOFILE).map { " of \($0) open files (ulimit -n)" } ?? "s on open files"
        let open = descriptors.count
        throw DemoError(
          .exhausted,
          "the limit\(limit) leaves \(open) for this program, which needs \(fileCount) and more for streams; "
            + "raise it, with \"ulimit -n 1024\" for instance")
      }
      descriptors.append(descriptor)
    }
  }

  private static func checkAddressSpace(_ mebibytes: Int) throws(DemoError) {
    // Reserved, not used.
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
    let size = mebibytes * mebibyte
    guard let memory = mmap(nil, size, PROT_NONE, flags, -1, 0), memory != MAP_FAILED else {
      let limit =
        limit(of: RLIMIT_AS).map { "the limit of \($0 >> 10) KiB of address space (ulimit -v)" } ?? "the system"
      throw DemoError(
        .exhausted,
        "\(limit) leaves less than the \(mebibytes) MiB that threads reserve, most of which they do not use; "
          + "raise it, with \"ulimit -v unlimited\" for instance, and limit memory by a control group instead")
    }
    munmap(memory, size)
  }

  /// nil where there is none.
  private static func limit(of resource: __rlimit_resource) -> UInt? {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0, limit.rlim_cur != rlim_t.max else {
      return nil
    }
    return UInt(limit.rlim_cur)
  }
}
