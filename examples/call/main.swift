import PipSink
import PipSinkWindows

// A call in a window, with picture-in-picture: p starts and stops it, and so does minimising the window. There it has
// the controls of a call. The microphone and the camera are only shown as switched off, because nothing is sent here.
MainLoop.run {
  var configuration = PictureInPictureSession.Configuration()
  configuration.localStreamIDs = ["me"]
  configuration.pictureInPicture.controls = .call
  configuration.pictureInPicture.layout = .grid
  let session = try PictureInPictureSession(
    """
    videotestsrc is-live=true ! video/x-raw,width=1280,height=720 ! appsink name=anna
    videotestsrc is-live=true pattern=ball ! appsink name=ben  audiotestsrc is-live=true ! autoaudiosink
    videotestsrc is-live=true pattern=blue ! appsink name=me
    """, display: try WindowDisplay(), configuration: configuration)
  session.startsAutomatically = true
  for (id, name) in [("anna", "Anna"), ("ben", "Ben"), ("me", "Me")] as [(StreamID, String)] {
    try session.setName(name, of: id)
  }
  try session.setCaption("Can you hear me?", for: "anna")

  let own = { [unowned session] in session.info(of: "me") }
  session.actionHandlers[.microphone] = { [unowned session] in
    try? session.setMicrophoneState(own()?.microphone == .off ? .on : .off, of: "me")
  }
  session.actionHandlers[.camera] = { [unowned session] in
    try? session.setCameraState(own()?.camera == .off ? .on : .off, of: "me")
  }
  session.actionHandlers[.raiseHand] = { [unowned session] in
    for index in session.controller.configuration.controls.indices
    where session.controller.configuration.controls[index].action == .raiseHand {
      let isRaised = session.controller.configuration.controls[index].isOn != true
      session.controller.configuration.controls[index].isOn = isRaised
      try? session.setCaption(isRaised ? "I have a question." : nil, for: "me")
    }
  }
  session.actionHandlers[.hangUp] = { [unowned session] in Task { await session.invalidate() } }
  try await session.run()
}
