import PipSink
import PipSinkWindows

// Two streams in a window, with picture-in-picture: p starts and stops it, n shows the next stream in it, space pauses,
// m mutes, c is for the camera. Minimising the window starts it, too.
MainLoop.run {
  let session = try PictureInPictureSession(
    """
    videotestsrc is-live=true ! video/x-raw,width=1280,height=720 ! appsink name=anna
    videotestsrc is-live=true pattern=ball ! appsink name=ben  audiotestsrc is-live=true ! autoaudiosink
    """, display: try WindowDisplay())
  session.startsAutomatically = true
  let events = session.events()
  Task {
    for await case .display(.key("c")) in events {
      try session.setCameraState(session.placeholder(of: "anna") == .cameraOff ? .on : .off, of: "anna")
    }
  }
  try await session.run()
}
