import PipSink
import PipSinkCommandLine

/// An action at a time after the start, as `SECONDS=ACTION` on the command line.
struct TimedAction {
  enum Action: Equatable {
    /// An action that a session performs itself.
    case session(SessionAction)
    case pictureInPicture(StreamID)
    case normal
    /// Uninitializes picture-in-picture, or initializes it again.
    case uninit, `init`
    /// Chooses the stream for picture-in-picture, whether its window is open or not; nil withdraws the choice.
    case source(StreamID?)
    /// Chooses the stream in the second place of the picture-in-picture window; nil for none.
    case second(StreamID?)
    /// Arranges the streams in the picture-in-picture window in another way.
    case layout(PictureInPictureLayout)
    /// Starts a stream of `--stream`, a file or a URI, which does not start at once then.
    case startStream(StreamID)
    case stopStream(StreamID)
    /// Sets the state of a stream's camera, as the remote side's signalling does.
    case camera(DeviceState, StreamID)
    case microphone(DeviceState, StreamID)
    /// Shows a caption over a stream's picture; an empty one shows none.
    case caption(StreamID, String)
    /// Shows the picture in a file instead of the initials of somebody whose camera is off; an empty path shows those.
    case image(StreamID, String)
    /// Sets how good the connection to a stream's participant is.
    case connection(ConnectionQuality, StreamID)
    /// Uses a control of the picture-in-picture window, if it is offered.
    case control(PictureInPictureAction)
    /// Makes the session behave as if the app had gone to the background or come back.
    case background, foreground
    case snapshot
    case volume(Double)
    /// Seeks, to a position in seconds, in the stream that is, or would be, in picture-in-picture.
    case seek(Double)
    /// Sets a stream's processors, which the text names; an empty text removes them.
    case process(StreamID, String)
    /// Sets the frame formats for custom rendering; nil switches it off.
    case customRender(FrameFormatSeries?)
    case help
    case quit

    /// The action of a key in the windows and on the terminal; nil when the key has none.
    init?(key: Character) {
      guard let entry = TimedAction.keys.first(where: { $0.key == key }) else { return nil }
      self = entry.action
    }
  }

  /// The keys in the windows and on the terminal: those of a session, and the program's own.
  static let keys: [(key: Character, action: Action, summary: String)] =
    SessionAction.keys.map { ($0.key, .session($0.action), $0.summary) } + [
      ("s", .snapshot, "write pictures into the folder of --snapshots"), ("?", .help, "show the keys"),
      ("q", .quit, "end the run"),
    ]

  static let help = keys.map { key, _, summary in
    (key == " " ? "space" : "\(key)").padded(to: 7) + summary
  }.joined(separator: "\n")

  let seconds: Double
  let action: Action

  /// - Throws: ``PipSinkError/System/invalidArgument(_:reason:)``, which says what is wrong with the text.
  init(_ text: String) throws(PipSinkError) {
    func refusal(_ reason: String) -> PipSinkError { .system(.invalidArgument(text, reason: reason)) }
    let parts = text.divided(at: "=")
    guard let parts, let seconds = Double(parts.before) else {
      let number = text.divided(at: ":").flatMap { Double($0.before) == nil ? nil : $0 }
      let example = number.map { "\($0.before)=\($0.behind)" } ?? "1=pip:film"
      throw refusal("the form is SECONDS=ACTION, so write it like \"\(example)\"")
    }
    guard OptionRange.time.range.contains(seconds) else {
      throw refusal("the seconds go from 0 to \(OptionRange.time.range.upperBound.text(places: 0))")
    }
    guard let action = Self.words[parts.behind] ?? Self.action(withArgument: parts.behind) else {
      throw refusal("there is no action \"\(parts.behind)\", or it takes another argument")
    }
    (self.seconds, self.action) = (seconds, action)
  }

  private static let words: [String: Action] = [
    "normal": .normal, "custom-render:off": .customRender(nil), "any": .source(nil), "single": .second(nil),
    "init": .`init`, "uninit": .uninit, "snapshot": .snapshot, "close": .control(.close),
    "background": .background, "foreground": .foreground,
    "pause": .session(.togglePause), "mute": .session(.toggleMute), "captions": .session(.toggleCaptions),
    "focus": .session(.focusPictureInPicture), "quit": .quit,
  ]

  /// Sorts actions by their times. Actions at the same time keep their order.
  static func inOrder(_ actions: [TimedAction]) -> [TimedAction] {
    actions.enumerated().sorted { ($0.element.seconds, $0.offset) < ($1.element.seconds, $1.offset) }.map(\.element)
  }

  /// Parses an action with an argument: `WORD:ID`, or `volume:NUMBER` and the like.
  private static func action(withArgument text: String) -> Action? {
    guard let (word, id) = text.divided(at: ":"), !id.isEmpty else { return nil }
    return switch word {
    case "pip": .pictureInPicture(StreamID(id))
    case "source": .source(StreamID(id))
    case "second": .second(StreamID(id))
    case "layout": PictureInPictureLayout(rawValue: id).map { .layout($0) }
    case "control": .control(PictureInPictureAction(name: id))
    case "start": .startStream(StreamID(id))
    case "stop": .stopStream(StreamID(id))
    case "camera-on": .camera(.on, StreamID(id))
    case "camera-off": .camera(.off, StreamID(id))
    case "microphone-on": .microphone(.on, StreamID(id))
    case "microphone-off": .microphone(.off, StreamID(id))
    case "caption": id.divided(at: ":").map { .caption(StreamID($0.before), $0.behind) }
    case "image": id.divided(at: "=").map { .image(StreamID($0.before), $0.behind) }
    case "connection":
      id.divided(at: "=").flatMap { id, quality in
        ConnectionQuality(rawValue: quality).map { .connection($0, StreamID(id)) }
      }
    case "seek": Double(id).flatMap { OptionRange.time.range.contains($0) ? .seek($0) : nil }
    case "process": id.divided(at: "=").map { .process(StreamID($0.before), $0.behind) }
    case "custom-render": FrameFormatSeries(argument: id).map { .customRender($0) }
    case "volume": Double(id).flatMap { (0...1).contains($0) ? .volume($0) : nil }
    default: nil
    }
  }
}
