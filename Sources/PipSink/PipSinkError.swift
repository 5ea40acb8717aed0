/// Everything that PipSink throws or reports, with the thing that failed, the cause, and what to do about it.
public enum PipSinkError: Error, Equatable, Sendable {
  /// `gst_init` failed.
  case gstreamerUnavailable(reason: String)
  /// The pipeline description has no element in it.
  case emptyPipeline
  /// The description is not in gst-launch's syntax, or sets a property that does not exist.
  case invalidPipeline(reason: String)
  /// Elements that no installed plugin has, by factory name; or, of a decoder that was missed while running, its
  /// description.
  case missingElements([String])
  /// Two elements cannot be linked.
  case linkFailed(reason: String)
  /// No appsink in the description, so there is no stream.
  case noStreams
  /// An appsink without a `name`; `element` is the name GStreamer made up for it.
  case unnamedStream(element: String)
  /// Two elements of one name.
  case duplicateStreamID(StreamID)
  /// Nothing is linked to a stream's appsink.
  case unlinkedStream(StreamID)
  /// What upstream offers a stream has nothing in common with the video formats that PipSink takes.
  case unsupportedCaps(streamID: StreamID, caps: String)
  /// Caps that are no raw video in system memory, or have an impossible size.
  case invalidCaps(String)
  /// No stream has this ID.
  case unknownStream(StreamID, known: [StreamID])
  /// An element posted an error; `element` is its name, `message` GStreamer's text, `detail` its debug text.
  case elementFailed(element: String, message: String, detail: String?, kind: ElementFailureKind = .other)
  /// The pipeline refused a change of state and no element said why.
  case stateChangeFailed(pipeline: String)
  /// `start()` while the engine runs already.
  case alreadyRunning
  /// A stream has delivered no frame for so many seconds.
  case streamStalled(StreamID, seconds: Double)
  /// A stream that has no end ended: its server closed the connection, for instance.
  case streamEndedUnexpectedly(StreamID)
  /// Its source cannot go on from another place.
  case notSeekable(reason: String)
  /// A stream's own description has to have one appsink; it has these.
  case notOneStream([StreamID])
  /// Nothing in a stream's pipeline has a volume, or can be muted.
  case noAudioVolume(StreamID)
  /// A frame's memory cannot be read: it cannot be mapped, or is smaller than its format needs.
  case unreadableFrame(reason: String)
  /// An operation that cannot be done with frames of this format.
  case unsupportedPixelFormat(PixelFormat, operation: String)
  /// No processor has this name.
  case unknownProcessor(String, known: [String])
  /// A processor does not take this argument; `expected` says what it takes.
  case invalidProcessorArgument(processor: String, argument: String?, expected: String)
  /// A pool has lent out as many buffers as it may have.
  case poolExhausted(limit: Int)
  /// The process has as many threads or open files as it may have, or too few are left to start another pipeline.
  /// `limit` is nil where nobody says what it is.
  case resourceExhausted(ProcessResource, inUse: Int, limit: Int?)
  /// Memory for a frame cannot be had.
  case outOfMemory(byteCount: Int)
  /// No window can be shown.
  case displayUnavailable(reason: String)
  /// Picture-in-picture cannot go that way from where it stands.
  case illegalTransition(state: PictureInPictureState, trigger: PictureInPictureTrigger)
  /// Picture-in-picture cannot be had here at all.
  case pictureInPictureUnsupported(reason: String)
  /// Picture-in-picture cannot start now.
  case pictureInPictureNotPossible(reason: String)
  /// The stream has shown no frame yet, so that picture-in-picture would be black.
  case sourceNotReady(StreamID)
  /// Picture-in-picture was stopped before it showed anything.
  case pictureInPictureCancelled
  /// The picture-in-picture window died.
  case pictureInPictureWindowLost(reason: String)
  /// The session bus (D-Bus) cannot be reached.
  case sessionBusUnavailable(reason: String)
  /// Another process gave an argument that makes no sense.
  case invalidArgument(String, reason: String)
  /// A size that cannot be a picture's, in pixels.
  case invalidSize(width: Int, height: Int)
  /// A plane index that the format does not have.
  case noSuchPlane(index: Int, count: Int)
  /// A picture could not be encoded or written.
  case pictureNotWritten(path: String, reason: String)
}

extension PipSinkError: CustomStringConvertible {
  /// What failed, why, and what to do about it, in one line. Control characters in texts of others (a server's status
  /// line, a stream's ID) are written out, so that it may be printed on a terminal.
  public var description: String { text.visible }

  private var text: String {
    switch self {
    case .gstreamerUnavailable(let reason):
      "GStreamer cannot be initialised: \(reason)"
    case .emptyPipeline:
      "the pipeline description is empty; give one such as \"videotestsrc ! appsink name=camera\""
    case .invalidPipeline(let reason):
      "the pipeline cannot be parsed: \(reason)"
    case .missingElements(let names):
      "missing \(names.count == 1 ? "element" : "elements"): \(names.joined(separator: ", "))"
    case .linkFailed(let reason):
      "the pipeline cannot be linked: \(reason)"
    case .noStreams:
      "the pipeline has no appsink, so there is no stream to show; end a branch with \"appsink name=STREAM\""
    case .unnamedStream(let element):
      "the appsink that GStreamer calls \"\(element)\" has no name; its name is the stream ID, so write \"appsink name=STREAM\""
    case .duplicateStreamID(let id):
      "the name \"\(id)\" is used twice; every stream needs a name of its own"
    case .unlinkedStream(let id):
      "nothing is linked to the appsink of stream \"\(id)\""
    case .unsupportedCaps(let id, let caps):
      "stream \"\(id)\" is offered \(caps), which is no video format that PipSink takes; "
        + "put \"videoconvert\" before its appsink, or link a video branch to it"
    case .invalidCaps(let caps):
      "these caps are no raw video that PipSink can show: \(caps)"
    case .unknownStream(let id, let known):
      "there is no stream \"\(id)\"; the streams are: \(known.joined(separator: ", "))"
    case .elementFailed(let element, let message, let detail, _):
      "element \"\(element)\": \(message)\(detail.map { " (\($0))" } ?? "")"
    case .stateChangeFailed(let pipeline):
      "\"\(pipeline)\" refused to start and no element said why; GST_DEBUG=3 shows more"
    case .alreadyRunning:
      "the engine runs already; stop it first"
    case .streamStalled(let id, let seconds):
      "stream \"\(id)\" has delivered no frame for \(seconds) s; is its source still there?"
    case .streamEndedUnexpectedly(let id):
      "stream \"\(id)\" ended before its time; is its server still there?"
    case .notSeekable(let reason):
      "it cannot go on from another place: \(reason)"
    case .notOneStream(let ids):
      "a stream of its own needs a pipeline with one appsink, not with \(ids.count): \(ids.joined(separator: ", "))"
    case .noAudioVolume(let id):
      "stream \"\(id)\" has no sound whose volume could be set; end its audio branch with \"volume ! autoaudiosink\", "
        + "and where several streams are in one pipeline, give the volume a name that begins with \"\(id)\""
    case .unreadableFrame(let reason):
      "a frame cannot be read: \(reason)"
    case .unsupportedPixelFormat(let format, let operation):
      "\(operation) does not work on \(format.rawValue) frames; put \"videoconvert ! video/x-raw,format=I420\" before the appsink"
    case .unknownProcessor(let name, let known):
      "there is no processor \"\(name)\"; the processors are: \(known.joined(separator: ", "))"
    case .invalidProcessorArgument(let processor, let argument, let expected):
      "processor \"\(processor)\" takes \(expected), not \(argument.map { "\"\($0)\"" } ?? "nothing")"
    case .poolExhausted(let limit):
      "all \(limit) buffers of the pool are in use; let go of frames, or give the pool a larger maximumBufferCount"
    case .resourceExhausted(let resource, let inUse, let limit):
      "there are too few \(resource.rawValue) left to start a pipeline: the process has \(inUse)"
        + "\(limit.map { " of \($0) that it may have" } ?? ""); stop some streams, or raise the limit with \(resource.advice)"
    case .outOfMemory(let byteCount):
      "there is no memory for a frame of \(byteCount) bytes"
    case .displayUnavailable(let reason):
      "no window can be shown: \(reason); set DISPLAY or WAYLAND_DISPLAY, or show the streams offscreen"
    case .illegalTransition(let state, let trigger):
      "picture-in-picture is \(state.rawValue), from where \"\(trigger.rawValue)\" leads nowhere"
    case .pictureInPictureUnsupported(let reason):
      "picture-in-picture is not supported here: \(reason)"
    case .pictureInPictureNotPossible(let reason):
      "picture-in-picture cannot start now: \(reason)"
    case .sourceNotReady(let id):
      "stream \"\(id)\" has no picture to show yet; try again when its first frame is there"
    case .pictureInPictureCancelled:
      "picture-in-picture was stopped before it had started"
    case .pictureInPictureWindowLost(let reason):
      "the picture-in-picture window is gone: \(reason); everything is shown in the app"
    case .sessionBusUnavailable(let reason):
      "the session bus cannot be reached: \(reason); set DBUS_SESSION_BUS_ADDRESS, or start the program by dbus-run-session"
    case .invalidArgument(let name, let reason):
      "the argument \"\(name)\" cannot be taken: \(reason)"
    case .invalidSize(let width, let height):
      "\(width)x\(height) is no picture size; width and height go from 1 to \(PictureSize.maximumDimension) pixels"
    case .noSuchPlane(let index, let count):
      "there is no plane \(index); the format has \(count)"
    case .pictureNotWritten(let path, let reason):
      "the picture \"\(path)\" cannot be written: \(reason)"
    }
  }
}

extension PipSinkError {
  /// Whether a stream that failed so can only fail in the same way when it is started again as it is: it is a mistake in
  /// its description, or something that this machine has not got. What may come by itself, such as a server or a device,
  /// is no permanent failure.
  public var isPermanent: Bool {
    switch self {
    case .elementFailed(_, _, _, let kind): kind.isPermanent
    case .gstreamerUnavailable, .emptyPipeline, .invalidPipeline, .missingElements, .linkFailed, .noStreams,
      .unnamedStream, .duplicateStreamID, .unlinkedStream, .unsupportedCaps, .invalidCaps, .notOneStream:
      true
    default: false
    }
  }
}
