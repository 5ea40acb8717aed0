import PipSink

extension PipSinkError {
  /// What callers on the bus can tell errors apart by.
  var busName: String {
    let kind =
      switch self {
      case .invalidArgument: "InvalidArgument"
      case .unknownStream: "UnknownStream"
      case .duplicateStreamID: "DuplicateStream"
      case .missingElements: "MissingElements"
      case .emptyPipeline, .invalidPipeline, .linkFailed, .noStreams, .unnamedStream, .unlinkedStream,
        .unsupportedCaps, .notOneStream:
        "InvalidPipeline"
      case .resourceExhausted: "ResourceExhausted"
      case .illegalTransition: "IllegalTransition"
      case .sourceNotReady: "SourceNotReady"
      case .pictureInPictureUnsupported, .pictureInPictureNotPossible: "NotPossible"
      default: "Failed"
      }
    return "org.pipsink.Error.\(kind)"
  }
}
