import CGStreamer
import PipSink

/// Pause, mute and the controls: the streams belong to the applications, which are asked.
extension ElementSessionAdapter {
  /// Gives picture-in-picture the controls that an element asks for.
  func offerControls(of member: SessionMember) {
    do throws(PipSinkError) {
      let text = member.settings.controls
      let controls: [PictureInPictureControl] = if let text { try .init(text: text) } else { .player }
      session.offer(controls)
    } catch {
      member.element.post(
        "The controls of picture-in-picture stay as they are.", error.description, code: GST_RESOURCE_ERROR_SETTINGS,
        isWarning: true)
    }
  }

  /// Does what the user asks for with a control, unless the application does it.
  func serveControl(_ body: (SessionMember) -> Void) {
    if let member = currentMember, !isAsked(member) { body(member) }
  }

  /// Asks the applications to pause or to play their pipelines, each pipeline once.
  func requestPause(_ isPaused: Bool) {
    var asked: Set<PipelineIdentity> = []
    for member in members where member.isPaused != isPaused {
      if isAsked(member) {
        member.emit(.action(.playPause))
      } else if asked.insert(member.element.pipeline).inserted {
        requestPause(isPaused, of: member)
      }
    }
  }

  /// Asks the application to pause or to play the element's pipeline.
  func requestPause(_ isPaused: Bool, of member: SessionMember) {
    let pipeline = member.element.pipeline
    let request = requests[pipeline] ?? ToggleRequest()
    requests[pipeline] = request
    request.send(isPaused: isPaused, for: member, clock)
  }

  /// Asks the applications to mute or to unmute their streams.
  func requestMute(_ isMuted: Bool) {
    for member in members where member.isMuted != isMuted {
      if isAsked(member) { member.emit(.action(.mute)) } else { requestMute(member) }
    }
  }

  /// Mutes or unmutes the element's stream.
  func requestMute(_ member: SessionMember) {
    if member.canMute { member.toggleMute() } else { ElementNavigation.send(key: "m", to: member) }
  }

  /// Updates the session, which is paused or muted when all of its elements are.
  func updatePlayback() {
    let (isPaused, isMuted) = (members.allSatisfy(\.isPaused), members.allSatisfy(\.isMuted))
    for member in members { session.setPaused(member.isPaused, of: member.streamID) }
    if session.isPaused != isPaused { session.notePaused(isPaused) }
    if session.isMuted != isMuted { session.noteMuted(isMuted) }
    fitPictureInPicture()
    reportAbsence()
  }
}
