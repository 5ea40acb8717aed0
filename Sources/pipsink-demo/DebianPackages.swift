import Foundation
import PipSink

/// Which Debian package has an element.
enum DebianPackages {
  private static let patience = DispatchTimeInterval.seconds(5)

  /// What to install; nil when the error is not about something missing.
  static func advice(for error: PipSinkError) -> String? {
    guard case .missingElements(let names) = error else { return nil }
    let aptLists = aptLists()
    let lines = names.map { name in
      if let package = aptLists.flatMap({ package(forElement: name, in: $0) }) ?? wellKnownPackage(forElement: name) {
        return "\"\(name)\" is in the Debian package \(package): apt-get install \(package)"
      }
      return name.contains(" ")
        ? "Decoders are in the Debian packages gstreamer1.0-libav, gstreamer1.0-plugins-bad and gstreamer1.0-plugins-ugly."
        : "No Debian package that this machine knows of has \"\(name)\"; is it spelt right? gst-inspect-1.0 lists what is there."
    }
    return lines.joined(separator: "\n")
  }

  static func wellKnownPackage(forElement element: String) -> String? {
    wellKnown.first { $0.elements.contains(element) }?.package
  }

  /// The descriptions of all packages that apt knows; nil on a system without apt.
  private static func aptLists() -> Data? {
    output(of: "/usr/bin/apt-cache", ["dumpavail"])
  }

  /// Debian's plugin packages list their elements in a field of their description. Empty lists (a fresh container) tell
  /// nothing.
  static func package(forElement element: String, in lists: Data) -> String? {
    let newline = Data("\n".utf8)
    var position = lists.startIndex
    while let field = lists.range(of: Data("\nGstreamer-Elements: ".utf8), in: position..<lists.endIndex) {
      let end = lists.range(of: newline, in: field.upperBound..<lists.endIndex)?.lowerBound ?? lists.endIndex
      position = end
      let elements = String(decoding: lists[field.upperBound..<end], as: UTF8.self).split(separator: ",")
      guard elements.contains(where: { $0.drop(while: { $0 == " " }) == element }),
        let name = lists.range(
          of: Data("Package: ".utf8), options: .backwards, in: lists.startIndex..<field.lowerBound),
        let nameEnd = lists.range(of: newline, in: name.upperBound..<lists.endIndex)
      else { continue }
      return String(decoding: lists[name.upperBound..<nameEnd.lowerBound], as: UTF8.self)
    }
    return nil
  }

  private static func output(of program: String, _ arguments: [String]) -> Data? {
    guard let process = try? ChildProcess(program, arguments, readsOutput: true) else { return nil }
    // An error message waits no longer than this for its advice; apt may wait for a lock, or for a slow disk.
    let identifier = process.processIdentifier
    let watchdog = DispatchWorkItem { kill(identifier, SIGKILL) }
    DispatchQueue.global().asyncAfter(deadline: .now() + patience, execute: watchdog)
    defer { watchdog.cancel() }
    let (data, status) = process.finish()
    return status == 0 ? data : nil
  }

  /// For machines without package lists: what the pipelines of this project use.
  private static let wellKnown: [(package: String, elements: Set<String>)] = [
    (
      "gstreamer1.0-plugins-base",
      [
        "appsink", "appsrc", "audioconvert", "audioresample", "audiotestsrc", "decodebin", "decodebin3", "playbin",
        "theoradec", "uridecodebin", "videoconvert", "videoconvertscale", "videorate", "videoscale", "videotestsrc",
        "volume", "ximagesink", "xvimagesink",
      ]
    ),
    (
      "gstreamer1.0-plugins-good",
      [
        "autovideosink", "avidemux", "flvdemux", "gtksink", "imagefreeze", "jpegdec", "jpegenc", "level",
        "matroskademux",
        "matroskamux", "pngdec", "pngenc", "pulsesink", "qtdemux", "rtpbin", "rtph264depay", "rtph264pay",
        "rtpjitterbuffer", "rtspsrc", "udpsink", "udpsrc", "v4l2src", "videocrop", "videoflip", "vp8dec", "vp8enc",
        "vp9dec", "vp9enc", "ximagesrc",
      ]
    ),
    (
      "gstreamer1.0-plugins-bad",
      [
        "dtlsdec", "h264parse", "h265parse", "hlsdemux", "netsim", "openh264dec", "openh264enc", "srtpdec", "tsdemux",
        "vah264dec", "waylandsink", "webrtcbin",
      ]
    ),
    ("gstreamer1.0-plugins-ugly", ["asfdemux", "mpeg2dec", "x264enc"]),
    ("gstreamer1.0-libav", ["avdec_aac", "avdec_h264", "avdec_h265", "avdec_mpeg4", "avenc_mpeg4"]),
    ("gstreamer1.0-nice", ["nicesink", "nicesrc"]),
    ("gstreamer1.0-pipewire", ["pipewiresrc", "pipewiresink"]),
    ("gstreamer1.0-gl", ["glimagesink", "glupload"]),
  ]
}
