extension PipSinkError {
  /// An error of a single stream.
  public enum Stream: Equatable, Sendable {
    /// No stream has this ID. `known` lists the IDs that exist.
    case unknown(StreamID, known: [StreamID])
    /// Two streams, or elements, have the same name.
    case duplicate(StreamID)
    /// The formats that upstream offers to a stream have nothing in common with those that PipSink accepts.
    case unsupportedCaps(streamID: StreamID, caps: String)
    /// The stream has delivered no frame for this long.
    case stalled(StreamID, after: Duration)
    /// A live stream has ended, for instance because its server closed the connection.
    case endedUnexpectedly(StreamID)
    /// Nothing in the stream's pipeline has a volume or can be muted.
    case noAudioVolume(StreamID)
    /// What shows the stream has refused its frames three times in a row, or is gone. It is tried again.
    case notShown(StreamID, reason: String)
    /// The stream's source has sound alone. The sound plays.
    case hasNoVideo(StreamID)

    var text: Text {
      switch self {
      case .unknown(let id, let known):
        Text(
          1100, "there is no stream \"\(id)\"",
          known.isEmpty ? "there are no streams at all" : "the streams are: \(known.joined(separator: ", "))")
      case .duplicate(let id):
        Text(1101, "the name \"\(id)\" is used twice", "give every stream a different name")
      case .unsupportedCaps(let id, let caps):
        Text(
          1102, "stream \"\(id)\" is offered \(caps), which is not a video format that PipSink accepts",
          "put \"videoconvert\" before its appsink, or link a video branch to it")
      case .stalled(let id, let time):
        Text(1103, "stream \"\(id)\" has delivered no frame for \(time / .seconds(1)) s", "check its source")
      case .endedUnexpectedly(let id):
        Text(1104, "stream \"\(id)\" ended unexpectedly", "check its server")
      case .noAudioVolume(let id):
        Text(
          1105, "stream \"\(id)\" has no sound whose volume could be set",
          "end its audio branch with \"volume ! autoaudiosink\", and where several streams are in one pipeline, "
            + "give the volume a name that begins with \"\(id)\"")
      case .notShown(let id, let reason): Text(1106, "stream \"\(id)\" cannot be shown: \(reason)")
      case .hasNoVideo(let id):
        Text(1107, "stream \"\(id)\" has sound, but no picture", "give it a source with video")
      }
    }
  }
}
