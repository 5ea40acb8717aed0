/// An app's sound: how loud its streams are, what they are for, and what interrupts them.
///
/// Every engine has one (``VideoEngine/audioSession``), which all its streams share. Its settings apply to the audio
/// branches of the pipelines that run now and of all that are started later, so they outlive restarts. Where nothing
/// has been set, elements keep what their description or the desktop's mixer says.
///
/// Volumes are linear amplitudes from 0 to 1 (0.5 is -6 dB), as in GstStreamVolume; other values are clamped to that
/// range. It can be used from every thread except streaming threads.
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

  /// What was set for a single stream; nil where nothing was.
  private struct StreamSettings {
    var volume: Double?
    var isMuted: Bool?
  }

  /// Called with the interruption that is in effect when another one was before, and with nil when the last one ends.
  private let interruptionChanged: @Sendable (AudioInterruption?) -> Void
  private let state = Locked(State())
  /// Held while a change of interruptions is carried out, so that changes keep their order.
  private let changing = Locked(())

  init(interruptionChanged: @escaping @Sendable (AudioInterruption?) -> Void) {
    self.interruptionChanged = interruptionChanged
  }

  // MARK: - The purpose of the sound

  /// What the sound is for. It applies to streams that are started from now on.
  public var category: AudioCategory {
    get { state.withLock { $0.category } }
    set { change { $0.category = newValue } }
  }

  /// The app's name in mixers; nil for ``ShownTexts/applicationName``, and where that is nil, too, the sound server
  /// finds one. It applies to streams that are started from now on.
  public var applicationName: String? {
    get { state.withLock { $0.applicationName } }
    set { change { $0.applicationName = newValue } }
  }

  var streamProperties: (AudioCategory, applicationName: String?) {
    state.withLock { ($0.category, $0.applicationName ?? ShownTexts.current.applicationName) }
  }

  // MARK: - Volume

  /// The overall volume, from 0 to 1. Each stream's volume is multiplied by it.
  public var volume: Double {
    get { state.withLock { $0.volume } }
    set { change { $0.volume = AudioLevel.clamped(newValue) } }
  }

  /// Whether all streams are muted.
  public var isMuted: Bool {
    get { state.withLock { $0.isMuted } }
    set { change { $0.isMuted = newValue } }
  }

  /// The volume of a single stream, from 0 to 1; nil when none has been set.
  public func volume(of id: StreamID) -> Double? { state.withLock { $0.streams[id]?.volume } }

  /// Whether this stream has been muted by itself, whatever ``isMuted`` says.
  public func isMuted(_ id: StreamID) -> Bool { state.withLock { $0.streams[id]?.isMuted ?? false } }

  /// Sets the volume of a single stream, which need not exist yet.
  ///
  /// - Throws: ``PipSinkError/Stream/noAudioVolume(_:)`` when the stream runs and has nothing that a volume can be set
  ///   on. The volume is remembered all the same.
  public func setVolume(_ volume: Double, for id: StreamID) throws(PipSinkError) {
    change { $0.streams[id, default: .init()].volume = AudioLevel.clamped(volume) }
    try checkVolume(of: id)
  }

  /// Mutes or unmutes a single stream, which need not exist yet.
  ///
  /// - Throws: ``PipSinkError/Stream/noAudioVolume(_:)`` when the stream runs and has nothing that can be muted. The
  ///   setting is remembered all the same.
  public func setMuted(_ isMuted: Bool, for id: StreamID) throws(PipSinkError) {
    change { $0.streams[id, default: .init()].isMuted = isMuted }
    try checkVolume(of: id)
  }

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

  /// What an element is to be set to.
  ///
  /// - Parameters:
  ///   - id: the element's stream; nil for an element that several streams share.
  ///   - takesOverall: whether the overall volume is applied here, because no element downstream applies it.
  func settings(for id: StreamID?, takesOverall: Bool) -> AudioElement.Settings {
    state.withLock { state in
      let own = id.flatMap { state.streams[$0] }
      return AudioElement.Settings(
        volume: own?.volume, factor: takesOverall ? state.volume * state.interruptions.level : 1, isMuted: own?.isMuted,
        isMutedByAll: takesOverall && state.isMuted)
    }
  }

  // MARK: - Interruptions

  /// What happens to the streams when a sound server asks them to make room for another app's, as PulseAudio's
  /// module-role-cork does. The server mutes them then, so with ``AudioInterruption/duck(_:)`` the pictures go on
  /// without sound.
  public var interruptionPolicy: AudioInterruption {
    get { state.withLock { $0.interruptionPolicy } }
    set { state.withLock { $0.interruptionPolicy = newValue } }
  }

  /// The interruption that is in effect now, whether a server or the app began it; the strictest one if there are
  /// several, and nil if there is none.
  public var interruption: AudioInterruption? { state.withLock { $0.interruptions.current } }

  /// Interrupts all streams. Each call needs one call of ``endInterruption()``.
  public func beginInterruption(_ interruption: AudioInterruption) {
    changeInterruptions { $0.explicit.append(interruption) }
  }

  /// Ends the latest interruption that ``beginInterruption(_:)`` began. When no interruption is left, everything is as
  /// it was before; what the user has paused stays paused. It does nothing when there is none.
  public func endInterruption() {
    changeInterruptions { _ = $0.explicit.popLast() }
  }

  /// Lets the streams go on during the interruptions that pause them, because the user wants that. They are in effect
  /// until they end, and change nothing any more. What a sound server has muted stays silent until then.
  public func overridePause() {
    changeInterruptions { interruptions in
      let override = { (interruption: AudioInterruption) in interruption == .pause ? .duck(1) : interruption }
      interruptions.explicit = interruptions.explicit.map(override)
      interruptions.requested = interruptions.requested.mapValues(override)
    }
  }

  /// Notes that a server asks an element to be silent.
  func beginRequest(of id: AudioElement.ID) {
    let policy = interruptionPolicy
    changeInterruptions { $0.requested[id] = policy }
  }

  /// Notes that a server asks these elements no longer, or that the elements have gone.
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
      if let after { interruptionChanged(after) }
      for output in outputs {
        output.apply()
        output.interruptionChanged()
      }
      if after == nil { interruptionChanged(nil) }
    }
  }

  // MARK: - Pipelines

  /// Adds the audio elements of a pipeline that starts.
  func attach(_ output: any AudioOutput) {
    state.withLock { $0.outputs[ObjectIdentifier(output)] = output }
    output.apply()
  }

  /// Removes the audio elements of a pipeline that has ended.
  func detach(_ output: any AudioOutput) {
    state.withLock { _ = $0.outputs.removeValue(forKey: ObjectIdentifier(output)) }
  }
}

/// The audio elements of a pipeline that runs now, as a session sees them.
protocol AudioOutput: AnyObject, Sendable {
  /// Pauses or resumes the pipeline as the session says. Any thread may call it.
  var interruptionChanged: @Sendable () -> Void { get }

  /// Whether a stream has something that its volume can be set on; nil for a stream of another pipeline.
  func hasVolume(_ id: StreamID) -> Bool?

  /// Sets everything as the session wants it.
  func apply()
}

/// What an app's sound is for. Desktops route, lower and mute streams by it.
public enum AudioCategory: String, CaseIterable, Sendable {
  /// Films and other recordings; the media role "video".
  case playback
  /// Calls; the media role "phone", with echo cancellation where the sound server has it. Servers lower or mute the
  /// sound of other apps meanwhile.
  case voiceChat = "voice-chat"

  /// The value of PulseAudio's property `media.role`, which PipeWire uses as well.
  var mediaRole: String {
    switch self {
    case .playback: "video"
    case .voiceChat: "phone"
    }
  }
}
