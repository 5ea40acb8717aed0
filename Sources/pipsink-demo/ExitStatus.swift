import ArgumentParser
import PipSink

/// The demo's exit codes, after sysexits.h.
enum ExitStatus: Int32 {
  /// EX_USAGE: an option that makes no sense, a stream that does not exist, a folder that cannot be written.
  case usage = 64
  /// EX_DATAERR: the pipeline cannot be parsed or linked.
  case pipeline = 65
  /// EX_UNAVAILABLE: an element or a display is missing.
  case unavailable = 69
  /// EX_OSERR: the process may have no more threads or open files.
  case exhausted = 71
  /// EX_IOERR: a stream failed while running, or was only started again and never delivered a frame; or a picture, a
  /// report or standard output could not be written.
  case failed = 74

  var exitCode: ExitCode { ExitCode(rawValue) }

  /// The code for an error, wherever it comes from.
  init(_ error: PipSinkError) {
    self =
      switch error {
      case .pipeline(.missingElements), .system(.gstreamerUnavailable), .system(.displayUnavailable),
        .system(.sessionBusUnavailable), .system(.toolkitUnavailable), .pictureInPicture(.unsupported),
        .pictureInPicture(.windowLost):
        .unavailable
      case .system(.resourceExhausted): .exhausted
      case .stream(.unknown), .frame(.invalidSize), .frame(.unknownProcessor), .frame(.invalidProcessorArgument),
        .system(.invalidArgument):
        .usage
      case .stream(.duplicate), .stream(.unsupportedCaps): .pipeline
      case .pipeline(let error) where error.isMistake: .pipeline
      // What happens to a pipeline that runs.
      // What happens to a pipeline that runs.
      default: .failed
      }
  }
}

/// An error with its exit code, for `run()` to end with.
struct DemoError: Error {
  let status: ExitStatus
  let message: String

  init(_ status: ExitStatus, _ message: String) {
    self.status = status
    self.message = message
  }

  init(_ error: PipSinkError) {
    status = ExitStatus(error)
    message = error.description + (DebianPackages.advice(for: error).map { "\n\($0)" } ?? "")
  }

  /// Says it on standard error.
  var reported: ExitCode {
    StandardStream.error.say("pipsink-demo: \(message)")
    return status.exitCode
  }
}
