import PipSink

/// What a run does with its picture-in-picture controller.
extension PlaySession {
  func startPictureInPicture() {
    do throws(PipSinkError) {
      if command.mode == .pip { try controller.startWhenReady() }
      if command.autoPip { try controller.enableWhenBackground() }
    } catch {
      report(DemoError(error))
    }
    surfaces.pictureInPictureDidChange(to: pictureInPictureStreamID)
  }

  func enterPictureInPicture(_ id: StreamID) throws(PipSinkError) {
    try controller.setSource(streamID: id)
    if !isInPictureInPicture { try controller.startWhenReady() }
  }

  func setBackground(_ isInBackground: Bool) {
    if isInBackground {
      controller.applicationDidEnterBackground()
    } else {
      controller.applicationWillEnterForeground()
    }
  }

  /// A stream has ended. Where nobody named the one for picture-in-picture, the next takes its place.
  func leave(_ id: StreamID) {
    if command.pipStream == nil { controller.streamSelector.remove(id) }
  }

  private static let eventLimit = 10_000

  func handle(_ event: PictureInPictureEvent, at time: MonotonicTime) {
    if let record = Report.PictureInPictureEventRecord(event, time: Double(time.nanoseconds(since: start)) / 1e9) {
      pictureInPictureEvents.append(record)
      if pictureInPictureEvents.count > Self.eventLimit { pictureInPictureEvents.removeFirst() }
    }
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

  var pictureInPictureStreamID: StreamID? { router.table.entries[.primary]?.streamID }
  var isInPictureInPicture: Bool { pictureInPictureStreamID != nil }

  var nextStreamID: StreamID {
    controller.streamSelector.neighbour(forward: true) ?? controller.currentStreamID
  }
}
