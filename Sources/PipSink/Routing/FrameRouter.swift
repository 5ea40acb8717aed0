import Logging

/// Sends every frame of every stream to exactly one surface, by the mode and the picture-in-picture stream ID; to two
/// only where that is asked for (`keepsShowingInApp`).
///
/// A switch publishes a new ``RoutingTable`` whole. Frames never wait for a switch of another stream, and at no moment
/// do two streams reach one picture-in-picture surface. All calls are allowed from every thread, except from within a
/// destination.
public final class FrameRouter: Sendable {
  /// Serialises switches; no frame takes this lock.
  private let control: Locked<Control>
  private let broadcast = Broadcast<SurfaceChange>()
  private let firstFrameBroadcast = Broadcast<StreamID>()
  private let logger: Logger

  private struct Control {
    var table: RoutingTable
    var routes: [StreamRoute] = []
    var surfaces: [PictureInPictureSurfaceID: any SampleBufferDestination]
    /// Destinations of streams that are yet to come.
    var awaiting: [StreamID: [any SampleBufferDestination]] = [:]
    var lastSurfaceNumber = 0
    var keepsInAppPictures = true

    func route(_ id: StreamID?) -> StreamRoute? {
      routes.first { $0.streamID == id }
    }

    func destination(of placement: RoutingTable.Placement) -> (any SampleBufferDestination)? {
      placement.surface.flatMap { surfaces[$0] }
    }
  }

  /// - Parameter destination: the primary surface of picture-in-picture.
  init(
    table: RoutingTable = RoutingTable(), destination: (any SampleBufferDestination)?,
    logger: Logger = Logger(visible: "pipsink.routing")
  ) {
    self.logger = logger
    control = Locked(Control(table: table, surfaces: [.primary: destination].compactMapValues(\.self)))
  }

  public var table: RoutingTable { control.withLock { $0.table } }

  /// Whether an in-app surface keeps its last picture when its stream goes to picture-in-picture; otherwise it is
  /// cleared.
  public var keepsInAppPictures: Bool {
    get { control.withLock { $0.keepsInAppPictures } }
    set { control.withLock { $0.keepsInAppPictures = newValue } }
  }

  // MARK: - Streams and surfaces

  /// A stream's way in: what an engine, a processor chain or a ``StreamInput`` gives its frames to. A stream that is
  /// new is added, with its frames counted only, until ``setLayer(_:for:)`` gives it a place in the app. For a stream
  /// that is there, the frames of another run begin, with numbers of their own.
  ///
  /// - Returns: what takes the frames, one at a time and in their order; the same one until the stream is removed.
  @discardableResult
  public func input(for streamID: StreamID) -> any SampleBufferConsumer {
    control.withLock { control in
      let known = control.route(streamID)
      known?.beginRun()
      return known ?? add(streamID, inApp: nil, to: &control)
    }
  }

  /// Shows a stream on another surface in the app, or counts its frames only; the stream is added when it is new.
  func setDestination(_ inApp: (any SampleBufferDestination)?, for streamID: StreamID) {
    control.withLock { control in
      if let route = control.route(streamID) {
        route.setInApp(inApp)
      } else {
        add(streamID, inApp: inApp, to: &control)
      }
    }
  }

  @discardableResult
  private func add(
    _ streamID: StreamID, inApp: (any SampleBufferDestination)?, to control: inout Control
  ) -> StreamRoute {
    let placement = control.table.placement(of: streamID)
    let route = StreamRoute(
      streamID: streamID, placement: placement, inApp: inApp, pictureInPicture: control.destination(of: placement),
      broadcast: broadcast, firstFrames: firstFrameBroadcast)
    for destination in control.awaiting.removeValue(forKey: streamID) ?? [] { _ = route.add(destination) }
    control.routes.append(route)
    return route
  }

  /// Shows every frame of a stream on `destination` as well, also of one that is yet to come.
  ///
  /// - Returns: whether the stream has delivered a frame.
  func addDestination(_ destination: any SampleBufferDestination, for streamID: StreamID) -> Bool {
    control.withLock { control in
      if let route = control.route(streamID) { return route.add(destination) }
      if control.awaiting[streamID]?.contains(where: { $0 === destination }) != true {
        control.awaiting[streamID, default: []].append(destination)
        let known = control.routes.map { "\"\($0.streamID)\"" }.sorted().joined(separator: ", ")
        logger.notice(
          "a surface waits for stream \"\(streamID)\", which is not there; \(known.isEmpty ? "there is none" : "there are \(known)")"
        )
      }
      return false
    }
  }

  func removeDestination(_ destination: any SampleBufferDestination, for streamID: StreamID) {
    control.withLock { control in
      control.awaiting[streamID]?.removeAll { $0 === destination }
      if control.awaiting[streamID]?.isEmpty == true { control.awaiting[streamID] = nil }
      control.route(streamID)?.remove(destination)
    }
  }

  /// Forgets a stream that is gone: its surfaces show nothing of it any more, and its consumer's frames go nowhere. One
  /// that comes back under its ID is a new stream.
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

  /// Adds a picture-in-picture surface: the primary one where there is none, another otherwise.
  func addSurface(_ destination: any SampleBufferDestination) -> PictureInPictureSurfaceID {
    control.withLock { control in
      var id = PictureInPictureSurfaceID.primary
      if control.surfaces[id] != nil {
        control.lastSurfaceNumber += 1
        id = PictureInPictureSurfaceID(number: control.lastSurfaceNumber)
      }
      control.surfaces[id] = destination
      // A stream may have been sent there before there was a surface.
      for route in control.routes where route.placement.surface == id { route.show(on: destination) }
      return id
    }
  }

  /// The surface's stream goes back to the app, and the surface is forgotten.
  public func removePictureInPictureSurface(_ surface: PictureInPictureSurfaceID) {
    leavePictureInPicture(on: surface)
    control.withLock { _ = $0.surfaces.removeValue(forKey: surface) }
  }

  /// Changes a stream's colours on all surfaces, from the pictures on that are shown. Other consumers of its frames see
  /// them as they are. It costs nothing while it is neutral; a stream that was not added is left alone.
  public func setColorBalance(_ balance: ColorBalance, for streamID: StreamID) {
    control.withLock { $0.route(streamID) }?.setColorBalance(balance)
  }

  /// The size in pixels of the surface that shows a stream's next frame; nil where none does, or it has no size yet. Of
  /// a stream that is in picture-in-picture and in the app, the larger one.
  package func surfaceSize(of streamID: StreamID) -> PictureSize? {
    control.withLock { $0.route(streamID) }?.surfaceSize
  }

  // MARK: - Switches

  /// Picture-in-picture for this stream; whichever was on that surface before goes back to the app.
  ///
  /// - Parameters:
  ///   - keepsShowingInApp: whether its frames go to the in-app surface as well.
  ///   - presented: called once, on the presenting thread, when the surface has presented its first picture of the
  ///     stream; dropped without a call when it never does.
  /// - Throws: ``PipSinkError/Stream/unknown(_:known:)``, and then nothing has changed.
  public func enterPictureInPicture(
    _ streamID: StreamID, on surface: PictureInPictureSurfaceID = .primary, keepsShowingInApp: Bool = false,
    presented: (@Sendable (MonotonicTime) -> Void)? = nil
  ) throws(PipSinkError) {
    try change(presented) { $0.showing(streamID, on: surface, keepsShowingInApp: keepsShowingInApp) }
  }

  /// The surface's stream goes back to the app. It stays chosen for the primary surface.
  public func leavePictureInPicture(on surface: PictureInPictureSurfaceID = .primary) {
    let requestedAt = MonotonicTime.now
    control.withLock { control in publish(control.table.clearing(surface), in: &control, requestedAt, nil) }
  }

  /// Publishes a new table and moves the streams that it moves.
  ///
  /// - Throws: ``PipSinkError/Stream/unknown(_:known:)`` for a stream that was not added, and then nothing has changed.
  public func switchTo(_ table: RoutingTable) throws(PipSinkError) {
    try change(nil) { _ in table }
  }

  private func change(
    _ presented: (@Sendable (MonotonicTime) -> Void)?, _ body: (RoutingTable) -> RoutingTable
  ) throws(PipSinkError) {
    let requestedAt = MonotonicTime.now
    try control.withLock { control throws(PipSinkError) in
      let table = body(control.table)
      let named = table.entries.values.map(\.streamID) + [table.pictureInPictureStreamID].compactMap(\.self)
      for id in named where control.route(id) == nil {
        throw .stream(.unknown(id, known: control.routes.map(\.streamID)))
      }
      publish(table, in: &control, requestedAt, presented)
    }
  }

  private func publish(
    _ table: RoutingTable, in control: inout Control, _ requestedAt: MonotonicTime,
    _ presented: (@Sendable (MonotonicTime) -> Void)?
  ) {
    control.table = table
    var moving = control.routes.filter { $0.placement != table.placement(of: $0.streamID) }
    func move(_ route: StreamRoute, to placement: RoutingTable.Placement) {
      logger.debug("stream \"\(route.streamID)\" goes to \(placement.kind)")
      let isEntering = placement.surface != nil && placement == table.placement(of: route.streamID)
      route.move(
        to: placement, control.destination(of: placement), keepsInAppPicture: control.keepsInAppPictures,
        requestedAt: requestedAt, presented: isEntering ? presented : nil)
    }
    // Who leaves a surface leaves before another enters it: so no two streams ever reach it at once.
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
        // They go round in a circle: one makes room.
        move(moving[0], to: RoutingTable.Placement())
      }
    }
  }

  // MARK: - What happened so far

  public func statistics(of streamID: StreamID) -> StreamStatistics? {
    control.withLock { $0.route(streamID) }?.statistics
  }

  /// Everything that is counted and measured of a stream; nil of one that was not added.
  ///
  /// - Parameters:
  ///   - info: what its engine knows of it (``VideoEngine/info(of:)``), for the frames that never reached the router.
  ///   - processing: of its ``ProcessorChain``, where it has one.
  public func renderStatistics(
    of streamID: StreamID, info: StreamInfo? = nil, processing: ProcessorChain.Statistics? = nil
  ) -> RenderStatistics? {
    guard let route = control.withLock({ $0.route(streamID) }) else { return nil }
    return RenderStatistics(
      streamID, route.statistics, route.presentations, lastHandover: route.changes.last, info: info,
      processing: processing)
  }

  /// The newest frame of a stream, whichever surface it went to.
  public func latestSampleBuffer(of streamID: StreamID) -> SampleBuffer? {
    control.withLock { $0.route(streamID) }?.latest
  }

  /// The streams, in the order that they were added.
  public var streamIDs: [StreamID] { control.withLock { $0.routes.map(\.streamID) } }

  /// Every stream's moves between surfaces, in the order they happened: of those that one switch made, who left comes
  /// first. The last thousand of each stream are kept.
  public var changes: [SurfaceChange] {
    control.withLock { $0.routes }.flatMap(\.changes).sorted {
      ($0.requestedAt, $0.to == .inApp ? 0 : 1) < ($1.requestedAt, $1.to == .inApp ? 0 : 1)
    }
  }

  /// The moves from now on, each when the new surface has presented its first picture; frames lost or repeated are not
  /// counted yet then (``changes`` has them). Each call gives a stream of its own.
  public func presentedChanges() -> AsyncStream<SurfaceChange> {
    broadcast.stream()
  }

  /// The streams whose first frame comes from now on. Each call gives a stream of its own.
  public func firstFrames() -> AsyncStream<StreamID> {
    firstFrameBroadcast.stream()
  }
}
