import Foundation
import Testing

/// A PulseAudio server with a sink that leads nowhere.
final class PulseServer {
  /// What a client plays, as the server sees it.
  struct SinkInput: Decodable {
    struct Channel: Decodable {
      /// 65536 is 100 %, which is cubic: half an amplitude is 52016.
      let value: Int
    }

    let index: Int
    let corked: Bool
    let mute: Bool
    let volume: [String: Channel]
    let properties: [String: String]

    /// The linear amplitude of its loudest channel.
    var amplitude: Double { pow(Double(volume.values.map(\.value).max() ?? 0) / 65536, 3) }
    var role: String? { properties["media.role"] }
  }

  private let folder: TemporaryFolder
  private let program: RunningProgram
  /// For pulsesink's property `server`.
  let address: String

  static let isInstalled = ["pulseaudio", "pactl", "pacat", "setpriv"].allSatisfy {
    FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)")
  }

  /// - Parameter modules: more of the server's modules, with their arguments.
  init(modules: String...) async throws {
    folder = try TemporaryFolder()
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.url.path)
    let socket = folder.path("native")
    address = "unix:\(socket)"
    let loaded =
      ["module-null-sink sink_name=null", "module-native-protocol-unix auth-anonymous=1 socket=\(socket)"] + modules
    // It closes all files that it inherits, among them the one by which Foundation notices a program's end, which would
    // then wait for it and for no other. So a shell is what is started, and takes the server with it.
    let command =
      "setpriv --pdeathsig KILL pulseaudio -n --daemonize=no --exit-idle-time=-1 --use-pid-file=no \"$@\" & wait"
    program = try RunningProgram(
      "/bin/sh", ["-c", command, "pulseaudio"] + loaded.flatMap { ["-L", $0] }, environment: Self.environment(folder))
    let isUp = try await eventually { try await self.pactl("info").contains("Default Sink") }
    let errors = program.errors
    try #require(isUp, "\(errors)")
  }

  deinit {
    stop()
  }

  func stop() { program.stop() }

  private static func environment(_ folder: TemporaryFolder) -> [String: String] {
    let path = folder.url.path
    return ["HOME": path, "XDG_RUNTIME_DIR": path, "PULSE_RUNTIME_PATH": path]
  }

  /// For programs that are to play on it.
  var environment: [String: String] { Self.environment(folder).merging(["PULSE_SERVER": address]) { $1 } }

  @discardableResult
  func pactl(_ arguments: String...) async throws -> String {
    try await RunningProgram("/usr/bin/pactl", arguments, environment: environment).result(seconds: 30).output
  }

  /// All that play now, but for the phone's, by their numbers.
  func sinkInputs() async throws -> [SinkInput] {
    let json = try await pactl("-f", "json", "list", "sink-inputs")
    return try JSONDecoder().decode([SinkInput].self, from: Data(json.utf8))
      .filter { $0.properties["application.process.binary"] != "pacat" }
      .sorted { $0.index < $1.index }
  }

  /// Waits for the one that plays to be as a test wants it.
  @discardableResult
  func sinkInput(where condition: (SinkInput) -> Bool) async throws -> SinkInput {
    var last: [SinkInput] = []
    let isThere = try await eventually {
      last = try await self.sinkInputs()
      return last.count == 1 && condition(last[0])
    }
    try #require(isThere, "\(last)")
    return last[0]
  }

  /// Another app in a call, until it is stopped.
  func startCall() throws -> RunningProgram {
    try RunningProgram("/usr/bin/pacat", ["--property=media.role=phone", "/dev/zero"], environment: environment)
  }
}
