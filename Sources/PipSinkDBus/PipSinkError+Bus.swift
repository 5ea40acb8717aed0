import PipSink

extension PipSinkError {
  /// What callers on the bus can tell errors apart by.
  var busName: String {
    let kind =
      switch self {
      case .system(.invalidArgument): "InvalidArgument"
      case .stream(.unknown): "UnknownStream"
      case .stream(.duplicate): "DuplicateStream"
      case .pipeline(.missingElements): "MissingElements"
      case .pipeline(let error) where error.isMistake: "InvalidPipeline"
      case .stream(.unsupportedCaps): "InvalidPipeline"
      case .system(.resourceExhausted): "ResourceExhausted"
      case .pictureInPicture(.illegalTransition): "IllegalTransition"
      case .pictureInPicture(.sourceNotReady): "SourceNotReady"
      case .pictureInPicture(.unsupported), .pictureInPicture(.notPossible): "NotPossible"
      default: "Failed"
      }
    return "org.pipsink.Error.\(kind)"
  }
}
