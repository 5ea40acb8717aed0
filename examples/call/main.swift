import PipSink
import PipSinkWindows

// Two streams in a window, with picture-in-picture: p starts and stops it, n shows the next stream in it, space pauses,
// m mutes. Minimising the window starts it, too.
MainLoop.run {
  let session = try PictureInPictureSession(
    "videotestsrc is-live=true ! appsink name=anna  videotestsrc is-live=true pattern=ball ! appsink name=ben",
    display: try WindowDisplay())
  session.startsAutomatically = true
  try await session.run()
}
