import Glibc

/// The signals of a program that is not written in Swift.
enum HostSignals {
  /// Gives back the signals that Swift's runtime took for reports of crashes when it was loaded with the plugin. It takes
  /// those for which the program had no handler. With SWIFT_BACKTRACE in the environment the reports are wanted.
  static func giveBack() {
    guard getenv("SWIFT_BACKTRACE") == nil else { return }
    for number in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] {
      var action = sigaction()
      guard sigaction(number, nil, &action) == 0, isOfSwift(action) else { continue }
      action = sigaction()
      sigaction(number, &action, nil)
    }
  }

  /// Whether a handler is in the library that has the type `Int`.
  private static func isOfSwift(_ action: sigaction) -> Bool {
    guard let handler = unsafeBitCast(action.__sigaction_handler.sa_sigaction, to: UnsafeRawPointer?.self),
      let library = library(of: handler)
    else { return false }
    return library == self.library(of: unsafeBitCast(Int.self, to: UnsafeRawPointer.self))
  }

  /// The address at which the library was loaded that has an address; nil for an address in no library.
  private static func library(of address: UnsafeRawPointer) -> UnsafeRawPointer? {
    // The C library's headers declare dladdr and its result, four pointers, only for programs that define _GNU_SOURCE.
    typealias Function = @convention(c) (UnsafeRawPointer, UnsafeMutableRawPointer) -> CInt
    guard let dladdr = dlsym(nil, "dladdr").map({ unsafeBitCast($0, to: Function.self) }) else { return nil }
    return withUnsafeTemporaryAllocation(of: UnsafeRawPointer?.self, capacity: 4) { info in
      info.initialize(repeating: nil)
      return info.baseAddress.flatMap { dladdr(address, $0) == 0 ? nil : info[1] }
    }
  }
}
