import Foundation
import Testing

/// A server of WHEP and WHIP, which says what it is asked for.
final class WHEPServer {
  /// What makes the connections. The other kinds share nothing with GStreamer's implementation of WebRTC.
  enum Kind: String {
    case gstreamer = "whep-server.py"
    case aiortc = "whep-aiortc.py"
    case chromium = "whep-chromium.py"
    case janus = "janus.py"
  }

  private let program: RunningProgram
  private let port: Int
  private static let packages = Demo.root.appendingPathComponent(".build/aiortc").path

  /// What Chromium writes, and what Janus reads.
  private let folder: TemporaryFolder

  static var hasChromium: Bool { FileManager.default.fileExists(atPath: "/usr/lib/chromium/chromium-headless-shell") }
  static var hasJanus: Bool { FileManager.default.fileExists(atPath: "/usr/bin/janus") }
  static var hasAiortc: Bool { FileManager.default.fileExists(atPath: packages) }

  init(_ kind: Kind = .gstreamer) async throws {
    let script = Demo.root.appendingPathComponent("Tests/TestSupport/Servers/\(kind.rawValue)").path
    folder = try TemporaryFolder()
    let arguments =
      switch kind {
      case .chromium, .janus: [folder.path(kind.rawValue)]
      case .gstreamer, .aiortc: [String]()
      }
    program = try RunningProgram(
      "/usr/bin/python3", [script] + arguments, environment: kind == .aiortc ? ["PYTHONPATH": Self.packages] : [:])
    let line = try #require(await program.firstLine(), "\(program.errors)")
    port = try #require(Int(line))
  }

  /// An address of the server. The program says which paths there are.
  ///
  /// - Parameter user: a user name and password, such as "a:b@".
  func url(_ path: String, scheme: String = "http", user: String = "") -> String {
    "\(scheme)://\(user)127.0.0.1:\(port)/\(path)"
  }

  /// The requests so far, such as "POST /red 201".
  var log: [String] { program.output.split(separator: "\n").dropFirst().map(String.init) }

  func stop() { program.stop() }
}
