extension PipSinkError {
  /// What is wrong with a pipeline, or goes wrong in it.
  public enum Pipeline: Equatable, Sendable {
    /// The description has no element in it.
    case empty
    /// The description is not in gst-launch's syntax, or sets a property that does not exist.
    case invalid(reason: String)
    /// Elements that no installed plugin has, by factory name; or, of a decoder that was missed while running, its
    /// description.
    case missingElements([String])
    /// Two elements cannot be linked.
    case linkFailed(reason: String)
    /// No appsink in the description, so there is no stream.
    case noStreams
    /// An appsink without a `name`; `element` is the name GStreamer made up for it.
    case unnamedStream(element: String)
    /// Nothing is linked to a stream's appsink.
    case unlinkedStream(StreamID)
    /// A stream's own description has to have one appsink; it has these.
    case notOneStream([StreamID])
    /// An element posted an error; `element` is its name, `message` GStreamer's text, `detail` its debug text.
    case elementFailed(element: String, message: String, detail: String?, kind: ElementFailureKind = .other)
    /// The pipeline refused a change of state and no element said why.
    case stateChangeFailed(pipeline: String)
    /// `start()` while the engine runs already.
    case alreadyRunning
    /// Its source cannot go on from another place.
    case notSeekable(reason: String)

    /// Whether the description is wrong, or this machine lacks an element; else something went wrong while it ran.
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
          "the appsink that GStreamer calls \"\(element)\" has no name; where there are several, the name is the stream ID, so write \"appsink name=STREAM\""
        )
      case .unlinkedStream(let id):
        Text(1006, "nothing is linked to the appsink of stream \"\(id)\"")
      case .notOneStream(let ids):
        Text(
          1007,
          "a stream of its own needs a pipeline with one appsink, not with \(ids.count): \(ids.joined(separator: ", "))"
        )
      case .elementFailed(let element, let message, let detail, _):
        Text(1008, "element \"\(element)\": \(message)\(detail.map { " (\($0))" } ?? "")")
      case .stateChangeFailed(let pipeline):
        Text(1009, "\"\(pipeline)\" refused to start and no element said why", "GST_DEBUG=3 shows more")
      case .alreadyRunning:
        Text(1010, "the engine runs already", "stop it first")
      case .notSeekable(let reason):
        Text(1011, "it cannot go on from another place: \(reason)")
      }
    }
  }
}
