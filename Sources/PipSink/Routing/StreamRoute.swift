/// The path of one stream to its surface, which is the part of the router that runs on the stream's streaming thread.
///
/// It knows the stream's current surface and has a lock of its own, which is held for a few instructions per frame, so
/// that no frame takes a lock that streams share. A switch calls ``move`` under the same lock, between two frames.
final class StreamRoute: SampleBufferConsumer {
  let streamID: StreamID
  fileprivate let state: Locked<State>
  private let tally: PresentationTally
  let conversions = FrameConversions()
  private let notice: DemandNotice

  fileprivate struct State {
    var placement: RoutingTable.Placement
    var inApp: (any SampleBufferDestination)?
    /// The picture-in-picture surface that shows the stream.
    var pictureInPicture: (any SampleBufferDestination)?
    /// Further destinations, which get every frame in every mode.
    var others: [any SampleBufferDestination] = []
    var latest: SampleBuffer?
    var statistics = StreamStatistics()
    var lastSequenceNumber: UInt64 = 0
    var changes: [Change] = []
    /// Whether no frame has been routed since the last change.
    var isChangeOpen = false
    /// Whether somebody is to be told of the next frame.
    var awaitsFrame = true
    /// Whether the stream was removed.
    var isClosed = false

    var surface: SurfaceKind { placement.kind }
    var destination: (any SampleBufferDestination)? { placement.surface == nil ? inApp : pictureInPicture }
  }

  fileprivate static let changeLimit = 1000

  /// A move, and the moment of the first picture, which the new surface's presenting thread sets. The moment is a
  /// separate object, since a strong reference from the surface to the route would be a cycle, and a weak one would
  /// make every use of the route slower.
  fileprivate struct Change {
    var change: SurfaceChange
    let presentedAt = Locked<MonotonicTime?>(nil)
  }

  private let broadcast: Broadcast<SurfaceChange>
  private let awaitedFrames: Broadcast<StreamID>

  init(
    streamID: StreamID, placement: RoutingTable.Placement, inApp: (any SampleBufferDestination)?,
    pictureInPicture: (any SampleBufferDestination)?, broadcast: Broadcast<SurfaceChange>,
    awaitedFrames: Broadcast<StreamID>, failures: Broadcast<SurfaceFailure>, notice: DemandNotice
  ) {
    self.streamID = streamID
    self.notice = notice
    tally = PresentationTally { failures.send(SurfaceFailure(streamID: streamID, error: $0)) }
    self.broadcast = broadcast
    self.awaitedFrames = awaitedFrames
    state = Locked(State(placement: placement, inApp: inApp, pictureInPicture: pictureInPicture))
    inApp?.report(to: tally, sharing: conversions, notifying: notice)
    pictureInPicture?.report(to: tally, sharing: conversions, notifying: notice)
  }

  func consume(_ sampleBuffer: consuming SampleBuffer) {
    let now = sampleBuffer.receivedAt ?? .now
    // The previous latest frame is released outside of the lock, since it may be the last reference to its memory.
    let isAwaited = state.withLock { state in
      guard !state.isClosed else { return false }
      let replaced = state.enqueue(sampleBuffer)
      // A pause or a seek is no interval between two frames.
      if sampleBuffer.attachments.mustNotBeDropped { state.statistics.forgetLastArrival() }
      state.statistics.countFrame(to: state.surface, at: now)
      if replaced { state.statistics.replaced += 1 }
      if state.isChangeOpen { state.measureChange(firstFrame: sampleBuffer.sequenceNumber) }
      state.lastSequenceNumber = sampleBuffer.sequenceNumber
      if state.latest == nil { state.latest = sampleBuffer } else { swap(&state.latest!, &sampleBuffer) }
      guard state.awaitsFrame else { return false }
      state.awaitsFrame = false
      return true
    }
    if isAwaited { awaitedFrames.send(streamID) }
  }

  /// Moves the stream to another surface from its next frame on, and shows its latest frame there at once.
  ///
  /// - Parameter isRecorded: whether the move is one of ``changes``.
  func move(
    to placement: RoutingTable.Placement, _ pictureInPicture: (any SampleBufferDestination)?,
    requestedAt: MonotonicTime, isRecorded: Bool, presented: (@Sendable (MonotonicTime) -> Void)?
  ) {
    state.withLock { state in
      let old = state.placement
      guard placement != old else { return }
      let changesSurface = placement.surface != old.surface
      // First the stream leaves its old surface. A picture-in-picture surface must not keep a picture of it.
      var waiting: SampleBuffer?
      if old.surface != nil, changesSurface { waiting = state.pictureInPicture?.relinquish(removingImage: true) }
      if old.isInApp, !placement.isInApp {
        let inApp = state.inApp?.relinquish(removingImage: false)
        waiting = waiting ?? inApp
      }
      let change = changesSurface && isRecorded ? state.beginChange(of: streamID, to: placement.kind, requestedAt) : nil
      state.placement = placement
      state.pictureInPicture = pictureInPicture
      // Then it enters its new surface. If it stays in the app, a frame that waits there keeps waiting.
      if old.isInApp, placement.isInApp { waiting = nil }
      let reported = change.map { change in firstPicture(after: change, presented) }
      if placement.isInApp, !old.isInApp {
        state.inApp?.begin(
          with: waiting ?? state.latest, isFresh: waiting != nil, presented: placement.surface == nil ? reported : nil)
      }
      if placement.surface != nil, changesSurface {
        pictureInPicture?.report(to: tally, sharing: conversions, notifying: notice)
        pictureInPicture?.begin(with: waiting ?? state.latest, isFresh: waiting != nil, presented: reported)
      }
      if waiting != nil, changesSurface, state.destination == nil { state.statistics.replaced += 1 }
      // The surface in the app has got every frame already.
      if placement.surface == nil, old.isInApp { change?.presentedAt.withLock { $0 = .now } }
    }
  }

  /// The closure that the new surface calls with the moment of its first picture.
  private func firstPicture(
    after change: Change, _ presented: (@Sendable (MonotonicTime) -> Void)?
  ) -> @Sendable (MonotonicTime) -> Void {
    let (presentedAt, sent, broadcast) = (change.presentedAt, change.change, broadcast)
    return { moment in
      presentedAt.withLock { $0 = moment }
      var change = sent
      change.firstPresentedAt = moment
      broadcast.send(change)
      presented?(moment)
    }
  }

  /// Sets the stream's layer in the app from its next frame on, which begins with the newest frame.
  func setInApp(_ inApp: (any SampleBufferDestination)?) {
    let dropped = state.withLock { state -> SampleBuffer? in
      guard inApp !== state.inApp else { return nil }
      let waiting = state.inApp?.relinquish(removingImage: true)
      state.inApp = inApp
      inApp?.report(to: tally, sharing: conversions, notifying: notice)
      if state.placement.isInApp {
        inApp?.begin(with: waiting ?? state.latest, isFresh: waiting != nil, presented: nil)
        if waiting != nil, inApp == nil { state.statistics.replaced += 1 }
      }
      return waiting
    }
    _ = dropped
  }

  /// Shows the stream on the picture-in-picture surface that the table sends it to, and that was added later.
  func show(on pictureInPicture: any SampleBufferDestination) {
    state.withLock { state in
      state.pictureInPicture = pictureInPicture
      pictureInPicture.report(to: tally, sharing: conversions, notifying: notice)
      pictureInPicture.begin(with: state.latest, isFresh: false, presented: nil)
    }
  }

  /// Shows every frame on `destination` as well, beginning with the newest.
  ///
  /// - Returns: whether the stream has already delivered a frame.
  func add(_ destination: any SampleBufferDestination) -> Bool {
    state.withLock { state in
      guard !state.others.contains(where: { $0 === destination }) else { return state.latest != nil }
      state.others.append(destination)
      destination.report(to: nil, sharing: conversions, notifying: notice)
      if let latest = state.latest { destination.begin(with: latest, isFresh: false, presented: nil) }
      return state.latest != nil
    }
  }

  func remove(_ destination: any SampleBufferDestination) {
    let dropped = state.withLock { state -> SampleBuffer? in
      guard let index = state.others.firstIndex(where: { $0 === destination }) else { return nil }
      return state.others.remove(at: index).relinquish(removingImage: true)
    }
    _ = dropped
    conversions.forget()
  }

  /// Closes the route of a removed stream: its surfaces are cleared, and further frames are ignored.
  func close() {
    let dropped = state.withLock { state in
      let waiting = state.destination?.relinquish(removingImage: true)
      let dropped = (waiting, state.latest, state.others.map { $0.relinquish(removingImage: true) })
      state.others = []
      state.inApp = nil
      state.pictureInPicture = nil
      state.latest = nil
      state.statistics = StreamStatistics()
      state.isClosed = true
      return dropped
    }
    _ = dropped
    conversions.forget()
  }

  /// The destinations that show every frame, wherever the stream is.
  var others: [any SampleBufferDestination] { state.withLock { $0.others } }

  var placement: RoutingTable.Placement { state.withLock { $0.placement } }

  /// Changes how the stream's frames are shown from now on, including the pictures that are shown at the moment.
  func set<Value: Equatable>(_ property: ReferenceWritableKeyPath<FrameConversions, Value>, to value: Value) {
    guard conversions[keyPath: property] != value else { return }
    conversions[keyPath: property] = value
    for surface in state.withLock(\.surfaces) { surface.redraw() }
  }

  /// The size in pixels of the largest surface that shows the stream.
  var surfaceSize: PictureSize? {
    let sizes = state.withLock(\.surfaces).compactMap(\.bounds)
    return sizes.max { $0.width * $0.height < $1.width * $1.height }
  }

  /// How large the stream's frames have to be for all surfaces that show them.
  ///
  /// - Parameter countingHidden: whether surfaces count that nobody can see now.
  func demand(countingHidden: Bool) -> StreamDemand {
    let (surfaces, orientation) = state.withLock { ($0.surfaces, $0.latest?.orientation ?? .upright) }
    return surfaces.reduce(StreamDemand.hidden) { $0.union($1.demand(countingHidden: countingHidden)) }.turned(
      by: orientation)
  }

  /// Begins another run of the stream, whose frames are numbered from 1 again.
  func beginRun() {
    state.withLock { state in
      state.lastSequenceNumber = 0
      state.isChangeOpen = false
      state.statistics.forgetLastArrival()
    }
  }

  /// Whether the next frame is told of, as the first one is.
  var awaitsFrame: Bool {
    get { state.withLock { $0.awaitsFrame } }
    set { state.withLock { $0.awaitsFrame = newValue } }
  }

  var statistics: StreamStatistics {
    state.withLock { state in
      var statistics = state.statistics
      statistics.format = state.latest?.formatDescription
      return statistics
    }
  }

  /// Says whether frames may stay away for a reason that is known.
  func setGapExpected(_ isExpected: Bool) {
    state.withLock { $0.statistics.setGapExpected(isExpected, at: .now) }
  }

  /// The flow of a stream's frames at a moment.
  struct Flow {
    /// The number of frames that have come.
    let received: UInt64
    /// The format of the newest frame; nil before the first one.
    let format: VideoFormatDescription?
    /// When the stream would be frozen if no frame came; nil while that is not known, or no freeze.
    let freezesAt: MonotonicTime?
  }

  var flow: Flow {
    state.withLock { state in
      Flow(
        received: state.statistics.received, format: state.latest?.formatDescription,
        freezesAt: state.statistics.freezesAt)
    }
  }

  /// The counts of what the surfaces have done with the stream's frames.
  var presentations: PresentationTally.Counts { tally.counts }

  var changes: [SurfaceChange] {
    state.withLock { $0.changes }.map { record in
      var change = record.change
      change.firstPresentedAt = record.presentedAt.withLock { $0 }
      return change
    }
  }

  var latest: SampleBuffer? { state.withLock { $0.latest } }
}

extension StreamRoute.State {
  /// The surfaces that show the stream now.
  fileprivate var surfaces: [any SampleBufferDestination] {
    [placement.isInApp ? inApp : nil, placement.surface == nil ? nil : pictureInPicture].compactMap(\.self) + others
  }

  /// Passes a frame to all surfaces that show the stream.
  ///
  /// - Returns: whether the frame replaces one that will never be shown.
  @inline(__always)
  fileprivate mutating func enqueue(_ sampleBuffer: SampleBuffer) -> Bool {
    // The check saves time, since a loop over an empty array would still retain the array.
    if !others.isEmpty { for other in others { other.enqueue(sampleBuffer) } }
    guard placement.surface != nil else { return inApp?.enqueue(sampleBuffer) ?? false }
    let replaced = pictureInPicture?.enqueue(sampleBuffer) ?? false
    if placement.keepsShowingInApp { inApp?.enqueue(sampleBuffer) }
    return replaced
  }

  /// Notes a move. The next frame shows how many frames the move has lost or repeated.
  fileprivate mutating func beginChange(
    of streamID: StreamID, to kind: SurfaceKind, _ requestedAt: MonotonicTime
  ) -> StreamRoute.Change {
    let change = StreamRoute.Change(
      change: SurfaceChange(streamID: streamID, from: surface, to: kind, requestedAt: requestedAt))
    changes.append(change)
    if changes.count > StreamRoute.changeLimit { changes.removeFirst() }
    isChangeOpen = true
    return change
  }

  fileprivate mutating func measureChange(firstFrame: UInt64) {
    isChangeOpen = false
    // There is no frame before the first one of a run.
    guard lastSequenceNumber > 0 else { return }
    let index = changes.count - 1
    let expected = lastSequenceNumber + 1
    if firstFrame > expected {
      changes[index].change.framesLost = firstFrame - expected
    } else {
      changes[index].change.framesRepeated = expected - firstFrame
    }
  }
}
