import PipSink
import PipSinkCalls
import PipSinkCommandLine
import PipSinkWindows

/// The actions of the command line, and of the keys in the windows and on the terminal.
extension PlaySession {
  func perform(_ action: TimedAction.Action) {
    do throws(PipSinkError) {
      switch action {
      case .session(let action): try session.perform(action)
      case .pictureInPicture(let id): try session.startPictureInPicture(id)
      case .source(let id): try session.setPictureInPictureSource(id)
      case .second(let id): try session.setSecondPictureInPictureStream(id)
      case .layout(let layout): controller.configuration.layout = layout
      case .normal:
        if !session.stopPictureInPicture() { statusLine.say("Nothing is in picture-in-picture.") }
      case .`init`: try session.initializePictureInPicture()
      case .uninit: session.uninitializePictureInPicture()
      case .control(let action):
        if controller.offers(action) {
          controller.perform(action)
        } else {
          statusLine.say("There is no control \"\(action.name)\" now.".visible)
        }
      case .startStream(let id):
        startsToCome -= 1
        try startStream(id)
      case .stopStream(let id): try session.removeStream(id)
      case .camera(let state, let id): try session.setCameraState(state, of: id)
      case .microphone(let state, let id): try session.setMicrophoneState(state, of: id)
      case .caption(let id, let text): try session.setCaption(text, for: id)
      case .image(let id, let path): try session.setImage(contentsOf: path, for: id)
      case .connection(let quality, let id): try session.setConnectionQuality(quality, of: id)
      case .background: session.setBackground(true)
      case .foreground: session.setBackground(false)
      case .volume(let volume): session.volume = volume
      case .seek(let seconds): seek(to: MediaTime(seconds: seconds))
      case .process(let id, let text):
        try session.setProcessors(try FrameProcessorRegistry.shared.makeProcessors(text), of: id)
      case .customRender(let series): setCustomRender(series)
      // The help is shown in a window here. On the terminal it is printed.
      case .help: session.display.perform(.toggleHelp(TimedAction.help))
      case .snapshot where snapshots == nil: statusLine.say("No pictures are written without --snapshots.")
      case .snapshot: try writeSnapshots()
      case .quit: outcome = .quit
      }
    } catch {
      report(CommandError(error))
      // A stream that has not started does not report its end.
      if case .startStream = action, engine.streams.allSatisfy(\.state.isOver) { finishIfNothingIsToCome() }
    }
  }

  /// Performs the action of a key on the terminal. Every key gets an answer.
  func performKey(_ key: Character) {
    guard let action = TimedAction.Action(key: key) else {
      return statusLine.say("The key \"\(key)\" does nothing; ? shows those that do something.".visible)
    }
    let streamID = session.pictureInPictureStreamID
    switch action {
    // The help is printed on the terminal, where it was requested.
    case .help: statusLine.say(TimedAction.help)
    default: perform(action)
    }
    if action == .session(.toggleFullscreen), !(session.display is WindowDisplay) {
      statusLine.say("There is no window that could be fullscreen.")
    }
    if action == .session(.nextStream), let streamID, session.pictureInPictureStreamID == streamID {
      statusLine.say("No other stream has a picture.")
    }
    statusLine.update(session, seconds: seconds)
  }

  private func startStream(_ id: StreamID) throws(PipSinkError) {
    guard let option = command.ownStreams.first(where: { $0.streamID == id }) else {
      throw .stream(.unknown(id, known: command.ownStreams.map(\.streamID)))
    }
    var configuration = command.pipelineConfiguration
    switch option.source {
    case .pipeline(let description): try session.startStream(id, from: description, configuration: configuration)
    case .uri(let uri):
      configuration.playsAudio = true
      try session.startStream(id, uri: uri, configuration: configuration)
    case .whep(let url):
      try session.startStream(id, whep: url, token: tokens[id], configuration: connectionConfiguration)
    }
    publish(id)
  }

  /// Seeks in the stream that is, or would be, in picture-in-picture.
  private func seek(to position: MediaTime) {
    let (session, continuation, id) = (session, continuation, controller.currentStreamID)
    Task {
      do throws(PipSinkError) {
        try await session.seek(id, to: position, isAccurate: true)
      } catch {
        continuation.yield { $0.report(CommandError(error), about: "stream \"\(id)\": ") }
      }
    }
  }

  /// Handles a control of picture-in-picture, where neither the session nor the window does. Microphone and camera are
  /// offered where the session sends the local picture away.
  func handle(_ action: PictureInPictureAction) {
    switch action {
    case .hangUp: session.actionHandlers[action] = { [weak self] in self?.outcome = .quit }
    case .raiseHand, .custom: session.actionHandlers[action] = { [weak self] in self?.use(action) }
    default: break
    }
  }

  /// Says that a control was used. A hand, and a control that was given as a switch, go on and off.
  private func use(_ action: PictureInPictureAction) {
    var change = ""
    if let index = controller.configuration.controls.firstIndex(where: { $0.action == action }) {
      let isOn = controller.configuration.controls[index].isOn
      if isOn != nil || action == .raiseHand {
        controller.configuration.controls[index].isOn = isOn != true
        change = isOn == true ? " is off" : " is on"
      }
    }
    statusLine.say("control \"\(action.name)\"\(change)".visible)
  }

  private func setCustomRender(_ series: FrameFormatSeries?) {
    let change = engine.setCustomVideoRender(
      series.map { _ in .pixelBuffers(customFrames) }, formatSeries: series ?? .any)
    guard let code = change.code else { return }
    statusLine.say("custom rendering changes when the streams have stopped (\(code))")
  }

  func writeSnapshots() throws(PipSinkError) {
    // A display server may not answer any more.
    let patience = session.pictureInPictureStreamID == nil ? 0 : 1
    _ = controller.displayLayer.waitUntilPresented(by: .now.advanced(by: .seconds(patience)))
    try snapshots?.write(
      session.display.images(pictureInPictureStreamID: session.pictureInPictureStreamID), at: seconds)
  }
}
