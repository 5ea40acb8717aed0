import Glibc

/// The end of a program whose display server has gone.
enum DisplayLoss {
  static let message = "the display server has gone; the windows with it"

  /// Ends the program without the libraries' cleaning up, which may wait for what a broken connection keeps locked.
  static func end(_ status: Int32) -> Never {
    fflush(nil)
    _exit(status)
  }
}
