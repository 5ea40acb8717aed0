/// An app's sound: how loud its streams are, what they are for, and what interrupts them.
///
/// Every engine has one (``VideoEngine/audioSession``), which its streams share. What is set on it holds for the audio
/// branches of the pipelines that run now and of all that are started later, so that it outlives restarts. Where nothing has
/// been set, elements keep what their description or the desktop's mixer says.
///
/// Volumes are linear amplitudes from 0 to 1 (0.5 is -6 dB), as GstStreamVolume's properties are; others are taken for the
/// nearest of those. Any thread may call, but no streaming thread.
public final class AudioSession: Sendable {
  private struct State {
    var category = AudioCategory.playback
    var applicationName: String?
    var interruptionPolicy = AudioInterruption.pause
    var volume = 1.0
    var isMuted = false
    var streams: [StreamID: StreamSettings] = [:]
    var interruptions = AudioInterruptions()
    var outputs: [ObjectIdentifier: any AudioOutput] = [:]
  }

  private struct StreamSettings {
    var volume: Double?
    var isMuted: Bool?
  }

  /// Told of an interruption that begins while there is none, and, by nil, of the end of the last.
  private let interruptionChanged: @Sendable (AudioInterruption?) -> Void
  private let state = Locked(State())
  /// Held while an interruption's change is carried out, so that changes keep their order.
  private let changing = Locked(())

  init(interruptionChanged: @escaping @Sendable (AudioInterruption?) -> Void) {
    self.interruptionChanged = interruptionChanged
  }

  // MARK: - What it is for

  /// For streams that are started from now on.
  public var category: AudioCategory {
    get { state.withLock { $0.category } }
    set { change { $0.category = newValue } }
  }

  /// What mixers call the app's streams; nil leaves that to the sound server. For streams that are started from now on.
  public var applicationName: String? {
    get { state.withLock { $0.applicationName } }
    set { change { $0.applicationName = newValue } }
  }

  var streamProperties: (AudioCategory, applicationName: String?) {
    state.withLock { ($0.category, $0.applicationName) }
  }

  // MARK: - Volume

  /// Of all streams; each stream's own is multiplied by it.
  public var volume: Double {
    get { state.withLock { $0.volume } }
    set { change { $0.volume = AudioLevel.clamped(newValue) } }
  }

  /// Whether all streams are silent.
  public var isMuted: Bool {
    get { state.withLock { $0.isMuted } }
    set { change { $0.isMuted = newValue } }
  }

  /// A stream's own volume; nil when none has been set.
  public func volume(of id: StreamID) -> Double? { state.withLock { $0.streams[id]?.volume } }

  /// Whether a stream itself has been muted.
  public func isMuted(_ id: StreamID) -> Bool { state.withLock { $0.streams[id]?.isMuted ?? false } }

  /// Sets a stream's own volume, also of one that is yet to come.
  ///
  /// - Throws: ``PipSinkError/Stream/noAudioVolume(_:)`` when the stream runs and has nothing that a volume can be set on. It is
  ///   remembered all the same.
  public func setVolume(_ volume: Double, for id: StreamID) throws(PipSinkError) {
    change { $0.streams[id, default: .init()].volume = AudioLevel.clamped(volume) }
    try checkVolume(of: id)
  }

  /// Silences a stream, or lets it be heard again, also one that is yet to come.
  ///
  /// - Throws: as ``setVolume(_:for:)``.
  public func setMuted(_ isMuted: Bool, for id: StreamID) throws(PipSinkError) {
    change { $0.streams[id, default: .init()].isMuted = isMuted }
    try checkVolume(of: id)
  }

  /// Forgets what was set for a stream that does not come back.
  public func forgetStream(_ id: StreamID) { change { $0.streams[id] = nil } }

  private func checkVolume(of id: StreamID) throws(PipSinkError) {
    let answers = state.withLock { Array($0.outputs.values) }.compactMap { $0.hasVolume(id) }
    guard answers.isEmpty || answers.contains(true) else { throw .stream(.noAudioVolume(id)) }
  }

  private func change(_ body: (inout State) -> Void) {
    let outputs = state.withLock { state in
      body(&state)
      return Array(state.outputs.values)
    }
    for output in outputs { output.apply() }
  }

  /// - Parameters:
  ///   - id: nil for what several streams share.
  ///   - takesOverall: whether no other element further down does.
  func wish(for id: StreamID?, takesOverall: Bool) -> AudioElement.Wish {
    state.withLock { state in
      let own = id.flatMap { state.streams[$0] }
      return AudioElement.Wish(
        volume: own?.volume, factor: takesOverall ? state.volume * state.interruptions.level : 1, isMuted: own?.isMuted,
        isMutedByAll: takesOverall && state.isMuted)
    }
  }

  // MARK: - Interruptions

  /// What becomes of the streams when a sound server asks them to make room for another app's, as PulseAudio's
  /// module-role-cork does. The server silences them then: ``AudioInterruption/duck(_:)`` has pictures go on without
  /// sound.
  public var interruptionPolicy: AudioInterruption {
    get { state.withLock { $0.interruptionPolicy } }
    set { state.withLock { $0.interruptionPolicy = newValue } }
  }

  /// What holds now: a server's or the app's own, the strictest of several; nil when nothing interrupts.
  public var interruption: AudioInterruption? { state.withLock { $0.interruptions.current } }

  /// Interrupts all streams. Ends with as many calls of ``endInterruption()``.
  public func beginInterruption(_ interruption: AudioInterruption) {
    changeInterruptions { $0.explicit.append(interruption) }
  }

  /// Ends the latest interruption that was begun so; when it was the last of all, everything is as it was before. What
  /// the user has paused stays paused. Does nothing when there is none.
  public func endInterruption() {
    changeInterruptions { _ = $0.explicit.popLast() }
  }

  /// A server asks an element to be still.
  func beginRequest(of id: AudioElement.ID) {
    let policy = interruptionPolicy
    changeInterruptions { $0.requested[id] = policy }
  }

  /// It does no more, or the elements have gone.
  func endRequests(of ids: [AudioElement.ID]) {
    changeInterruptions { interruptions in
      for id in ids { interruptions.requested[id] = nil }
    }
  }

  private func changeInterruptions(_ body: (inout AudioInterruptions) -> Void) {
    changing.withLock { _ in
      let (before, after, outputs) = state.withLock { state in
        let before = state.interruptions.current
        body(&state.interruptions)
        return (before, state.interruptions.current, Array(state.outputs.values))
      }
      guard before != after else { return }
      if before == nil { interruptionChanged(after) }
      for output in outputs {
        output.apply()
        output.interruptionChanged()
      }
      if after == nil { interruptionChanged(nil) }
    }
  }

  // MARK: - Pipelines

  func attach(_ output: any AudioOutput) {
    state.withLock { $0.outputs[ObjectIdentifier(output)] = output }
    output.apply()
  }

  func detach(_ output: any AudioOutput) {
    state.withLock { _ = $0.outputs.removeValue(forKey: ObjectIdentifier(output)) }
  }
}

/// The audio elements of a pipeline that runs now, as a session sees them.
protocol AudioOutput: AnyObject, Sendable {
  /// Has the pipeline stand still or go on, as the session says now. Called on any thread.
  var interruptionChanged: @Sendable () -> Void { get }

  /// Whether a stream has something that its volume can be set on; nil of one that is not the pipeline's.
  func hasVolume(_ id: StreamID) -> Bool?

  /// Sets everything as the session wants it.
  func apply()
}

/// What an app's sound is for. Desktops route, lower and silence streams by it.
public enum AudioCategory: String, CaseIterable, Sendable {
  /// Films and other recordings; media role "video".
  case playback
  /// Calls; media role "phone", with the echo taken out where the sound server can do that. Servers lower or silence
  /// what others play meanwhile.
  case voiceChat = "voice-chat"

  /// As in PulseAudio's property `media.role`, which PipeWire has, too.
  var mediaRole: String {
    switch self {
    case .playback: "video"
    case .voiceChat: "phone"
    }
  }
}
