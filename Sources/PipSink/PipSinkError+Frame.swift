extension PipSinkError {
  /// What is wrong with frames, with what is made of them, or with the memory for them.
  public enum Frame: Equatable, Sendable {
    /// Caps that are no raw video in system memory, or have an impossible size.
    case invalidCaps(String)
    /// A frame's memory cannot be read: it cannot be mapped, or is smaller than its format needs.
    case unreadable(reason: String)
    /// An operation that cannot be done with frames of this format.
    case unsupportedPixelFormat(PixelFormat, operation: String)
    /// A size that cannot be a picture's, in pixels.
    case invalidSize(width: Int, height: Int)
    /// A plane index that the format does not have.
    case noSuchPlane(index: Int, count: Int)
    /// A pool has lent out as many buffers as it may have.
    case poolExhausted(limit: Int)
    /// Memory for a frame cannot be had.
    case outOfMemory(byteCount: Int)
    /// No processor has this name.
    case unknownProcessor(String, known: [String])
    /// A processor does not take this argument; `expected` says what it takes.
    case invalidProcessorArgument(processor: String, argument: String?, expected: String)
    /// The elements behind a filter do not take what its processors make.
    case unacceptedOutput(processors: String, caps: String)
    /// A picture could not be encoded or written.
    case notWritten(path: String, reason: String)

    var text: Text {
      switch self {
      case .invalidCaps(let caps):
        Text(1200, "these caps are no raw video that PipSink can show: \(caps)")
      case .unreadable(let reason):
        Text(1201, "a frame cannot be read: \(reason)")
      case .unsupportedPixelFormat(let format, let operation):
        Text(
          1202, "\(operation) does not work on \(format.rawValue) frames",
          "put \"videoconvert ! video/x-raw,format=I420\" before the appsink")
      case .invalidSize(let width, let height):
        Text(
          1203, "\(width)x\(height) is no picture size",
          "width and height go from 1 to \(PictureSize.maximumDimension) pixels")
      case .noSuchPlane(let index, let count):
        Text(1204, "there is no plane \(index)", "the format has \(count)")
      case .poolExhausted(let limit):
        Text(
          1205, "all \(limit) buffers of the pool are in use",
          "let go of frames, or give the pool a larger maximumBufferCount")
      case .outOfMemory(let byteCount):
        Text(1206, "there is no memory for a frame of \(byteCount) bytes")
      case .unknownProcessor(let name, let known):
        Text(1207, "there is no processor \"\(name)\"", "the processors are: \(known.joined(separator: ", "))")
      case .invalidProcessorArgument(let processor, let argument, let expected):
        Text(1208, "processor \"\(processor)\" takes \(expected), not \(argument.map { "\"\($0)\"" } ?? "nothing")")
      case .unacceptedOutput(let processors, let caps):
        Text(
          1210, "what follows does not take what \"\(processors)\" makes: \(caps)",
          "put \"videoconvert ! videoscale\" behind the element, or leave the processor out")
      case .notWritten(let path, let reason):
        Text(1209, "the picture \"\(path)\" cannot be written: \(reason)")
      }
    }
  }
}
