import ArgumentParser
import CGStreamer
import PipSink
import PipSinkCommandLine

/// The options for the frames in the pipelines of `route` and `memory`.
struct FramePathOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The size of the frames, in pixels.", valueName: "WxH"))
  var size = PictureSize(width: 1920, height: 1080)

  @Option(help: "The pixel format of the frames, as in caps.")
  var format = PixelFormat.i420

  /// The description of a pipeline whose streams end in `sink`. The frames are not filled, because the path of a frame
  /// is measured, and not its source. Sources and sinks are numbered: source0, s0, source1, s1.
  ///
  /// - Parameter frames: the number of frames of all streams together, which the streams share equally.
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

/// The options for the number of streams and frames of `route`.
struct FramePathWork: ParsableArguments {
  @Option(help: ArgumentHelp("The numbers of streams in one pipeline to measure.", valueName: "N,N,..."))
  var streams = CommaList([1])

  @Option(help: "The frames of all streams together, for each round and variant. (default: \(Self.usual))")
  var frames: Int?

  /// The default number of frames.
  static let usual = 500_000

  func validate() throws {
    for count in streams.values { try OptionRange.streams.check(count, "--streams") }
    try OptionRange.frames.check(frames ?? Self.usual, "--frames")
  }

  /// The name of a number of streams in results.
  static func name(streams: Int) -> String { "\(streams) stream\(streams == 1 ? "" : "s")" }
}
