import Logging

/// Sends each frame of each stream to one surface: to a picture-in-picture surface where the stream is in
/// picture-in-picture, and to the stream's surface in the app otherwise. With `keepsShowingInApp`, frames go to both.
///
/// Frames never wait for a switch of another stream, and two streams never reach the same picture-in-picture surface at
/// the same time. All methods may be called from any thread, except from within a layer that is receiving a frame.
public final class FrameRouter: Sendable {
  /// The lock serialises switches. No frame takes it.
  private let control: Locked<Control>
  private let broadcast = Broadcast<SurfaceChange>()
  private let firstFrameBroadcast = Broadcast<StreamID>()
  private let failureBroadcast = Broadcast<SurfaceFailure>()
  private let logger: Logger
  /// Is given when a stream is shown somewhere else, or what shows it has changed.
  let demandNotice = DemandNotice()

  /// The state that switches change, which is behind the lock.
  private struct Control {
    var table: RoutingTable
    var routes: [StreamRoute] = []
    var surfaces: [PictureInPictureSurfaceID: any SampleBufferDestination]
    /// Destinations that wait for streams which have not been added yet.
    var awaiting: [StreamID: [any SampleBufferDestination]] = [:]
    var lastSurfaceNumber = 0

    func route(_ id: StreamID?) -> StreamRoute? {
      routes.first { $0.streamID == id }
    }

    func destination(of placement: RoutingTable.Placement) -> (any SampleBufferDestination)? {
      placement.surface.flatMap { surfaces[$0] }
    }
  }

  /// Makes a router without streams.
  ///
  /// - Parameters:
  ///   - table: the table to begin with.
  ///   - destination: the primary picture-in-picture surface; nil for none.
  ///   - logger: gets messages about switches.
  init(
    table: RoutingTable = RoutingTable(), destination: (any SampleBufferDestination)?,
    logger: Logger = Logger(visible: "pipsink.routing")
  ) {
    self.logger = logger
    control = Locked(Control(table: table, surfaces: [.primary: destination].compactMapValues(\.self)))
  }

  /// The current table.
  package var table: RoutingTable { control.withLock { $0.table } }

  func route(_ id: StreamID) -> StreamRoute? { control.withLock { $0.route(id) } }

  /// The routes of the streams, in the order in which they were added.
  var routes: [StreamRoute] { control.withLock { $0.routes } }

  // MARK: - Streams and surfaces

  /// The consumer for a stream's frames, to which an engine, a ``ProcessorChain`` or a ``StreamInput`` passes them.
  ///
  /// A new stream is added. Its frames are only counted until ``setLayer(_:for:)`` gives it a layer in the app. For a
  /// known stream, the call begins another run, whose frames are numbered from 1 again.
  ///
  /// - Parameter streamID: the stream's ID.
  /// - Returns: the consumer, which takes one frame at a time and in order. It is the same one until the stream is
  ///   removed.
  @discardableResult
  public func input(for streamID: StreamID) -> any SampleBufferConsumer {
    control.withLock { control in
      let known = control.route(streamID)
      known?.beginRun()
      return known ?? add(streamID, inApp: nil, to: &control)
    }
  }

  /// Sets a stream's surface in the app; with nil its frames are only counted. A new stream is added.
  func setDestination(_ inApp: (any SampleBufferDestination)?, for streamID: StreamID) {
    control.withLock { control in
      if let route = control.route(streamID) {
        route.setInApp(inApp)
      } else {
        add(streamID, inApp: inApp, to: &control)
      }
    }
    demandNotice()
  }

  @discardableResult
  private func add(
    _ streamID: StreamID, inApp: (any SampleBufferDestination)?, to control: inout Control
  ) -> StreamRoute {
    let placement = control.table.placement(of: streamID)
    let route = StreamRoute(
      streamID: streamID, placement: placement, inApp: inApp, pictureInPicture: control.destination(of: placement),
      broadcast: broadcast, awaitedFrames: firstFrameBroadcast, failures: failureBroadcast, notice: demandNotice)
    for destination in control.awaiting.removeValue(forKey: streamID) ?? [] { _ = route.add(destination) }
    control.routes.append(route)
    return route
  }

  /// Shows every frame of a stream on `destination` as well. The stream may be added later.
  ///
  /// - Returns: whether the stream has already delivered a frame.
  func addDestination(_ destination: any SampleBufferDestination, for streamID: StreamID) -> Bool {
    defer { demandNotice() }
    return control.withLock { control in
      if let route = control.route(streamID) { return route.add(destination) }
      if control.awaiting[streamID]?.contains(where: { $0 === destination }) != true {
        control.awaiting[streamID, default: []].append(destination)
        let known = control.routes.map { "\"\($0.streamID)\"" }.sorted().joined(separator: ", ")
        let streams = known.isEmpty ? "there are no streams" : "the streams are \(known)"
        logger.notice("a surface waits for stream \"\(streamID)\", which does not exist; \(streams)")
      }
      return false
    }
  }

  /// What ``addDestination(_:for:)`` has added for a stream.
  func addedDestinations(for streamID: StreamID) -> [any SampleBufferDestination] {
    control.withLock { $0.route(streamID)?.others ?? $0.awaiting[streamID] ?? [] }
  }

  func removeDestination(_ destination: any SampleBufferDestination, for streamID: StreamID) {
    defer { demandNotice() }
    control.withLock { control in
      control.awaiting[streamID]?.removeAll { $0 === destination }
      if control.awaiting[streamID]?.isEmpty == true { control.awaiting[streamID] = nil }
      control.route(streamID)?.remove(destination)
    }
  }

  /// Removes a stream. Its surfaces are cleared, and frames that its consumer still gets are ignored. When a stream
  /// with the same ID is added later, it is a new stream.
  public func removeStream(_ streamID: StreamID) {
    let requestedAt = MonotonicTime.now
    control.withLock { control in
      control.awaiting[streamID] = nil
      guard let route = control.route(streamID) else { return }
      publish(control.table.forgetting(streamID), in: &control, requestedAt, nil)
      control.routes.removeAll { $0 === route }
      route.close()
    }
  }

  /// Adds a picture-in-picture surface: the primary one if there is none yet, and another one otherwise.
  func addSurface(_ destination: any SampleBufferDestination) -> PictureInPictureSurfaceID {
    defer { demandNotice() }
    return control.withLock { control in
      var id = PictureInPictureSurfaceID.primary
      if control.surfaces[id] != nil {
        control.lastSurfaceNumber += 1
        id = PictureInPictureSurfaceID(number: control.lastSurfaceNumber)
      }
      control.surfaces[id] = destination
      // The table may have sent a stream there before the surface existed.
      for route in control.routes where route.placement.surface == id { route.show(on: destination) }
      return id
    }
  }

  /// Removes a picture-in-picture surface. Its stream moves back to the app.
  func removePictureInPictureSurface(_ surface: PictureInPictureSurfaceID) {
    leavePictureInPicture(on: surface)
    control.withLock { _ = $0.surfaces.removeValue(forKey: surface) }
  }

  /// Adjusts a stream's colours on all surfaces and attached layers that show it, including the pictures that are shown
  /// at the moment. Other consumers of its frames get them unchanged. A neutral balance costs nothing. The call has no
  /// effect on an unknown stream.
  package func setColorBalance(_ balance: ColorBalance, for streamID: StreamID) {
    route(streamID)?.set(\.colorBalance, to: balance)
  }

  /// Mirrors a stream's frames from now on where they are shown.
  func setMirrored(_ isMirrored: Bool, for streamID: StreamID) {
    route(streamID)?.set(\.isMirrored, to: isMirrored)
  }

  // MARK: - Switches

  /// Moves a stream to picture-in-picture. A stream that was shown there moves back to the app.
  ///
  /// - Parameters:
  ///   - streamID: the stream.
  ///   - keepsShowingInApp: whether its frames go to its layer in the app as well.
  /// - Throws: ``PipSinkError/Stream/unknown(_:known:)``. Then nothing has changed.
  public func enterPictureInPicture(_ streamID: StreamID, keepsShowingInApp: Bool = false) throws(PipSinkError) {
    try enterPictureInPicture(streamID, on: .primary, keepsShowingInApp: keepsShowingInApp)
  }

  /// Moves a stream to a picture-in-picture surface. A stream that was shown there moves back to the app.
  ///
  /// - Parameters:
  ///   - streamID: the stream.
  ///   - surface: the surface to show it on.
  ///   - keepsShowingInApp: whether its frames go to its surface in the app as well.
  ///   - presented: is called once, on the surface's presenting thread, with the moment when the surface has presented
  ///     its first picture of the stream. It is released without a call if that never happens.
  /// - Throws: ``PipSinkError/Stream/unknown(_:known:)``. Then nothing has changed.
  func enterPictureInPicture(
    _ streamID: StreamID, on surface: PictureInPictureSurfaceID = .primary, keepsShowingInApp: Bool = false,
    presented: (@Sendable (MonotonicTime) -> Void)? = nil
  ) throws(PipSinkError) {
    try change(presented) { $0.showing(streamID, on: surface, keepsShowingInApp: keepsShowingInApp) }
  }

  /// Sends a stream to a picture-in-picture surface from its first frame on. That is not recorded as a move.
  ///
  /// - Throws: ``PipSinkError/Stream/unknown(_:known:)``. Then nothing has changed.
  func preparePictureInPicture(
    _ streamID: StreamID, on surface: PictureInPictureSurfaceID, keepsShowingInApp: Bool
  ) throws(PipSinkError) {
    try change(nil, isRecorded: false) { $0.showing(streamID, on: surface, keepsShowingInApp: keepsShowingInApp) }
  }

  /// Moves the stream that is in picture-in-picture back to the app.
  public func leavePictureInPicture() { leavePictureInPicture(on: .primary) }

  /// Moves the stream of a picture-in-picture surface back to the app.
  func leavePictureInPicture(on surface: PictureInPictureSurfaceID) {
    let requestedAt = MonotonicTime.now
    control.withLock { control in publish(control.table.clearing(surface), in: &control, requestedAt, nil) }
  }

  /// Replaces the table, and moves the streams whose surfaces it changes.
  ///
  /// - Throws: ``PipSinkError/Stream/unknown(_:known:)`` if the table names a stream that was not added. Then nothing
  ///   has changed.
  func switchTo(_ table: RoutingTable) throws(PipSinkError) {
    try change(nil) { _ in table }
  }

  private func change(
    _ presented: (@Sendable (MonotonicTime) -> Void)?, isRecorded: Bool = true, _ body: (RoutingTable) -> RoutingTable
  ) throws(PipSinkError) {
    let requestedAt = MonotonicTime.now
    try control.withLock { control throws(PipSinkError) in
      let table = body(control.table)
      // The first table may have named a stream that does not exist yet.
      for id in table.streamIDs.subtracting(control.table.streamIDs) where control.route(id) == nil {
        throw .stream(.unknown(id, known: control.routes.map(\.streamID)))
      }
      publish(table, in: &control, requestedAt, presented, isRecorded: isRecorded)
    }
  }

  private func publish(
    _ table: RoutingTable, in control: inout Control, _ requestedAt: MonotonicTime,
    _ presented: (@Sendable (MonotonicTime) -> Void)?, isRecorded: Bool = true
  ) {
    control.table = table
    defer { demandNotice() }
    var moving = control.routes.filter { $0.placement != table.placement(of: $0.streamID) }
    func move(_ route: StreamRoute, to placement: RoutingTable.Placement) {
      logger.debug("stream \"\(route.streamID)\" goes to \(placement.kind)")
      let isEntering = placement.surface != nil && placement == table.placement(of: route.streamID)
      route.move(
        to: placement, control.destination(of: placement), requestedAt: requestedAt, isRecorded: isRecorded,
        presented: isEntering ? presented : nil)
    }
    // A stream leaves a surface before another one enters it, so that two streams never reach it at the same time.
    while !moving.isEmpty {
      let occupied = Set(control.routes.compactMap(\.placement.surface))
      let free = moving.firstIndex { route in
        let surface = table.placement(of: route.streamID).surface
        return surface == nil || surface == route.placement.surface || !occupied.contains(surface ?? .primary)
      }
      if let free {
        let route = moving.remove(at: free)
        move(route, to: table.placement(of: route.streamID))
      } else {
        // The remaining streams exchange their surfaces in a circle, so one of them has to leave first.
        move(moving[0], to: RoutingTable.Placement())
      }
    }
  }

  // MARK: - What happens

  /// A sequence of the moves from now on. Each is sent when the new surface has presented its first picture. At that
  /// time, lost and repeated frames have not been counted yet; ``changes`` has these counts. Each call returns an
  /// independent sequence.
  package func presentedChanges() -> AsyncStream<SurfaceChange> {
    broadcast.stream()
  }

  /// Has ``firstFrames()`` tell of the next frame of a stream, too.
  func awaitFrame(of streamID: StreamID) { route(streamID)?.awaitsFrame = true }

  /// Whether ``firstFrames()`` has yet to tell of a frame of a stream.
  func awaitsFrame(of streamID: StreamID) -> Bool {
    route(streamID)?.awaitsFrame ?? false
  }

  /// A sequence of the streams whose first frame comes from now on, and of those that come back after an end, a stall
  /// or a pause that their session knows of. Each call returns an independent sequence.
  func firstFrames() -> AsyncStream<StreamID> {
    firstFrameBroadcast.stream()
  }

  /// A sequence of the failures of the surfaces of all streams from now on, and of their ends.
  func surfaceFailures() -> AsyncStream<SurfaceFailure> { failureBroadcast.stream() }
}

/// A stream that cannot be shown where it is, or that can be shown again.
struct SurfaceFailure: Sendable {
  let streamID: StreamID
  /// Why the surface refuses the stream's frames; nil when it takes them again.
  let error: RenderingError?
}
