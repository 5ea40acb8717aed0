import ArgumentParser
import PipSink
import PipSinkCommandLine
import PipSinkWindows

/// Prints what this machine can do.
struct DoctorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Shows what this machine can do, and why picture-in-picture is or is not possible.",
    discussion: "The exit code is 0 when picture-in-picture windows can be shown here, and 69 otherwise.")

  @Flag(
    help: """
      Also say which driver draws with OpenGL ES, whether it draws right, how long it takes beside the processor, and \
      which frames a Wayland compositor reads. This is worth sending with a report about graphics. It takes some seconds.
      """)
  var gpuReport = false

  private enum Level: String {
    case good = "ok"
    case limited = "limited"
    case missing = "missing"
  }

  /// Elements that the demo's pipelines need, and what they are needed for.
  private static let elements = [
    ("appsink", "every stream"), ("videotestsrc", "test pictures"), ("decodebin", "files and network streams"),
    ("rtspsrc", "RTSP cameras"), ("rtpjitterbuffer", "RTP"), ("webrtcbin", "WebRTC"), ("v4l2src", "cameras"),
    ("avdec_h264", "H.264"), ("vp8dec", "VP8"), ("pngenc", "snapshots"),
  ]

  func run() async throws {
    do throws(PipSinkError) {
      try PipSink.initialize()
    } catch {
      try say(.missing, "GStreamer", "\(error)")
      throw ExitStatus.unavailable.exitCode
    }
    try say(.good, "GStreamer", PipSink.gstreamerVersion)
    let missing = Self.elements.map(\.0).filter { !ElementInspection.exists($0) }
    let packages = DebianPackages.packages(of: missing)
    for (name, purpose) in Self.elements {
      let remedy = packages[name].map { "; apt-get install \($0)" } ?? ""
      try say(missing.contains(name) ? .missing : .good, "element \(name)", purpose + remedy)
    }
    let decoders = ElementInspection.hardwareVideoDecoders
    try say(
      decoders.isEmpty ? .limited : .good, "hardware decoders",
      decoders.isEmpty ? "none; streams are decoded by the processor" : decoders.joined(separator: ", "))
    let hasDisplay = try await display()
    if gpuReport {
      for line in await GraphicsReport.make() { try say(line.isGood ? .good : .limited, line.name, line.text) }
    }
    guard hasDisplay else { throw ExitStatus.unavailable.exitCode }
  }

  /// - Returns: whether picture-in-picture windows can be shown.
  @MainActor
  private func display() throws -> Bool {
    let possible = PictureInPictureWindow.support
    let support = DisplaySupport.current
    guard let system = support.system else {
      if case .unsupported(let reason) = possible { try say(.missing, "display", reason) }
      try say(.missing, "picture-in-picture", "not possible: there is no display")
      return false
    }
    try say(.good, "display", system == .x11 ? "X11" : "Wayland")
    if case .unsupported(let reason) = possible {
      try say(.missing, "picture-in-picture", "not possible: \(reason)")
      return false
    }
    try say(support.staysAbove ? .good : .limited, "always on top", support.staysAboveReason)
    try say(support.detectsBackground ? .good : .limited, "background", support.backgroundReason)
    if let reason = support.rendererReason { try say(.good, "renderer", reason) }
    if case .limited(let reason) = possible {
      try say(.limited, "picture-in-picture", "possible, but \(reason)")
    } else {
      try say(.good, "picture-in-picture", "possible")
    }
    return true
  }

  private func say(_ level: Level, _ name: String, _ text: String) throws {
    try StandardStream.output.print(
      "\(level.rawValue.padded(to: 8)) \(name): \(text)")
  }
}
