import Testing

/// A server of WHEP, which says what it is asked for.
final class WHEPServer {
  private let program: RunningProgram
  private let port: Int

  init() async throws {
    let script = Demo.root.appendingPathComponent("Tests/TestSupport/Servers/whep-server.py").path
    program = try RunningProgram("/usr/bin/python3", [script])
    let line = try #require(await program.firstLine(), "\(program.errors)")
    port = try #require(Int(line))
  }

  /// An address of the server. The server's program says which paths there are.
  func url(_ path: String, scheme: String = "http") -> String { "\(scheme)://127.0.0.1:\(port)/\(path)" }

  /// The requests so far, such as "POST /red 201".
  var log: [String] { program.output.split(separator: "\n").dropFirst().map(String.init) }

  func stop() { program.stop() }
}
