/// Everything that PipSink throws or reports, by what it is about: with the thing that failed, the cause, and what to do
/// about it.
public enum PipSinkError: Error, Equatable, Sendable {
  case pipeline(Pipeline)
  case stream(Stream)
  case frame(Frame)
  case pictureInPicture(PictureInPicture)
  case system(System)
}

extension PipSinkError: CustomStringConvertible {
  /// A number that no other error has, the same in every version: from 1000 on of pipelines, from 1100 on of streams,
  /// from 1200 on of frames and pictures, from 1300 on of picture-in-picture, and from 1400 on of what is around.
  public var code: Int { text.code }

  /// What failed, and why. Control characters in texts of others (a server's status line, a stream's ID) are written out
  /// here and in all other texts, so that they may be printed on a terminal.
  public var failureReason: String { text.reason.visible }

  /// What to do about it, where there is something to do.
  public var recoverySuggestion: String? { text.advice?.visible }

  /// What failed, why, and what to do about it, in one line.
  public var description: String {
    (text.reason + (text.advice.map { "; \($0)" } ?? "")).visible
  }

  /// Whether a stream that failed so can only fail in the same way when it is started again as it is: it is a mistake in
  /// its description, or something that this machine has not got. What may come by itself, such as a server or a device,
  /// is no permanent failure.
  public var isPermanent: Bool {
    switch self {
    case .pipeline(.elementFailed(_, _, _, let kind)): kind.isPermanent
    case .pipeline(let error): error.isMistake
    case .stream(.duplicate), .stream(.unsupportedCaps), .frame(.invalidCaps), .system(.gstreamerUnavailable): true
    default: false
    }
  }

  /// Whether it makes no sense to start again what has failed so. A source that has played with these caps, or with this
  /// password, does so perhaps again; a file that is broken in its middle stays so.
  func isFinal(hasPlayed: Bool) -> Bool {
    if case .pipeline(.elementFailed(_, _, _, .badData)) = self { return true }
    return isPermanent && !hasPlayed
  }

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
    }
  }
}
