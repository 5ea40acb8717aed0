import Glibc

/// Finds out before a pipeline is made whether there is enough for it. GLib ends the process when it gets no thread or
/// no pipe, and GStreamer goes on with warnings.
enum ResourceLimits {
  /// What the larger pipelines take, with their sockets and clocks.
  private static let reserve = 16

  /// Takes as many threads and files as a pipeline may need, and gives them back at once: limits are the process's, the
  /// user's, the service's and the system's, and nobody tells them all.
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
      // The folder that is counted has to be opened, too.
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

  /// The error of a thread that cannot be had.
  static var threadRefused: PipSinkError {
    // The user's limit counts the threads of all the user's processes, so it says nothing about this one's.
    .system(.resourceExhausted(.threads, inUse: ResourceUsage.current.threadCount, limit: nil))
  }

  private static var fileLimit: Int? {
    var limit = rlimit()
    let isKnown = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
    return isKnown && limit.rlim_cur < UInt(Int32.max) ? Int(limit.rlim_cur) : nil
  }
}
