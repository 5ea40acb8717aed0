import ArgumentParser
import PipSink
import PipSinkCommandLine

/// A call by servers of WHEP and WHIP: what `play` does with the local picture and a stream for each participant.
struct CallCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "call",
    abstract: "Shows the participants of a call, and sends the local picture.",
    discussion: """
      Each --play is a participant whose picture and sound a server sends by WHEP. --publish sends the local picture to a \
      server by WHIP:

        pipsink-demo call --play wheps://example.org/anna --play wheps://example.org/ben \\
          --publish whips://example.org/me --microphone autoaudiosrc --mode pip

      The local picture is that of a pipeline with an appsink, which is given as for play. Without one it is that of a \
      camera, or a test picture where there is none, and its ID is "me". The IDs of the others are the last parts of \
      their addresses. All other options are those of play.
      """
  )

  @Option(
    name: .customLong("play"),
    help: ArgumentHelp(
      "Show what a server sends by WHEP: whep://HOST/PATH, or wheps:// where it is encrypted. Repeatable.",
      valueName: "url"))
  var participants: [String] = []

  @OptionGroup var options: PlayCommand

  private static let camera = "v4l2src ! videoconvert ! appsink name=me"

  func validate() throws {
    for url in participants where !StreamOption.isWHEP(url) {
      throw ValidationError(
        "--play takes the address of a server of WHEP, such as wheps://HOST/PATH, and not \"\(url)\".")
    }
  }

  func run() async throws {
    var play = options
    if play.pipelineFile == nil, play.pipeline.isEmpty { play.pipeline = [Self.camera] }
    play.streams = (StreamOption.media(participants) ?? []) + play.streams
    try await play.run(isCall: true)
  }
}
