import Glibc
import PipSinkCommandLine

/// A display server on which windows are shown.
final class PresentDisplay {
  /// The environment for programs that show windows on this server.
  let environment: [String: String]
  /// The server's process, whose processor time for a window is counted, too; nil when it is unknown, as on another
  /// machine.
  let process: Int32?
  /// A server that was started for this object, and ends with it.
  private let server: ChildProcess?

  private init(_ environment: [String: String], process: Int32?, server: ChildProcess? = nil) {
    self.environment = environment
    self.process = process
    self.server = server
  }

  /// The server's name, "Xvfb" for instance.
  var name: String? {
    process.flatMap { try? InputFile.text(of: "/proc/\($0)/comm") }?.split(separator: "\n").first.map(String.init)
  }

  /// No program may use the other display server.
  private static let x11Environment = ["GDK_BACKEND": "x11", "GST_GL_WINDOW": "x11", "WAYLAND_DISPLAY": ""]

  /// The X server that DISPLAY names, or else an Xvfb, which is started here.
  ///
  /// - Throws: ``CommandError`` when there is none.
  static func x11() throws -> PresentDisplay {
    if let name = variable("DISPLAY") {
      let number = name.drop { $0 != ":" }.dropFirst().prefix { $0.isNumber }
      return PresentDisplay(
        x11Environment, process: ProcessorTime.process(listeningAt: "/tmp/.X11-unix/X\(number)"))
    }
    guard access("/usr/bin/Xvfb", X_OK) == 0 else {
      throw CommandError(.unavailable, "there is no DISPLAY and no Xvfb, which is in the Debian package xvfb")
    }
    let server = try ChildProcess(
      "/usr/bin/Xvfb", ["-displayfd", "1", "-screen", "0", "1920x1200x24", "-nolisten", "tcp", "-noreset"],
      readsOutput: true)
    let line = String(decoding: server.availableOutput, as: UTF8.self)
    guard let number = Int(line.split(separator: "\n").first ?? "") else {
      throw CommandError(.unavailable, "Xvfb did not start: \(server.errors)")
    }
    return PresentDisplay(
      x11Environment.merging(["DISPLAY": ":\(number)"]) { $1 }, process: server.processIdentifier, server: server)
  }

  /// The compositor that WAYLAND_DISPLAY names.
  ///
  /// - Throws: ``CommandError`` when there is none.
  static func wayland() throws -> PresentDisplay {
    guard let name = variable("WAYLAND_DISPLAY") else {
      throw CommandError(.unavailable, "there is no WAYLAND_DISPLAY")
    }
    let path = name.hasPrefix("/") ? name : "\(variable("XDG_RUNTIME_DIR") ?? "")/\(name)"
    guard let process = ProcessorTime.process(listeningAt: path) else {
      throw CommandError(.unavailable, "no compositor listens at \(path)")
    }
    return PresentDisplay(["GDK_BACKEND": "wayland", "GST_GL_WINDOW": "wayland", "DISPLAY": ""], process: process)
  }

  /// The value of an environment variable; nil also when it is empty.
  private static func variable(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
  }
}
