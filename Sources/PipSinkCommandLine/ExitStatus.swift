import ArgumentParser
import PipSink

/// The exit codes of the programs, after sysexits.h.
package enum ExitStatus: Int32 {
  /// EX_USAGE: an option has an invalid value, a stream does not exist, or a folder cannot be written.
  case usage = 64
  /// EX_DATAERR: the pipeline cannot be parsed or linked.
  case pipeline = 65
  /// EX_UNAVAILABLE: an element or a display is missing.
  case unavailable = 69
  /// EX_OSERR: the system's limits allow no more threads, open files or address space.
  case exhausted = 71
  /// EX_IOERR: a stream failed while it ran, was restarted and never delivered a frame, or could not be shown; or a
  /// picture, a report or standard output could not be written.
  case failed = 74

  package var exitCode: ExitCode { ExitCode(rawValue) }

  /// The exit code for any error of the library.
  package init(_ error: PipSinkError) {
    self =
      switch error {
      case .pipeline(.missingElements), .system(.gstreamerUnavailable), .system(.displayUnavailable),
        .system(.sessionBusUnavailable), .system(.toolkitUnavailable), .pictureInPicture(.unsupported),
        .pictureInPicture(.windowLost), .call(.httpUnavailable):
        .unavailable
      case .system(.resourceExhausted): .exhausted
      case .stream(.unknown), .frame(.invalidSize), .frame(.unknownProcessor), .frame(.invalidProcessorArgument),
        .system(.invalidArgument), .call(.invalidURL):
        .usage
      case .stream(.duplicate), .stream(.unsupportedCaps): .pipeline
      case .pipeline(let error) where error.isMistake: .pipeline
      // All others happen to a pipeline that runs.
      default: .failed
      }
  }
}

/// An error with the exit code that the program ends with.
package struct CommandError: Error {
  package let status: ExitStatus
  package let message: String

  package init(_ status: ExitStatus, _ message: String) {
    self.status = status
    self.message = message
  }

  package init(_ error: PipSinkError) {
    status = ExitStatus(error)
    message = error.description + (DebianPackages.advice(for: error).map { "\n\($0)" } ?? "")
  }

  /// Prints the error to standard error.
  ///
  /// - Parameter program: the name of the program that fails.
  /// - Returns: the status to end the program with.
  func report(by program: String) -> Int32 {
    StandardStream.error.say("\(program): \(message)")
    return status.rawValue
  }
}
