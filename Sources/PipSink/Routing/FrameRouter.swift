/// Sends every frame of every stream to exactly one surface, by the mode and the picture-in-picture stream ID.
///
/// A switch publishes a new ``RoutingTable`` whole. Frames never wait for a switch of another stream, and at no moment
/// do two streams reach the picture-in-picture surface. All calls are allowed from every thread, except from within a
/// destination.
public final class FrameRouter: Sendable {
  private let pictureInPicture: (any SampleBufferDestination)?
  /// Serialises switches; no frame takes this lock.
  private let control: Locked<Control>

  private struct Control {
    var table: RoutingTable
    var routes: [StreamRoute] = []

    func route(_ id: StreamID?) -> StreamRoute? {
      routes.first { $0.streamID == id }
    }
  }

  /// - Parameters:
  ///   - table: the routing at the start.
  ///   - pictureInPicture: the surface of picture-in-picture; nil to count its frames only.
  public init(table: RoutingTable = RoutingTable(), pictureInPicture: (any SampleBufferDestination)? = nil) {
    self.pictureInPicture = pictureInPicture
    control = Locked(Control(table: table))
  }

  public var table: RoutingTable { control.withLock { $0.table } }

  /// Adds a stream.
  ///
  /// - Parameter inApp: its own surface in the app; nil to count its frames only.
  /// - Returns: what the stream's frames are to be given to. For a stream that was added before, the consumer it has.
  @discardableResult
  public func addStream(
    _ streamID: StreamID, inApp: (any SampleBufferDestination)? = nil
  ) -> any SampleBufferConsumer {
    control.withLock { control in
      if let route = control.route(streamID) {
        route.beginRun()
        return route
      }
      let route = StreamRoute(
        streamID: streamID, surface: control.table.surface(for: streamID), inApp: inApp,
        pictureInPicture: pictureInPicture)
      control.routes.append(route)
      return route
    }
  }

  /// The consumer of a stream, for ``VideoEngine``; the stream is added, without an in-app surface, when it is new.
  public func consumer(for streamID: StreamID) -> any SampleBufferConsumer {
    addStream(streamID)
  }

  /// Picture-in-picture for this stream; whichever was there before goes back to the app.
  ///
  /// - Throws: ``PipSinkError/unknownStream(_:known:)``, and then nothing has changed.
  public func enterPictureInPicture(_ streamID: StreamID) throws(PipSinkError) {
    try switchTo(RoutingTable(mode: .pictureInPicture, pictureInPictureStreamID: streamID))
  }

  /// Every stream in the app. The picture-in-picture stream stays chosen.
  public func leavePictureInPicture() {
    let requestedAt = MonotonicTime.now
    control.withLock { control in
      let chosen = control.table.pictureInPictureStreamID
      publish(RoutingTable(mode: .normal, pictureInPictureStreamID: chosen), in: &control, requestedAt: requestedAt)
    }
  }

  /// Publishes a new table and moves the streams that it moves.
  ///
  /// - Throws: ``PipSinkError/unknownStream(_:known:)`` for a stream that was not added, and then nothing has changed.
  public func switchTo(_ table: RoutingTable) throws(PipSinkError) {
    let requestedAt = MonotonicTime.now
    try control.withLock { control throws(PipSinkError) in
      if let id = table.pictureInPictureStreamID, control.route(id) == nil {
        throw .unknownStream(id, known: control.routes.map(\.streamID))
      }
      publish(table, in: &control, requestedAt: requestedAt)
    }
  }

  private func publish(_ table: RoutingTable, in control: inout Control, requestedAt: MonotonicTime) {
    let leaving = control.routes.filter { table.surface(for: $0.streamID) == .inApp }
    let entering = control.routes.filter { table.surface(for: $0.streamID) == .pictureInPicture }
    control.table = table
    // In this order no frame of the one that leaves can come to the surface after a frame of the one that enters.
    for route in leaving { route.move(to: .inApp, requestedAt: requestedAt) }
    for route in entering { route.move(to: .pictureInPicture, requestedAt: requestedAt) }
  }

  // MARK: - What happened so far

  public func statistics(of streamID: StreamID) -> StreamStatistics? {
    control.withLock { $0.route(streamID) }?.statistics
  }

  /// The newest frame of a stream, whichever surface it went to.
  public func latestSampleBuffer(of streamID: StreamID) -> SampleBuffer? {
    control.withLock { $0.route(streamID) }?.latest
  }

  /// Every stream's moves between surfaces, in the order they happened: of those that one switch made, who left comes
  /// first.
  public var changes: [SurfaceChange] {
    control.withLock { $0.routes }.flatMap(\.changes).sorted {
      ($0.requestedAt, $0.to == .inApp ? 0 : 1) < ($1.requestedAt, $1.to == .inApp ? 0 : 1)
    }
  }
}
