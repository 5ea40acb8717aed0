import ArgumentParser
import PipSink

/// The options of `play` about sound.
struct AudioOptions: ParsableArguments {
  enum Policy: String, ExpressibleByArgument, CaseIterable {
    /// The first remote stream that has a picture.
    case first
    /// The stream that started last.
    case recent
    /// The stream whose participant speaks.
    case speaker

    var policy: PictureInPictureStreamSelector.Policy {
      switch self {
      case .first: .first
      case .recent: .mostRecent
      case .speaker: .activeSpeaker
      }
    }
  }

  @Option(help: ArgumentHelp("The volume of all streams, from 0 to 1.", valueName: "0..1"))
  var volume = 1.0

  @Flag(help: "Start without sound.")
  var mute = false

  @Option(help: "What the desktop takes the sound for.")
  var audioCategory = AudioCategory.playback

  @Option(
    name: .customLong("when-interrupted"),
    help: ArgumentHelp(
      """
      What to do when the sound server silences the streams for another app: pause them, or, with duck:LEVEL, let the \
      pictures continue.
      """,
      valueName: "pause|duck:0..1"))
  var interruptionPolicy = AudioInterruption.pause

  @Option(help: "How the stream for picture-in-picture is chosen: the first, the latest, or the one that speaks.")
  var pipPolicy: Policy = .first

  func validate() throws {
    guard (0...1).contains(volume) else { throw ValidationError("--volume takes a number from 0 to 1.") }
  }
}

extension AudioCategory: ExpressibleByArgument {}

extension AudioInterruption: ExpressibleByArgument {
  public init?(argument: String) {
    if argument == "pause" {
      self = .pause
      return
    }
    guard let (word, number) = argument.divided(at: ":"), word == "duck", let level = Double(number),
      (0...1).contains(level)
    else { return nil }
    self = .duck(level)
  }

  public var defaultValueDescription: String { self == .pause ? "pause" : "duck" }
}
