import ArgumentParser
import CGStreamer
import PipSink

/// The frames that go through the pipelines of `route`, `statistics` and `memory`.
struct FramePathOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The frames' size, in pixels.", valueName: "WxH"))
  var size = PictureSize(width: 1920, height: 1080)

  @Option(help: "The frames' pixel format, as in caps.")
  var format = PixelFormat.i420

  /// Streams of one pipeline that end in `sink`. The frames are not filled: what is measured is the way of a frame, not
  /// its making. Sources and sinks are numbered: source0, s0, source1, s1.
  ///
  /// - Parameter frames: of all streams together; each has its share.
  func pipeline(streams: Int, frames: Int, sink: String) -> String {
    var info = GstVideoInfo()
    gst_video_info_set_format(
      &info, format.gstFormat, guint(size.width), guint(size.height))
    return (0..<streams).map { number in
      "fakesrc name=source\(number) num-buffers=\(Self.framesOfAStream(streams: streams, frames: frames)) "
        + "sizetype=fixed sizemax=\(info.size) filltype=nothing "
        + "! video/x-raw,format=\(format.rawValue),width=\(size.width),height=\(size.height),framerate=30/1 "
        + "! \(sink) name=s\(number) sync=false enable-last-sample=false"
    }.joined(separator: " ")
  }

  static func framesOfAStream(streams: Int, frames: Int) -> Int { max(1, frames / streams) }
}

/// How much of it `route` and `statistics` do.
struct FramePathWork: ParsableArguments {
  @Option(help: ArgumentHelp("Numbers of streams in one pipeline.", valueName: "N,N,..."))
  var streams = CountList([1])

  @Option(help: "Frames a round and variant, of all streams together. (default: \(Self.usual))")
  var frames: Int?

  /// How many there are by default.
  static let usual = 500_000

  func validate() throws {
    try OptionRange.frames.check(frames ?? Self.usual, "--frames")
  }

  /// In results.
  static func name(streams: Int) -> String { "\(streams) stream\(streams == 1 ? "" : "s")" }
}
