import Foundation
import Testing

/// A PulseAudio server whose sink discards the sound.
final class PulseServer {
  /// A stream that a client plays, as the server describes it.
  struct SinkInput: Decodable {
    struct Channel: Decodable {
      /// The value 65536 is 100 %. The scale is cubic, so half the amplitude is 52016.
      let value: Int
    }

    let index: Int
    let corked: Bool
    let mute: Bool
    let volume: [String: Channel]
    let properties: [String: String]

    /// The linear amplitude of the loudest channel.
    var amplitude: Double { pow(Double(volume.values.map(\.value).max() ?? 0) / 65536, 3) }
    var role: String? { properties["media.role"] }
  }

  private let folder: TemporaryFolder
  private let program: RunningProgram
  /// The server's address, for the property `server` of pulsesink.
  let address: String

  static let isInstalled = ["pulseaudio", "pactl", "pacat", "setpriv"].allSatisfy {
    FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)")
  }

  /// - Parameter modules: further modules of the server, with their arguments.
  init(modules: String...) async throws {
    folder = try TemporaryFolder()
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.url.path)
    let socket = folder.path("native")
    address = "unix:\(socket)"
    let loaded =
      ["module-null-sink sink_name=null", "module-native-protocol-unix auth-anonymous=1 socket=\(socket)"] + modules
    // The server closes all file descriptors that it inherits. One of them would tell Foundation of the program's end,
    // so Foundation would wait for this program and for no other. For this reason a shell is started, whose end also
    // ends the server.
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

  /// The process ID of the server, which is the child of a shell.
  var processIdentifier: Int32 {
    get throws {
      let shell = program.processIdentifier
      let children = try String(contentsOfFile: "/proc/\(shell)/task/\(shell)/children", encoding: .utf8)
      return try #require(children.split(separator: " ").first.flatMap { Int32($0) })
    }
  }

  private static func environment(_ folder: TemporaryFolder) -> [String: String] {
    let path = folder.url.path
    return ["HOME": path, "XDG_RUNTIME_DIR": path, "PULSE_RUNTIME_PATH": path]
  }

  /// The environment of programs that play on this server.
  var environment: [String: String] { Self.environment(folder).merging(["PULSE_SERVER": address]) { $1 } }

  @discardableResult
  func pactl(_ arguments: String...) async throws -> String {
    try await RunningProgram("/usr/bin/pactl", arguments, environment: environment).result(seconds: 30).output
  }

  /// All streams that clients play, except the call's and those by which pulsesink finds out the server's formats, sorted
  /// by their numbers.
  func sinkInputs() async throws -> [SinkInput] {
    let json = try await pactl("-f", "json", "list", "sink-inputs")
    return try JSONDecoder().decode([SinkInput].self, from: Data(json.utf8))
      .filter {
        $0.properties["application.process.binary"] != "pacat" && $0.properties["media.name"] != "pulsesink probe"
      }
      .sorted { $0.index < $1.index }
  }

  /// Waits until exactly one stream is played and the condition holds for it.
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

  /// Starts another app that is in a call until it is stopped.
  func startCall() throws -> RunningProgram {
    try RunningProgram("/usr/bin/pacat", ["--property=media.role=phone", "/dev/zero"], environment: environment)
  }
}
