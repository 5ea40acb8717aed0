extension PipSinkError {
  /// What is wrong with a stream.
  public enum Stream: Equatable, Sendable {
    /// No stream has this ID.
    case unknown(StreamID, known: [StreamID])
    /// Two streams, or elements, of one name.
    case duplicate(StreamID)
    /// What upstream offers a stream has nothing in common with the video formats that PipSink takes.
    case unsupportedCaps(streamID: StreamID, caps: String)
    /// It has delivered no frame for so many seconds.
    case stalled(StreamID, after: Duration)
    /// One that has no end ended: its server closed the connection, for instance.
    case endedUnexpectedly(StreamID)
    /// Nothing in its pipeline has a volume, or can be muted.
    case noAudioVolume(StreamID)

    var text: Text {
      switch self {
      case .unknown(let id, let known):
        Text(
          1100, "there is no stream \"\(id)\"",
          known.isEmpty ? "there is none at all" : "the streams are: \(known.joined(separator: ", "))")
      case .duplicate(let id):
        Text(1101, "the name \"\(id)\" is used twice", "every stream needs a name of its own")
      case .unsupportedCaps(let id, let caps):
        Text(
          1102, "stream \"\(id)\" is offered \(caps), which is no video format that PipSink takes",
          "put \"videoconvert\" before its appsink, or link a video branch to it")
      case .stalled(let id, let time):
        Text(1103, "stream \"\(id)\" has delivered no frame for \(time / .seconds(1)) s", "is its source still there?")
      case .endedUnexpectedly(let id):
        Text(1104, "stream \"\(id)\" ended before its time", "is its server still there?")
      case .noAudioVolume(let id):
        Text(
          1105, "stream \"\(id)\" has no sound whose volume could be set",
          "end its audio branch with \"volume ! autoaudiosink\", and where several streams are in one pipeline, give the "
            + "volume a name that begins with \"\(id)\"")
      }
    }
  }
}
