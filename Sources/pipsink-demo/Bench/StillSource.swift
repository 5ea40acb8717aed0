import PipSink

/// One test picture again and again at a steady rate, which costs next to nothing to make.
struct StillSource {
  var size: PictureSize
  var format = PixelFormat.i420
  /// Frames a second.
  var rate: Int

  var description: String {
    "videotestsrc num-buffers=1 ! video/x-raw,format=\(format.rawValue),width=\(size.width),height=\(size.height),"
      + "framerate=\(rate)/1 ! imagefreeze ! video/x-raw,framerate=\(rate)/1"
  }
}
