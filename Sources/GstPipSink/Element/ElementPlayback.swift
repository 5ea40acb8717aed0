import CGStreamer
import PipSink

/// Whether an element's stream is paused and muted, as the properties `paused` and `muted` say and the windows show.
/// The latest change counts, whether the application sets the property or the pipeline changes its state.
struct ElementPlayback: Sendable {
  /// The property `paused`: true in PAUSED and false in PLAYING, unless the application has set it since. On the way
  /// through PAUSED to PLAYING it is false.
  private(set) var isPaused = false
  /// The property `muted`, which counts where no element around the sink has a volume.
  var isMuted = false
  /// The volume of the element around the sink, from the sink's start to its stop; nil where there is none.
  var volume: ElementVolume?
  private var isStarted = false
  private(set) var isPlaying = false
  /// Whether the application has set `paused` before the start, so that the pipeline pauses with its first picture.
  private var startsPaused = false

  /// Whether windows show the stream as paused. Before it plays for the first time, a stream is paused, too.
  var standsStill: Bool { isPaused || !isPlaying }

  /// - Returns: the state to request from the application; nil when no request is needed.
  mutating func set(isPaused: Bool) -> GstState? {
    self.isPaused = isPaused
    startsPaused = isPaused && !isStarted
    guard isStarted, isPaused == isPlaying else { return nil }
    return isPaused ? GST_STATE_PAUSED : GST_STATE_PLAYING
  }

  /// - Parameter isToPlay: whether the application has set its pipeline to play.
  /// - Returns: as ``set(isPaused:)``.
  mutating func follow(_ transition: GstStateChange, isToPlay: Bool) -> GstState? {
    switch transition {
    case GST_STATE_CHANGE_READY_TO_PAUSED:
      isStarted = true
      isPaused = startsPaused || !isToPlay
    // This transition is noted twice, because the message about it is followed as well, and once more after a seek.
    case GST_STATE_CHANGE_PAUSED_TO_PLAYING where !isPlaying:
      isPlaying = true
      isPaused = startsPaused
      startsPaused = false
      return isPaused ? GST_STATE_PAUSED : nil
    case GST_STATE_CHANGE_PLAYING_TO_PAUSED:
      isPlaying = false
      isPaused = true
    case GST_STATE_CHANGE_PAUSED_TO_READY:
      (isStarted, isPlaying, isPaused, startsPaused) = (false, false, false, false)
    default: break
    }
    return nil
  }
}

extension ElementState {
  /// Sets the property `paused`, as the application does.
  func set(isPaused: Bool) {
    let state = playback.withLock { $0.set(isPaused: isPaused) }
    if let state { reference.request(state) }
    member?.notePlayback()
  }

  /// Follows a state change of the element.
  func follow(_ transition: GstStateChange) {
    switch transition {
    case GST_STATE_CHANGE_READY_TO_PAUSED: followVolume()
    case GST_STATE_CHANGE_PAUSED_TO_READY: playback.withLock { $0.volume = nil }
    default: break
    }
    let isToPlay = reference.isToPlay
    let (state, old, new) = playback.withLock { playback in
      let old = playback
      // The message about it may come after the element has been told to pause again.
      let isLate = transition == GST_STATE_CHANGE_PAUSED_TO_PLAYING && !wantsToPlay
      return (isLate ? nil : playback.follow(transition, isToPlay: isToPlay), old, playback)
    }
    guard state != nil || new.isPaused != old.isPaused || new.standsStill != old.standsStill else { return }
    if new.isPaused != old.isPaused { reference.notify("paused") }
    if let state { reference.request(state) }
    member?.notePlayback()
  }

  private var wantsToPlay: Bool { reference.use { $0.pointee.target_state == GST_STATE_PLAYING } ?? false }

  // MARK: - Sound

  var isMuted: Bool {
    let (volume, isMuted) = playback.withLock { ($0.volume, $0.isMuted) }
    return volume?.isMuted ?? isMuted
  }

  /// Whether ``set(isMuted:)`` has an effect: an element around this one has a volume, or the application follows the
  /// property.
  var canMute: Bool { playback.withLock { $0.volume } != nil || reference.isNotifying("muted") }

  /// Sets the property `muted`, as the application does.
  func set(isMuted: Bool) {
    let volume = playback.withLock { playback in
      playback.isMuted = isMuted
      return playback.volume
    }
    volume?.set(isMuted: isMuted)
    member?.notePlayback()
  }

  /// Mutes or unmutes the stream, as the user does with the window's button.
  func toggleMute() {
    let hasVolume = playback.withLock { $0.volume } != nil
    set(isMuted: !isMuted)
    // Otherwise the volume's notification does it.
    if !hasVolume { reference.notify("muted") }
  }

  private func followVolume() {
    // The closure finds this object by the element, and not by a weak reference: a weak reference would make Swift keep
    // the reference count in a side table, which costs each frame 125 instructions.
    let new = ElementVolume(around: reference) { [reference] in
      reference.notify("muted")
      reference.use { PipSinkElement.state(of: $0).member?.notePlayback() }
    }
    let wantsSilence = playback.withLock { playback in
      playback.volume = new
      return playback.isMuted
    }
    // This is done later, because this thread may hold locks of the pipeline.
    if wantsSilence { MainActorHost.post { new?.set(isMuted: true) } }
  }
}
