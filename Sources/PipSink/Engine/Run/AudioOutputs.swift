import CGStreamer

/// The audio elements of a pipeline that runs now.
final class AudioOutputs: AudioOutput {
  let interruptionChanged: @Sendable () -> Void
  private let session: AudioSession
  private let state = Locked(State())

  private struct State {
    /// From the start of its run to the end.
    var pipeline: Pipeline?
    var elements: [AudioElement.ID: AudioElement] = [:]
    var controlled: Set<StreamID> = []
    var handler: gulong = 0
  }

  init(of session: AudioSession, interruptionChanged: @escaping @Sendable () -> Void) {
    self.session = session
    self.interruptionChanged = interruptionChanged
  }

  func open(_ pipeline: Pipeline) {
    let handler = watchElements(of: pipeline)
    state.withLock { state in
      state.pipeline = pipeline
      state.handler = handler
    }
    for element in collectObjects(gst_bin_iterate_recurse(pipeline.element.asBin), as: GstElement.self) {
      _ = add(element)
    }
    session.attach(self)
  }

  func hasVolume(_ id: StreamID) -> Bool? {
    state.withLock { state in state.pipeline?.stream(id) == nil ? nil : state.controlled.contains(id) }
  }

  func apply() {
    state.withLock { state in
      guard let pipeline = state.pipeline else { return }
      let controls = pipeline.volumeControls(Array(state.elements.values))
      let chosen = Dictionary(uniqueKeysWithValues: controls.map { ($0.element.id, $0) })
      state.controlled = Set(controls.compactMap(\.owner))
      for (id, element) in state.elements {
        element.take(chosen[id].map { session.wish(for: $0.owner, takesOverall: $0.takesOverall) } ?? .init())
        let (category, applicationName) = session.streamProperties
        element.take(category, applicationName: applicationName)
      }
    }
  }

  /// Forgets what has been taken out of the pipeline.
  func removeLost() {
    let lost = state.withLock { state in
      guard let pipeline = state.pipeline else { return [AudioElement.ID]() }
      let lost = state.elements.values.filter { !pipeline.contains($0.pointer.asObject) }.map(\.id)
      for id in lost { state.elements[id] = nil }
      return lost
    }
    session.endRequests(of: lost)
    apply()
  }

  /// Comes before the pipeline's own end. Does nothing when it has been done.
  func close() {
    session.detach(self)
    // Elements are let go after the lock.
    let elements = state.withLock { state in
      if let pipeline = state.pipeline { g_signal_handler_disconnect(pipeline.element, state.handler) }
      state.pipeline = nil
      defer { state.elements = [:] }
      return state.elements
    }
    session.endRequests(of: Array(elements.keys))
  }

  // MARK: - What a server does

  /// - Returns: false for an element that is none of these.
  func setSilencedByServer(_ id: AudioElement.ID, _ isSilenced: Bool) -> Bool {
    state.withLock { state in
      guard let element = state.elements[id] else { return false }
      element.isSilencedByServer = isSilenced
      if !isSilenced { element.restoreMute() }
      return true
    }
  }

  /// Whether a server that had silenced an element has stopped doing so.
  func isAudibleAgain(_ id: AudioElement.ID) -> Bool {
    state.withLock { state in
      guard let element = state.elements[id] else { return false }
      return element.isSilencedByServer && !element.isMuted
    }
  }

  // MARK: - Elements that come later

  /// - Parameter element: with a reference that is taken over.
  private func add(_ element: GstElementPointer) -> Bool {
    guard let element = AudioElement(owning: element) else { return false }
    state.withLock { state in
      if state.pipeline != nil { state.elements[element.id] = element }
    }
    return true
  }

  private typealias AddedHandler =
    @convention(c) (GstElementPointer, GstElementPointer, GstElementPointer, UnsafeMutableRawPointer?) -> Void

  /// An autoaudiosink makes its sink when it starts.
  private static let elementAdded: AddedHandler = { _, _, element, context in
    guard let context else { return }
    let outputs = Unmanaged<AudioOutputs>.fromOpaque(context).takeUnretainedValue()
    gst_object_ref(element)
    if outputs.add(element) { outputs.apply() }
  }

  private func watchElements(of pipeline: Pipeline) -> gulong {
    let handler = unsafeBitCast(Self.elementAdded, to: GCallback.self)
    return g_signal_connect_data(
      pipeline.element, "deep-element-added", handler, Unmanaged.passRetained(self).toOpaque(),
      { context, _ in if let context { Unmanaged<AudioOutputs>.fromOpaque(context).release() } },
      GConnectFlags(rawValue: 0))
  }
}
