import PipSink

/// Which Debian package has an element.
enum DebianPackages {
  /// What to install; nil when the error is not about something missing.
  static func advice(for error: PipSinkError) -> String? {
    guard case .pipeline(.missingElements(let names)) = error else { return nil }
    let aptLists = aptLists()
    return names.map { name in
      if let package = package(forElement: name, in: aptLists) ?? wellKnownPackage(forElement: name) {
        return "\"\(name)\" is in the Debian package \(package): apt-get install \(package)"
      }
      return name.contains(" ")
        ? "Decoders are in the Debian packages gstreamer1.0-libav, gstreamer1.0-plugins-bad and gstreamer1.0-plugins-ugly."
        : "No Debian package that this machine knows of has \"\(name)\"; is it spelt right? gst-inspect-1.0 lists what is there."
    }
    .joined(separator: "\n")
  }

  private static func wellKnownPackage(forElement element: String) -> String? {
    wellKnown.first { $0.elements.split(separator: " ").contains(Substring(element)) }?.package
  }

  /// Of all packages that apt knows the names, and the elements where they have some, in lines; empty on a system without
  /// apt. An error message waits no longer than five seconds for its advice: apt may wait for a lock, or for a slow disk.
  private static func aptLists() -> String {
    let command = "timeout --signal=KILL 5 apt-cache dumpavail | grep -E '^(Package|Gstreamer-Elements): '"
    let process = try? ChildProcess("/bin/sh", ["-c", command], readsOutput: true)
    return String(decoding: process?.finish().output ?? [], as: UTF8.self)
  }

  /// Debian's plugin packages list their elements in a field of their description. Empty lists (a fresh container) tell
  /// nothing.
  private static func package(forElement element: String, in lists: String) -> String? {
    var package: Substring = ""
    for line in lists.split(separator: "\n") {
      if line.hasPrefix("Package: ") {
        package = line.dropFirst("Package: ".count)
      } else if line.split(whereSeparator: { $0 == " " || $0 == "," }).contains(Substring(element)) {
        return String(package)
      }
    }
    return nil
  }

  /// For machines without package lists: what the pipelines of this project use.
  private static let wellKnown: [(package: String, elements: String)] = [
    (
      "gstreamer1.0-plugins-base",
      "appsink appsrc audioconvert audioresample audiotestsrc decodebin decodebin3 playbin theoradec uridecodebin "
        + "videoconvert videoconvertscale videorate videoscale videotestsrc volume ximagesink xvimagesink"
    ),
    (
      "gstreamer1.0-plugins-good",
      "autovideosink avidemux flvdemux gtksink imagefreeze jpegdec jpegenc level matroskademux matroskamux pngdec "
        + "pngenc pulsesink qtdemux rtpbin rtph264depay rtph264pay rtpjitterbuffer rtspsrc udpsink udpsrc v4l2src "
        + "videocrop videoflip vp8dec vp8enc vp9dec vp9enc ximagesrc"
    ),
    (
      "gstreamer1.0-plugins-bad",
      "dtlsdec h264parse h265parse hlsdemux netsim openh264dec openh264enc srtpdec tsdemux vah264dec waylandsink "
        + "webrtcbin"
    ),
    ("gstreamer1.0-plugins-ugly", "asfdemux mpeg2dec x264enc"),
    ("gstreamer1.0-libav", "avdec_aac avdec_h264 avdec_h265 avdec_mpeg4 avenc_mpeg4"),
    ("gstreamer1.0-nice", "nicesink nicesrc"),
    ("gstreamer1.0-pipewire", "pipewiresrc pipewiresink"),
    ("gstreamer1.0-gl", "glimagesink glupload"),
  ]
}
