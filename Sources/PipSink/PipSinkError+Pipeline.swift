extension PipSinkError {
  /// An error in a pipeline or its description.
  public enum Pipeline: Equatable, Sendable {
    /// The description contains no element.
    case empty
    /// The description does not follow gst-launch's syntax, or sets a property that does not exist.
    case invalid(reason: String)
    /// No installed plugin has these elements. They are given by factory name, or, for a decoder that turned out to be
    /// missing while the pipeline ran, by description.
    case missingElements([String])
    /// Two elements cannot be linked.
    case linkFailed(reason: String)
    /// The description contains no appsink, so there is no stream.
    case noStreams
    /// An appsink has no `name`; `element` is the name that GStreamer made up for it.
    case unnamedStream(element: String)
    /// Nothing is linked to a stream's appsink.
    case unlinkedStream(StreamID)
    /// The pipeline of a single stream needs exactly one appsink; this one has the listed ones.
    case notOneStream([StreamID])
    /// An element posted an error. `element` is its name, `message` is GStreamer's text, and `detail` its debug text.
    case elementFailed(element: String, message: String, detail: String?, kind: ElementFailureKind = .other)
    /// The pipeline refused a change of state, and no element said why.
    case stateChangeFailed(pipeline: String)
    /// `start()` was called while the engine was running.
    case alreadyRunning
    /// The stream's source cannot seek.
    case notSeekable(reason: String)

    /// Whether the description is wrong or this machine lacks an element. Otherwise something went wrong at run time.
    package var isMistake: Bool {
      switch self {
      case .elementFailed, .stateChangeFailed, .alreadyRunning, .notSeekable: false
      default: true
      }
    }

    var text: Text {
      switch self {
      case .empty:
        Text(1000, "the pipeline description is empty", "give one such as \"videotestsrc ! appsink name=camera\"")
      case .invalid(let reason):
        Text(1001, "the pipeline cannot be parsed: \(reason)")
      case .missingElements(let names):
        Text(1002, "missing \(names.count == 1 ? "element" : "elements"): \(names.joined(separator: ", "))")
      case .linkFailed(let reason):
        Text(1003, "the pipeline cannot be linked: \(reason)")
      case .noStreams:
        Text(
          1004, "the pipeline has no appsink, so there is no stream to show",
          "end a branch with \"appsink name=STREAM\"")
      case .unnamedStream(let element):
        Text(
          1005,
          "the appsink that GStreamer calls \"\(element)\" has no name",
          "if there are several appsinks, the name is the stream ID, so write \"appsink name=STREAM\"")
      case .unlinkedStream(let id):
        Text(1006, "nothing is linked to the appsink of stream \"\(id)\"")
      case .notOneStream(let ids):
        Text(
          1007,
          "a stream with its own pipeline needs exactly one appsink, not \(ids.count): \(ids.joined(separator: ", "))"
        )
      case .elementFailed(let element, let message, let detail, _):
        Text(1008, "element \"\(element)\": \(message)\(detail.map { " (\($0))" } ?? "")")
      case .stateChangeFailed(let pipeline):
        Text(1009, "\"\(pipeline)\" refused to start and no element said why", "GST_DEBUG=3 shows more")
      case .alreadyRunning:
        Text(1010, "the engine is already running", "stop it first")
      case .notSeekable(let reason):
        Text(1011, "the stream cannot seek: \(reason)")
      }
    }
  }
}
