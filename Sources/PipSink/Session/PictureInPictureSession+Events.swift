/// What the session reports, and how it reacts to picture-in-picture and to the display.
extension PictureInPictureSession {
  /// A stream of the events from now on. Each call makes another stream, which ends when the session is released or
  /// invalidated.
  public func events() -> AsyncStream<SessionEvent> { broadcast.stream() }

  /// Calls `observer` with every event from now on, before the call that caused the event returns.
  package func observeEvents(_ observer: @escaping @MainActor (SessionEvent) -> Void) {
    broadcast.observe { event in MainActor.assumeIsolated { observer(event) } }
  }

  /// Logs an event and reports it to observers.
  func emit(_ event: SessionEvent) {
    log.note(event)
    broadcast.send(event)
    switch event {
    // These events are frequent, and the screen does not depend on them.
    case .engine(.audioLevel), .engine(.buffering): break
    default: updateWatched()
    }
  }

  /// Does something for a caller that does not wait for an answer, and reports a failure as an event.
  package func attempt(_ body: () throws(PipSinkError) -> Void) {
    do throws(PipSinkError) {
      try body()
    } catch {
      emit(.refused(error))
    }
  }

  /// Reacts to an event of picture-in-picture in the session's window.
  func handle(_ event: PictureInPictureEvent) {
    switch event {
    case .didStart: meter.begin()
    case .didStop: meter.end()
    default: break
    }
    let id = controller.currentStreamID
    log.note(event, of: id, meter.usage)
    updateControls()
    updatePlaces()
    emit(.pictureInPicture(event, of: id))
  }

  /// Reacts to an event of the display.
  func handle(_ event: SessionDisplayEvent) {
    emit(.display(event))
    switch event {
    case .background(let isInBackground): setBackground(isInBackground)
    case .key(let key):
      guard let action = SessionAction(key: key) else { return }
      attempt { () throws(PipSinkError) in try perform(action) }
    case .pictureInPictureToggled(let id):
      attempt { () throws(PipSinkError) in
        if let own = known[id]?.controller {
          try own.toggle()
        } else if pictureInPictureStreamID == id {
          stopPictureInPicture()
        } else {
          try startPictureInPicture(id)
        }
      }
    case .pictureInPictureFocused:
      attempt { () throws(PipSinkError) in try perform(.focusPictureInPicture) }
    case .closeRequested, .windowLost: break
    }
  }
}
