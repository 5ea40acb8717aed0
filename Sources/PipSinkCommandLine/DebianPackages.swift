import PipSink

/// Finds the Debian packages that contain elements.
package enum DebianPackages {
  /// What to install; nil when the error is not about missing elements.
  static func advice(for error: PipSinkError) -> String? {
    guard case .pipeline(.missingElements(let names)) = error else { return nil }
    let packages = packages(of: names)
    return names.map { name in
      if let package = packages[name] {
        return "\"\(name)\" is in the Debian package \(package): apt-get install \(package)"
      }
      return name.contains(" ")
        ? "Decoders are in the Debian packages gstreamer1.0-libav, gstreamer1.0-plugins-bad and "
          + "gstreamer1.0-plugins-ugly."
        : "No Debian package that this machine knows contains \"\(name)\"; is it spelt right? gst-inspect-1.0 lists "
          + "the installed elements."
    }
    .joined(separator: "\n")
  }

  /// The packages of elements, as far as they are known, by the names of the elements.
  package static func packages(of elements: [String]) -> [String: String] {
    guard !elements.isEmpty else { return [:] }
    let aptLists = aptLists()
    return elements.reduce(into: [:]) { packages, name in
      packages[name] = package(forElement: name, in: aptLists) ?? wellKnownPackage(forElement: name)
    }
  }

  private static func wellKnownPackage(forElement element: String) -> String? {
    wellKnown.first { $0.elements.split(separator: " ").contains(Substring(element)) }?.package
  }

  /// Lines with the names of all packages that apt knows, and with the elements in them; empty on a system without apt.
  /// The call takes at most five seconds, because an error message waits for it, and apt may wait for a lock or a slow
  /// disk.
  private static func aptLists() -> String {
    let command = "timeout --signal=KILL 5 apt-cache dumpavail | grep -E '^(Package|Gstreamer-Elements): '"
    let process = try? ChildProcess("/bin/sh", ["-c", command], readsOutput: true)
    return String(decoding: process?.finish().output ?? [], as: UTF8.self)
  }

  /// The package that contains an element; nil when it is unknown. Debian's plugin packages list their elements in a
  /// field of their description. In a fresh container the lists are empty.
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

  /// The packages of the elements that the demo's pipelines use, for machines without package lists.
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
