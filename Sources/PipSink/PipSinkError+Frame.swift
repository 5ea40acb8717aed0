extension PipSinkError {
  /// An error in frames, in processing them, or in the memory for them.
  public enum Frame: Equatable, Sendable {
    /// The caps do not describe raw video in system memory, or contain an impossible size.
    case invalidCaps(String)
    /// A frame's memory cannot be read: it cannot be mapped, or it is smaller than the frame's format needs.
    case unreadable(reason: String)
    /// The operation does not work on frames of this format.
    case unsupportedPixelFormat(PixelFormat, operation: String)
    /// No picture can have this size in pixels.
    case invalidSize(width: Int, height: Int)
    /// The format has no plane with this index; it has `count` planes.
    case noSuchPlane(index: Int, count: Int)
    /// The pool has lent out as many buffers as it may have.
    case poolExhausted(limit: Int)
    /// There is not enough memory for a frame of this size.
    case outOfMemory(byteCount: Int)
    /// No processor has this name. `known` lists the names that exist.
    case unknownProcessor(String, known: [String])
    /// The processor does not take this argument; `expected` says what it takes.
    case invalidProcessorArgument(processor: String, argument: String?, expected: String)
    /// The elements after a filter do not accept what its processors produce.
    case unacceptedOutput(processors: String, caps: String)
    /// A picture could not be encoded or written to a file.
    case notWritten(path: String, reason: String)
    /// A file is no picture that can be decoded.
    case notRead(name: String, reason: String)

    var text: Text {
      switch self {
      case .invalidCaps(let caps):
        Text(1200, "these caps are not raw video that PipSink can show: \(caps)")
      case .unreadable(let reason):
        Text(1201, "a frame cannot be read: \(reason)")
      case .unsupportedPixelFormat(let format, let operation):
        Text(
          1202, "\(operation) does not work on \(format.rawValue) frames",
          "put \"videoconvert ! video/x-raw,format=I420\" before the appsink")
      case .invalidSize(let width, let height):
        Text(
          1203, "\(width)x\(height) is not a picture size",
          "width and height go from 1 to \(PictureSize.maximumDimension) pixels")
      case .noSuchPlane(let index, let count):
        Text(1204, "there is no plane \(index)", "the format has \(count)")
      case .poolExhausted(let limit):
        Text(
          1205, "all \(limit) buffers of the pool are in use",
          "release frames, or give the pool a larger maximumBufferCount")
      case .outOfMemory(let byteCount):
        Text(1206, "there is no memory for a frame of \(byteCount) bytes")
      case .unknownProcessor(let name, let known):
        Text(1207, "there is no processor \"\(name)\"", "the processors are: \(known.joined(separator: ", "))")
      case .invalidProcessorArgument(let processor, let argument, let expected):
        Text(1208, "processor \"\(processor)\" takes \(expected), not \(argument.map { "\"\($0)\"" } ?? "nothing")")
      case .unacceptedOutput(let processors, let caps):
        Text(
          1210, "the elements that follow do not accept the output of \"\(processors)\": \(caps)",
          "put \"videoconvert ! videoscale\" after the element, or remove the processor")
      case .notWritten(let path, let reason):
        Text(1209, "the picture \"\(path)\" cannot be written: \(reason)")
      case .notRead(let name, let reason):
        Text(1211, "the picture \"\(name)\" cannot be read: \(reason)", "give a PNG or JPEG file")
      }
    }
  }
}
