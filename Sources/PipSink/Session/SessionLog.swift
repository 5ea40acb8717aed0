import Logging

/// Logs what happens in a session. What somebody has to react to is a warning or a notice, which apps show by default;
/// everything else is logged at the level debug.
struct SessionLog {
  private let session: Logger
  private let pictureInPicture: Logger
  private let audio: Logger

  init(makeLogger: (String) -> Logger = { Logger(visible: $0) }) {
    session = makeLogger("pipsink.session")
    pictureInPicture = makeLogger("pipsink.pip")
    audio = makeLogger("pipsink.audio")
  }

  /// Logs an event of the session.
  func note(_ event: SessionEvent) {
    switch event {
    case .streamAdded(let id): session.debug("stream \"\(id)\" has been added")
    case .streamRemoved(let id, _): session.debug("stream \"\(id)\" has been removed")
    case .engine(let event): note(event)
    case .surfaceFailed(let id, let error): session.warning("stream \"\(id)\" cannot be shown: \(error)")
    case .surfaceRecovered(let id): session.notice("stream \"\(id)\" is shown again")
    case .refused(let error): session.warning("\(error)")
    case .playbackChanged: session.debug("pause, sound or volume has changed")
    case .nameChanged(let id): session.debug("stream \"\(id)\" has another name")
    case .durationChanged(let id): session.debug("the duration of stream \"\(id)\" has changed")
    case .demandChanged(let id, let demand): session.debug("the demand for stream \"\(id)\" is now: \(demand)")
    case .seeked(let id, let time): session.debug("stream \"\(id)\" goes on from \(time.seconds) s")
    case .pictureInPicture, .display: break
    }
  }

  /// Logs an event of the engine.
  private func note(_ event: EngineEvent) {
    switch event {
    case .streamStateChanged(let id, .failed(let error)): session.warning("stream \"\(id)\" has failed: \(error)")
    case .streamStateChanged(let id, .reconnecting(let attempt, let pause, let error)):
      session.notice("stream \"\(id)\": \(error); try \(attempt) in \(pause)")
    case .audioFailed(let error): audio.warning("there is no sound: \(error)")
    case .audioInterruptionBegan(let interruption): audio.notice("another app's sound interrupts: \(interruption)")
    case .audioInterruptionEnded: audio.notice("the interruption has ended")
    case .customVideoRenderChanged(let isEnabled):
      session.debug("custom rendering is \(isEnabled ? "enabled" : "disabled")")
    default: break
    }
  }

  /// Logs an event of picture-in-picture.
  ///
  /// - Parameter usage: what has been used so far while picture-in-picture was active.
  func note(_ event: PictureInPictureEvent, of id: StreamID, _ usage: PictureInPictureUsage) {
    switch event {
    case .willStart: pictureInPicture.debug("picture-in-picture begins with stream \"\(id)\"")
    case .didStart(let latency):
      pictureInPicture.debug(
        "picture-in-picture shows stream \"\(id)\"\(latency.map { ", after \($0 / .milliseconds(1)) ms" } ?? "")")
    case .failedToStart(.pictureInPicture(.cancelled)):
      pictureInPicture.debug("picture-in-picture was stopped before it began")
    case .failedToStart(let error): pictureInPicture.warning("picture-in-picture could not start: \(error)")
    case .didStop(.failed(let error)): pictureInPicture.warning("picture-in-picture has failed: \(error)")
    case .didStop(let reason):
      pictureInPicture.debug(
        """
        picture-in-picture has stopped (\(reason)); so far it was active for \(usage.duration / .seconds(1)) s, with \
        \(Int(usage.processorShare * 100)) % of a processor and \(usage.residentBytes / 1_000_000) MB
        """)
    case .sourceChanged(let old, let new):
      pictureInPicture.debug("picture-in-picture changes from stream \"\(old)\" to \"\(new)\"")
    case .layoutChanged(let layout):
      pictureInPicture.debug("the picture-in-picture window has the layout \(layout.rawValue)")
    case .clickThroughChanged(let isClickThrough):
      pictureInPicture.debug(
        "the picture-in-picture window \(isClickThrough ? "lets the pointer through" : "takes the pointer")")
    case .stateChanged(let state): pictureInPicture.debug("picture-in-picture is \(state.rawValue)")
    case .restoreFailed(let error): pictureInPicture.warning("\(error)")
    case .willStop, .restoreUserInterface, .renderSizeChanged, .suspendedChanged, .action: break
    }
  }
}
