/// One stream's way to its surface: the part of the router that the stream's streaming thread goes through.
///
/// It has its own lock, held for a few instructions a frame, and knows its current surface, so that no frame takes a
/// lock that other streams share. A switch goes through ``move(to:requestedAt:)`` under the same lock, between two
/// frames.
final class StreamRoute: SampleBufferConsumer {
  let streamID: StreamID
  fileprivate let state: Locked<State>

  fileprivate struct State {
    var surface: SurfaceKind
    let inApp: (any SampleBufferDestination)?
    let pictureInPicture: (any SampleBufferDestination)?
    var latest: SampleBuffer?
    var statistics = StreamStatistics()
    var lastSequenceNumber: UInt64 = 0
    var changes: [Change] = []
    /// Whether the last change waits for the first frame that is routed to the new surface.
    var isChangeOpen = false

    func destination(_ surface: SurfaceKind) -> (any SampleBufferDestination)? {
      surface == .inApp ? inApp : pictureInPicture
    }
  }

  /// A move, and the moment that the new surface's presenting thread reports. The moment is an object of its own, which
  /// the surface may keep: a reference to the route would be a circle, and a weak one makes every use of it slower.
  fileprivate struct Change {
    var change: SurfaceChange
    let presentedAt = Locked<MonotonicTime?>(nil)
  }

  init(
    streamID: StreamID, surface: SurfaceKind, inApp: (any SampleBufferDestination)?,
    pictureInPicture: (any SampleBufferDestination)?
  ) {
    self.streamID = streamID
    state = Locked(State(surface: surface, inApp: inApp, pictureInPicture: pictureInPicture))
  }

  func consume(_ sampleBuffer: SampleBuffer) {
    let now = MonotonicTime.now
    // The frame that is replaced as the latest is let go outside of the lock: it may be the last reference to its
    // memory.
    let previous = state.withLock { state -> SampleBuffer? in
      let replaced = state.destination(state.surface)?.enqueue(sampleBuffer) ?? false
      state.statistics.countFrame(to: state.surface, at: now, format: sampleBuffer.formatDescription)
      if replaced { state.statistics.replaced += 1 }
      if state.isChangeOpen { state.measureChange(firstFrame: sampleBuffer.sequenceNumber) }
      state.lastSequenceNumber = sampleBuffer.sequenceNumber
      let previous = state.latest
      state.latest = sampleBuffer
      return previous
    }
    _ = previous
  }

  /// Sends the stream to `surface` from its next frame on, and shows its latest one there at once.
  func move(to surface: SurfaceKind, requestedAt: MonotonicTime) {
    state.withLock { state in
      guard surface != state.surface else { return }
      let old = state.surface
      let change = Change(
        change: SurfaceChange(streamID: streamID, from: old, to: surface, requestedAt: requestedAt))
      state.changes.append(change)
      state.isChangeOpen = true
      state.surface = surface
      // The in-app surface keeps its last picture; the picture-in-picture surface must not go on showing somebody who
      // left it.
      let waiting = state.destination(old)?.relinquish(removingImage: old == .pictureInPicture)
      let presentedAt = change.presentedAt
      state.destination(surface)?.begin(with: waiting ?? state.latest, isFresh: waiting != nil) { moment in
        presentedAt.withLock { $0 = moment }
      }
      if waiting != nil, state.destination(surface) == nil { state.statistics.replaced += 1 }
    }
  }

  /// The next run of the engine counts its frames from 1 again.
  func beginRun() {
    state.withLock { state in
      state.lastSequenceNumber = 0
      state.isChangeOpen = false
      state.statistics.forgetLastArrival()
    }
  }

  var statistics: StreamStatistics { state.withLock { $0.statistics } }

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
  fileprivate mutating func measureChange(firstFrame: UInt64) {
    isChangeOpen = false
    // The first frame of a run has none before it.
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
