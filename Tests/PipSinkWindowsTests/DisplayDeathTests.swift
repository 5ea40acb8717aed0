import Foundation
import Testing

@testable import PipSink
@testable import TestSupport

/// Tests from outside what programs do whose display server dies at some moment.
///
/// A seeded generator draws the moments, so that they are the same in each run. The environment variable
/// `PIPSINK_TRIES` sets how many moments there are of each kind.
struct DisplayDeathTests {
  private static let tries = Int(ProcessInfo.processInfo.environment["PIPSINK_TRIES"] ?? "")

  /// The phase of a program's run in which its server dies.
  enum Phase: String, CaseIterable {
    case connecting, opening, playing, pictureInPicture, ending

    /// The milliseconds after the program's start at which the server is killed. Which state the program has reached by
    /// then depends on the machine's speed.
    var moments: ClosedRange<Int> {
      switch self {
      case .connecting: 0...300
      case .opening: 250...850
      case .playing: 1000...1600
      case .pictureInPicture: 800...1300
      case .ending: 1100...1600
      }
    }

    /// The options of `pipsink-demo play` for this phase.
    var options: [String] {
      switch self {
      case .connecting: ["--mode", "pip"]
      case .opening, .playing: []
      case .pictureInPicture: ["--at", "0.6=pip:a"]
      case .ending: ["--mode", "pip", "--duration", "1.2"]
      }
    }
  }

  /// The SplitMix64 generator, which draws the same numbers on every machine.
  private struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9e37_79b9_7f4a_7c15
      var bits = state
      bits = (bits ^ (bits >> 30)) &* 0xbf58_476d_1ce4_e5b9
      bits = (bits ^ (bits >> 27)) &* 0x94d0_49bb_1331_11eb
      return bits ^ (bits >> 31)
    }
  }

  private static let video = "videotestsrc is-live=true ! video/x-raw,width=320,height=180,framerate=30/1 ! "
  /// The seconds after which a program that has not ended counts as hanging.
  private static let patience = 30.0

  /// A display server, as the functions that the tests use on it.
  private struct Server {
    let environment: [String: String]
    let stop: () -> Void
    /// Removes what the server has left, when the program has ended.
    let forget: () -> Void

    init(_ server: XServer) {
      environment = server.environment
      stop = server.stop
      forget = server.forgetName
    }

    init(_ server: WaylandServer) {
      environment = server.environment
      stop = server.stop
      forget = {}
    }
  }

  /// Starts servers and programs, and kills the servers.
  ///
  /// - Parameter check: the expectations of how the program ends.
  private func killServers(
    _ number: Int, seed: UInt64, makeServer: () async throws -> Server,
    start: (Phase, [String: String]) async throws -> RunningProgram,
    check: (ProgramResult, _ wasRunning: Bool, _ moment: String) -> Void
  ) async throws {
    var generator = Generator(state: seed)
    for number in 0..<number {
      let phase = Phase.allCases[number % Phase.allCases.count]
      let milliseconds = Int.random(in: phase.moments, using: &generator)
      let moment = "\(phase), \(milliseconds) ms after the start, try \(number)"
      let server = try await makeServer()
      let program = try await start(phase, server.environment)
      // The sleep chooses the moment. It does not wait for an event.
      try await Task.sleep(for: .milliseconds(milliseconds))
      let wasRunning = program.isRunning
      server.stop()
      let deadline = ContinuousClock.now + .seconds(Self.patience)
      while program.isRunning, ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(10)) }
      let hasEnded = !program.isRunning
      server.forget()
      #expect(hasEnded, "hangs: \(moment): \(program.errors)")
      guard hasEnded else {
        program.stop()
        continue
      }
      check(try await program.result(), wasRunning, moment)
    }
  }

  /// The program reports that there is no display, or that the display has gone, and ends with 69. If it was already
  /// ending, it may also end with 0.
  private func expectUnavailable(_ result: ProgramResult, _ wasRunning: Bool, _ moment: String) {
    #expect(!result.wasKilled, "\(moment): signal \(result.status): \(result.errors)")
    if !wasRunning || (moment.hasPrefix("ending") && result.status == 0) {
      #expect(result.status == 0, "\(moment): \(result.errors)")
    } else {
      #expect(result.status == 69, "\(moment): \(result.status): \(result.errors)")
      #expect(
        result.errors.contains("the display server has gone") || result.errors.contains("no window can be shown"),
        "\(moment): \(result.errors)")
    }
  }

  private func play(_ phase: Phase, _ environment: [String: String]) throws -> RunningProgram {
    try Demo.start(
      ["play", Self.video + "appsink name=a", "--surface", "window"] + phase.options, environment: environment)
  }

  @Test(.enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"))
  func theDemoSaysThatItsXServerHasGoneAtWhateverMoment() async throws {
    try await killServers(
      Self.tries ?? 10, seed: 7, makeServer: { Server(try await XServer(named: XServer.ownName)) }, start: play,
      check: expectUnavailable)
  }

  @Test(.enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"))
  func doctorSaysItToo() async throws {
    var generator = Generator(state: 5)
    for number in 0..<(Self.tries ?? 4) {
      let milliseconds = Int.random(in: 0...150, using: &generator)
      let server = try await XServer(managesWindows: false, named: XServer.ownName)
      let program = try Demo.start(["doctor"], environment: server.environment)
      try await Task.sleep(for: .milliseconds(milliseconds))
      server.stop()
      let result = try await program.result(seconds: Self.patience)
      server.forgetName()
      #expect(!result.wasKilled && [0, 69].contains(result.status), "\(milliseconds) ms, \(number): \(result.errors)")
      let answer = result.status == 0 ? "possible" : "not possible"
      #expect(result.output.contains("picture-in-picture: \(answer)"), "\(milliseconds) ms, \(number)")
    }
  }

  /// Xvfb aborts when a program requests an extension that the server was started without.
  @Test(.enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"))
  func noExtensionIsRequestedThatTheServerLacks() async throws {
    let without = ["RANDR", "XFIXES", "SHAPE", "XINERAMA"].flatMap { ["-extension", $0] }
    for _ in 0..<(Self.tries ?? 3) {
      let server = try RunningProgram(
        "/usr/bin/Xvfb", ["-displayfd", "1", "-screen", "0", "640x480x24", "-nolisten", "tcp"] + without)
      let display = ":" + (try #require(await server.firstLine(), "the X server did not start"))
      let result = try await Demo.start(
        ["play", Self.video + "appsink name=a", "--surface", "window", "--duration", "1"],
        environment: ["DISPLAY": display]
      ).result(seconds: Self.patience)
      #expect(!result.wasKilled && result.status == 0, "\(result.status): \(result.errors)")
      server.stop()
    }
  }

  @Test(
    .enabled(if: WaylandServer.isInstalled(.weston), "weston and root are needed"),
    arguments: [WaylandServer.Compositor.sway, .weston])
  func theDemoSaysThatItsCompositorHasGone(compositor: WaylandServer.Compositor) async throws {
    guard WaylandServer.isInstalled(compositor) else { return }
    try await killServers(
      Self.tries ?? 5, seed: 11, makeServer: { Server(try await WaylandServer(compositor)) }, start: play,
      check: expectUnavailable)
  }

  @Test(
    .enabled(if: Plugin.isUsable, "a plugin with a sanitizer cannot be loaded"),
    .enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"))
  func theElementPostsAnErrorWhenItsXServerGoes() async throws {
    try await killServersOfTheElement(seed: 13) { Server(try await XServer(named: XServer.ownName)) }
  }

  @Test(
    .enabled(if: Plugin.isUsable, "a plugin with a sanitizer cannot be loaded"),
    .enabled(if: WaylandServer.isInstalled(.sway), "sway, grim and root are needed"))
  func theElementPostsAnErrorWhenItsCompositorGoes() async throws {
    try await killServersOfTheElement(seed: 17) { Server(try await WaylandServer(.sway)) }
  }

  /// Plays a pipeline until the first error on its bus. gst-launch-1.0 would be no good here: it ends its main loop on the
  /// thread that posts the error, which is in vain before the loop runs, so that it then plays on.
  private static let host = """
    #include <gst/gst.h>
    int main(int argc, char **argv) {
      GError *error = NULL;
      gchar *details = NULL;
      gst_init(&argc, &argv);
      GstElement *pipeline = gst_parse_launch(argv[1], &error);
      if (error != NULL) return 2;
      GstBus *bus = gst_element_get_bus(pipeline);
      gst_element_set_state(pipeline, GST_STATE_PLAYING);
      GstMessage *message = gst_bus_timed_pop_filtered(bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ERROR);
      gst_message_parse_error(message, &error, &details);
      g_printerr("%s (%s)\\n", error->message, details);
      gst_message_unref(message);
      gst_element_set_state(pipeline, GST_STATE_NULL);
      gst_object_unref(bus);
      gst_object_unref(pipeline);
      return 1;
    }
    """

  /// The pipeline fails with an error on its bus, and can be stopped then.
  private func killServersOfTheElement(seed: UInt64, makeServer: () async throws -> Server) async throws {
    let folder = try TemporaryFolder()
    let plugin = try Plugin.environment(folder)
    try Self.host.write(toFile: folder.path("host.c"), atomically: true, encoding: .utf8)
    let compiler = try await RunningProgram(
      "/bin/sh", ["-c", "cd \(folder.url.path) && cc -o host host.c $(pkg-config --cflags --libs gstreamer-1.0)"]
    ).result()
    try #require(compiler.status == 0, "\(compiler.errors)")
    try await killServers(
      Self.tries ?? 5, seed: seed, makeServer: makeServer,
      start: { phase, environment in
        let mode = phase == .opening || phase == .playing ? "normal" : "pip"
        return try RunningProgram(
          folder.path("host"), [Self.video + "pipsink stream-id=a mode=\(mode)"],
          environment: environment.merging(plugin) { $1 })
      },
      check: { result, _, moment in
        #expect(!result.wasKilled && result.status == 1, "\(moment): \(result.status): \(result.errors)")
        #expect(
          result.errors.contains("The display server has gone.") || result.errors.contains("no window can be shown"),
          "\(moment): \(result.status): \(result.errors)")
      })
  }
}
