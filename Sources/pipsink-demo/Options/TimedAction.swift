import ArgumentParser
import PipSink

/// `SECONDS=ACTION`: something to do at a time after the start.
struct TimedAction: ExpressibleByArgument {
  enum Action: Equatable {
    /// What keys do in every app.
    case session(SessionAction)
    case pictureInPicture(StreamID)
    case normal
    /// Gives picture-in-picture up, or sets it up again.
    case uninit, `init`
    /// Another stream for picture-in-picture, open or not.
    case source(StreamID)
    /// A stream in the other half of picture-in-picture's window; nil for none.
    case second(StreamID?)
    /// A stream of `--stream`.
    case startStream(StreamID)
    case stopStream(StreamID)
    /// As the other side's signalling would say it.
    case camera(DeviceState, StreamID)
    case microphone(DeviceState, StreamID)
    /// As the window's close button does it.
    case close
    /// As if the app had gone to the background, or come back.
    case background, foreground
    case snapshot
    case volume(Double)
    /// Seconds from the start of the stream that is, or would be, in picture-in-picture.
    case seek(Double)
    /// A stream's processors, as text names them; none where it is empty.
    case process(StreamID, String)
    /// What custom rendering is given; nil switches it off.
    case customRender(FrameFormatSeries?)
    case help
    case quit

    /// What a key does, in the windows and on the terminal.
    init?(key: Character) {
      switch key {
      case "s": self = .snapshot
      case "q": self = .quit
      case "?": self = .help
      default:
        guard let action = SessionAction(key: key) else { return nil }
        self = .session(action)
      }
    }
  }

  static let help = """
    p      picture-in-picture on and off
    n      the next stream in picture-in-picture
    s      write pictures (needs --snapshots)
    space  pause and go on
    m      sound off and on
    f      fullscreen
    ?      this help
    q      quit
    """

  let seconds: Double
  let action: Action

  init?(argument: String) {
    guard let parts = argument.divided(at: "="), let seconds = Double(parts.before),
      OptionRange.time.range.contains(seconds)
    else { return nil }
    self.seconds = seconds
    guard let action = Self.words[parts.behind] ?? Self.action(withArgument: parts.behind) else { return nil }
    self.action = action
  }

  private static let words: [String: Action] = [
    "normal": .normal, "custom-render:off": .customRender(nil), "single": .second(nil),
    "init": .`init`, "uninit": .uninit, "snapshot": .snapshot, "close": .close,
    "background": .background, "foreground": .foreground,
    "pause": .session(.togglePause), "mute": .session(.toggleMute), "quit": .quit,
  ]

  /// By their times; of those that have the same, as they are given.
  static func inOrder(_ actions: [TimedAction]) -> [TimedAction] {
    actions.enumerated().sorted { ($0.element.seconds, $0.offset) < ($1.element.seconds, $1.offset) }.map(\.element)
  }

  /// `WORD:ID`, or `volume:NUMBER`.
  private static func action(withArgument text: String) -> Action? {
    guard let (word, id) = text.divided(at: ":"), !id.isEmpty else { return nil }
    return switch word {
    case "pip": .pictureInPicture(StreamID(id))
    case "source": .source(StreamID(id))
    case "second": .second(StreamID(id))
    case "start": .startStream(StreamID(id))
    case "stop": .stopStream(StreamID(id))
    case "camera-on": .camera(.on, StreamID(id))
    case "camera-off": .camera(.off, StreamID(id))
    case "microphone-on": .microphone(.on, StreamID(id))
    case "microphone-off": .microphone(.off, StreamID(id))
    case "seek": Double(id).flatMap { OptionRange.time.range.contains($0) ? .seek($0) : nil }
    case "process": id.divided(at: "=").map { .process(StreamID($0.before), $0.behind) }
    case "custom-render": FrameFormatSeries(argument: id).map { .customRender($0) }
    case "volume": Double(id).flatMap { (0...1).contains($0) ? .volume($0) : nil }
    default: nil
    }
  }
}
