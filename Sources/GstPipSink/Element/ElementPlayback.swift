import CGStreamer
import PipSink

/// Whether an element's stream stands still, and whether its sound is off, as the properties `paused` and `muted` say it
/// and windows show it. The newest word counts: the application's, or what the pipeline does.
struct ElementPlayback: Sendable {
  /// The property `paused`: true in PAUSED, false in PLAYING, unless the application has said something else since then.
  private(set) var isPaused = false
  /// The property `muted`, where no element around the sink knows it better.
  var isMuted = false
  /// The sound of the pipeline that the element is in, from its start to its stop.
  var volume: ElementVolume?
  private var isStarted = false
  private(set) var isPlaying = false
  /// Whether the application wants the pipeline to stand still from its first picture on.
  private var startsPaused = false

  /// What windows show. Before it plays for the first time a stream stands still, too.
  var standsStill: Bool { isPaused || !isPlaying }

  /// - Returns: the state to ask the application for; nil where nothing is to be asked.
  mutating func set(isPaused: Bool) -> GstState? {
    self.isPaused = isPaused
    startsPaused = isPaused && !isStarted
    guard isStarted, isPaused == isPlaying else { return nil }
    return isPaused ? GST_STATE_PAUSED : GST_STATE_PLAYING
  }

  /// - Returns: as ``set(isPaused:)``.
  mutating func follow(_ transition: GstStateChange) -> GstState? {
    switch transition {
    case GST_STATE_CHANGE_READY_TO_PAUSED:
      isStarted = true
      isPaused = true
    // It comes twice, by a message as well, and once more after a seek.
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
  /// The application says that the stream stands still, or plays.
  func set(isPaused: Bool) {
    let state = playback.withLock { $0.set(isPaused: isPaused) }
    if let state { reference.request(state) }
    member?.notePlayback()
  }

  /// The element has gone from one state to another.
  func follow(_ transition: GstStateChange) {
    switch transition {
    case GST_STATE_CHANGE_READY_TO_PAUSED: followVolume()
    case GST_STATE_CHANGE_PAUSED_TO_READY: playback.withLock { $0.volume = nil }
    default: break
    }
    let (state, old, new) = playback.withLock { playback in
      let old = playback
      // The message of it may come when the element has been told to pause again.
      let isLate = transition == GST_STATE_CHANGE_PAUSED_TO_PLAYING && !wantsToPlay
      return (isLate ? nil : playback.follow(transition), old, playback)
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

  /// Whether anything comes of ``set(isMuted:)``: an element around this one has the sound, or the application hears of
  /// the property.
  var canMute: Bool { playback.withLock { $0.volume } != nil || reference.isNotifying("muted") }

  /// The application switches the stream's sound off or on.
  func set(isMuted: Bool) {
    let volume = playback.withLock { playback in
      playback.isMuted = isMuted
      return playback.volume
    }
    volume?.set(isMuted: isMuted)
    member?.notePlayback()
  }

  /// The user does.
  func toggleMute() {
    let hasVolume = playback.withLock { $0.volume } != nil
    set(isMuted: !isMuted)
    // Otherwise the volume tells it.
    if !hasVolume { reference.notify("muted") }
  }

  private func followVolume() {
    // By the element and not by a weak reference to this object: with that, Swift would keep its count of references aside,
    // and each frame would pay for it (125 instructions).
    let new = ElementVolume(around: reference) { [reference] in
      reference.notify("muted")
      reference.use { PipSinkElement.state(of: $0).member?.notePlayback() }
    }
    let wantsSilence = playback.withLock { playback in
      playback.volume = new
      return playback.isMuted
    }
    // Not here, where the thread may have locks of the pipeline's.
    if wantsSilence { MainActorHost.post { new?.set(isMuted: true) } }
  }
}
