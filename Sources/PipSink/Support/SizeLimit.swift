import Glibc

/// The limit on the size of files that a process may have (`ulimit -f`, `RLIMIT_FSIZE`).
package enum SizeLimit {
  /// Calls `body`, in which whatever makes a file larger than the limit fails with `EFBIG`. The system would otherwise
  /// raise SIGXFSZ in the calling thread, which ends the program, also one that only hosts PipSink.
  package static func withoutSignal<Result>(_ body: () -> Result) -> Result {
    var (signals, old, pending) = (sigset_t(), sigset_t(), sigset_t())
    sigemptyset(&signals)
    sigaddset(&signals, SIGXFSZ)
    sigpending(&pending)
    pthread_sigmask(SIG_BLOCK, &signals, &old)
    let result = body()
    let code = errno
    // A signal that waits already is the program's own.
    if sigismember(&pending, SIGXFSZ) == 0 {
      var now = timespec()
      sigtimedwait(&signals, nil, &now)
    }
    pthread_sigmask(SIG_SETMASK, &old, nil)
    errno = code
    return result
  }
}
