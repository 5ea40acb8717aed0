import Glibc

/// Checks before a pipeline is made whether the process can get enough threads and file descriptors. Without this
/// check, GLib would end the process when it cannot get a thread or a pipe, and GStreamer would go on with warnings.
enum ResourceLimits {
  /// How many threads and file descriptors a large pipeline takes, including its sockets and clocks.
  private static let reserve = 16

  /// Takes as many threads and file descriptors as a pipeline may need, and gives them back at once. Trying is the only
  /// reliable test: the process, the user, the service and the system have limits, and no call returns all of them.
  ///
  /// - Throws: ``PipSinkError/System/resourceExhausted(_:inUse:limit:)``.
  static func check() throws(PipSinkError) {
    try checkFiles()
    try checkThreads()
  }

  /// - Throws: as ``check()``.
  static func checkFiles() throws(PipSinkError) {
    var files: [Int32] = []
    defer { for file in files { close(file) } }
    while files.count < reserve {
      let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
      if file >= 0 {
        files.append(file)
        continue
      }
      guard errno == EMFILE || errno == ENFILE else { return }
      for file in files { close(file) }
      let limit = fileLimit
      // Counting the open files opens a folder, for which one descriptor must be free.
      let inUse = files.isEmpty ? limit : ResourceUsage.current.openFileCount
      files = []
      throw .system(.resourceExhausted(.files, inUse: inUse ?? 0, limit: limit))
    }
  }

  private static func checkThreads() throws(PipSinkError) {
    let end = Completion<Void>()
    var threads: [WorkerThread] = []
    defer {
      end.complete(())
      for thread in threads { thread.join() }
    }
    while threads.count < reserve {
      guard let thread = WorkerThread(name: "pipsink-limits", body: { end.wait() }) else { throw threadRefused }
      threads.append(thread)
    }
  }

  /// The error for a thread that the system refuses.
  static var threadRefused: PipSinkError {
    // The limit applies to all processes of the user together, so it is not reported for this process.
    .system(.resourceExhausted(.threads, inUse: ResourceUsage.current.threadCount, limit: nil))
  }

  private static var fileLimit: Int? {
    var limit = rlimit()
    let isKnown = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
    return isKnown && limit.rlim_cur < UInt(Int32.max) ? Int(limit.rlim_cur) : nil
  }
}
