import PipSink

/// What a run does with its picture-in-picture controller.
extension PlaySession {
  func startPictureInPicture() {
    do throws(PipSinkError) {
      if command.mode == .pip { try controller.startWhenReady() }
      controller.startsAutomatically = command.autoPip
      if command.autoPip, let reason = controller.unsupportedReason {
        throw .pictureInPictureUnsupported(reason: reason)
      }
    } catch {
      report(DemoError(error))
    }
    surfaces.pictureInPictureDidChange(to: pictureInPictureStreamID)
  }

  func enterPictureInPicture(_ id: StreamID) throws(PipSinkError) {
    try controller.setSource(streamID: id)
    try controller.startWhenReady()
  }

  func setBackground(_ isInBackground: Bool) {
    if isInBackground {
      controller.applicationDidEnterBackground()
    } else {
      controller.applicationWillEnterForeground()
    }
  }

  private static let eventLimit = 10_000

  func record(_ event: PictureInPictureEvent) {
    guard !isFinishing, let record = Report.PictureInPictureEventRecord(event, time: seconds) else { return }
    pictureInPictureEvents.append(record)
    if pictureInPictureEvents.count > Self.eventLimit { pictureInPictureEvents.removeFirst() }
  }

  func handle(_ event: PictureInPictureEvent) {
    switch event {
    case .willStart, .didStop, .sourceChanged, .failedToStart:
      surfaces.pictureInPictureDidChange(to: pictureInPictureStreamID)
    default: break
    }
    if case .failedToStart(let error) = event, error != .pictureInPictureCancelled {
      statusLine.say("picture-in-picture did not start: \(error)")
    }
    if case .didStop(.failed(let error)) = event { statusLine.say("\(error)") }
  }

  var pictureInPictureStreamID: StreamID? { controller.pictureInPictureStreamID }

  var nextStreamID: StreamID {
    controller.streamSelector.neighbour(forward: true) ?? controller.currentStreamID
  }
}
