import CGStreamer

/// The audio elements of a running pipeline, to which the audio session applies volumes and stream properties.
final class AudioOutputs: AudioOutput {
  let interruptionChanged: @Sendable () -> Void
  private let session: AudioSession
  private let state = Locked(State())

  private struct State {
    /// The pipeline, from the start of its run to its end.
    var pipeline: Pipeline?
    var elements: [AudioElement.ID: AudioElement] = [:]
    /// The streams whose volume an element controls.
    var controlled: Set<StreamID> = []
    /// The signal handler for elements that are added later.
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
        element.take(chosen[id].map { session.settings(for: $0.owner, takesOverall: $0.takesOverall) } ?? .init())
        let (category, applicationName) = session.streamProperties
        element.take(category, applicationName: applicationName)
      }
    }
  }

  /// Forgets the elements that have been removed from the pipeline.
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

  /// Detaches the elements from the audio session, before the pipeline stops. A second call does nothing.
  func close() {
    session.detach(self)
    // The elements are released after the lock.
    let elements = state.withLock { state in
      if let pipeline = state.pipeline { g_signal_handler_disconnect(pipeline.element, state.handler) }
      state.pipeline = nil
      defer { state.elements = [:] }
      return state.elements
    }
    session.endRequests(of: Array(elements.keys))
  }

  // MARK: - What a sound server does

  /// Notes whether the sound server has silenced an element.
  ///
  /// - Returns: false for an element that is not one of these.
  func setSilencedByServer(_ id: AudioElement.ID, _ isSilenced: Bool) -> Bool {
    state.withLock { state in
      guard let element = state.elements[id] else { return false }
      element.isSilencedByServer = isSilenced
      if !isSilenced { element.restoreMute() }
      return true
    }
  }

  /// Whether the sound server had silenced an element and no longer does.
  func isAudibleAgain(_ id: AudioElement.ID) -> Bool {
    state.withLock { state in
      guard let element = state.elements[id] else { return false }
      return element.isSilencedByServer && !element.isMuted
    }
  }

  // MARK: - Elements that come later

  /// Adds an element if it has to do with sound.
  ///
  /// - Parameter element: ownership of one reference passes to this object.
  /// - Returns: whether the element was added.
  private func add(_ element: GstElementPointer) -> Bool {
    guard let element = AudioElement(owning: element) else { return false }
    state.withLock { state in
      if state.pipeline != nil { state.elements[element.id] = element }
    }
    return true
  }

  private typealias AddedHandler =
    @convention(c) (GstElementPointer, GstElementPointer, GstElementPointer, UnsafeMutableRawPointer?) -> Void

  /// Handles elements that are added while the pipeline runs; an autoaudiosink, for instance, makes its sink when it
  /// starts.
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
