/// Everything that PipSink throws or reports, grouped by what it is about. Each error names what failed, why, and,
/// where possible, what to do about it.
public enum PipSinkError: Error, Equatable, Sendable {
  /// An error in a pipeline or its description.
  case pipeline(Pipeline)
  /// An error of a single stream.
  case stream(Stream)
  /// An error in frames, in processing them, or in the memory for them.
  case frame(Frame)
  /// An error of picture-in-picture.
  case pictureInPicture(PictureInPicture)
  /// Something that is missing around PipSink.
  case system(System)
  /// An error of a peer connection.
  case call(Call)
}

extension PipSinkError: CustomStringConvertible {
  /// The error's number. No other error has it, and it stays the same in all versions: from 1000 for pipelines, from
  /// 1100 for streams, from 1200 for frames and pictures, from 1300 for picture-in-picture, from 1400 for the
  /// system around PipSink, and from 1500 for calls.
  public var code: Int { text.code }

  /// What failed, and why. Control characters in texts of others (a server's status line, a stream's ID) are escaped
  /// here and in the other texts, so that they can be printed on a terminal.
  public var failureReason: String { text.reason.visible }

  /// What to do about the error; nil where there is nothing to suggest.
  public var recoverySuggestion: String? { text.advice?.visible }

  /// What failed, why, and what to do about it, in one line.
  public var description: String {
    (text.reason + (text.advice.map { "; \($0)" } ?? "")).visible
  }

  /// Whether a stream that failed with this error fails in the same way whenever it is started again unchanged: its
  /// description is wrong, or this machine lacks something. Failures that may pass by themselves, such as an
  /// unreachable server or a missing device, are not permanent.
  public var isPermanent: Bool {
    switch self {
    case .pipeline(.elementFailed(_, _, _, let kind)): kind.isPermanent
    case .pipeline(let error): error.isMistake
    case .call(let error): error.isPermanent
    case .stream(.duplicate), .stream(.unsupportedCaps), .frame(.invalidCaps), .system(.gstreamerUnavailable): true
    default: false
    }
  }

  /// Whether a new attempt after this failure is pointless. A source that has played before with these caps or this
  /// password may do so again; a file that is corrupt in the middle stays corrupt.
  func isFinal(hasPlayed: Bool) -> Bool {
    if case .pipeline(.elementFailed(_, _, _, .badData)) = self { return true }
    return isPermanent && !hasPlayed
  }

  /// An error's number and texts.
  struct Text {
    let code: Int
    let reason: String
    var advice: String?

    init(_ code: Int, _ reason: String, _ advice: String? = nil) {
      (self.code, self.reason, self.advice) = (code, reason, advice)
    }
  }

  private var text: Text {
    switch self {
    case .pipeline(let error): error.text
    case .stream(let error): error.text
    case .frame(let error): error.text
    case .pictureInPicture(let error): error.text
    case .system(let error): error.text
    case .call(let error): error.text
    }
  }
}
