import Foundation
import Testing

/// A session bus for one test, and the tools with which a user looks at its services.
final class SessionBus {
  private let daemon: RunningProgram
  let environment: [String: String]

  static var isInstalled: Bool {
    ["dbus-daemon", "gdbus", "playerctl", "python3"].allSatisfy {
      FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)")
    }
  }

  /// - Parameter other: what else is in the environment of the bus, of the services that it starts, and of its users.
  init(environment other: [String: String] = [:]) async throws {
    daemon = try RunningProgram(
      "/usr/bin/dbus-daemon", ["--session", "--nofork", "--print-address"], environment: other)
    let address = try #require(await daemon.firstLine(), "the bus did not start")
    environment = other.merging(["DBUS_SESSION_BUS_ADDRESS": address]) { $1 }
  }

  deinit {
    stop()
  }

  func stop() {
    daemon.stop()
  }

  /// The process ID of the bus.
  var processIdentifier: Int32 { daemon.processIdentifier }

  /// Starts a run that other processes can control.
  ///
  /// - Parameter display: the server on which the run shows windows; nil for offscreen pictures.
  func startSession(_ arguments: [String] = [], on display: XServer? = nil) async throws -> RunningProgram {
    let demo = try Demo.start(
      ["play", "--dbus", "--surface", display == nil ? "offscreen" : "window", "--report", "-"] + arguments,
      environment: environment.merging(display?.environment ?? [:]) { $1 })
    let isThere = await demo.wait(forText: "On the session bus")
    let errors = demo.errors
    try #require(isThere, "\(errors)")
    return demo
  }

  func run(_ tool: String, _ arguments: [String], seconds: Double = 60) async throws -> ProgramResult {
    try await RunningProgram("/usr/bin/\(tool)", arguments, environment: environment).result(seconds: seconds)
  }

  /// Runs playerctl and returns its output.
  @discardableResult
  func playerctl(_ arguments: String...) async throws -> String {
    try await run("playerctl", arguments).output.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Calls a method of org.pipsink.Session1, or of another interface if the name has dots.
  func call(
    _ method: String, arguments: [String], path: String = "/org/pipsink/Session1",
    to name: String = "org.pipsink.Session1"
  ) async throws -> ProgramResult {
    let method = method.contains(".") ? method : "org.pipsink.Session1.\(method)"
    return try await run("gdbus", ["call", "--session", "-d", name, "-o", path, "-m", method, "--"] + arguments)
  }

  func call(_ method: String, _ arguments: String...) async throws -> ProgramResult {
    try await call(method, arguments: arguments)
  }

  /// The value of a property, in GVariant's text format.
  func property(_ name: String, of interface: String = "org.pipsink.Session1") async throws -> String {
    let path = interface == "org.pipsink.Session1" ? "/org/pipsink/Session1" : "/org/mpris/MediaPlayer2"
    let output = try await call(
      "org.freedesktop.DBus.Properties.Get", arguments: [interface, name], path: path
    ).output
    return String(output.trimmingCharacters(in: .whitespacesAndNewlines).dropFirst(2).dropLast(3))
  }

  /// The number of frames that a stream has delivered.
  func receivedCount(of id: String) async throws -> Int { try await count("Received", of: id) }

  /// A number of a stream's statistics.
  func count(_ name: String, of id: String) async throws -> Int {
    let statistics = try await call("Statistics").output
    // The text after the stream's own entry belongs to other streams.
    guard let start = statistics.range(of: "'\(id)': {")?.upperBound else { return 0 }
    let ofStream = statistics[start...].prefix { $0 != "}" }
    guard let count = ofStream.range(of: "'\(name)': <uint64 ")?.upperBound else { return 0 }
    return Int(ofStream[count...].prefix { $0.isNumber }) ?? 0
  }

  /// Ends a run with the method `Quit`.
  func quit(_ demo: RunningProgram, named name: String = "org.pipsink.Session1") async throws -> ProgramResult {
    _ = try await call("org.mpris.MediaPlayer2.Quit", arguments: [], path: "/org/mpris/MediaPlayer2", to: name)
    return try await demo.result(seconds: 60)
  }
}
