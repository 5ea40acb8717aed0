/// Brings a source's frames to a picture-in-picture window and back.
@MainActor
final class PictureInPictureHandover {
  private let kind: ContentSource.Kind
  /// The layer in the window.
  let layer: SampleBufferDisplayLayer
  /// The router's ID for the layer; nil for a layer of the app's.
  private let surface: PictureInPictureSurfaceID?
  /// The renderer that a layer of the app's returns to.
  private var home: (any VideoRenderer)?
  /// Whether frames go to the window.
  private(set) var isInside = false

  init(_ source: ContentSource, _ clock: SchedulingClock) {
    kind = source.kind
    switch source.kind {
    case .stream(let router, _, _):
      layer = SampleBufferDisplayLayer(name: "pip", clock: clock)
      surface = router.addPictureInPictureSurface(layer)
    case .displayLayer(let displayLayer):
      layer = displayLayer
      surface = nil
    }
  }

  isolated deinit {
    leave()
    layer.observeSizes(nil)
    if case .stream(let router, _, _) = kind, let surface { router.removePictureInPictureSurface(surface) }
  }

  /// The router that delivers the frames; nil for a layer of the app's.
  var router: FrameRouter? {
    if case .stream(let router, _, _) = kind { router } else { nil }
  }

  /// The stream whose frames go to the window; nil while none do, and for a layer of the app's. Another window may have
  /// taken the stream away, and a stream that was removed has gone.
  var streamID: StreamID? { isInside ? surface.flatMap { router?.table.entries[$0]?.streamID } : nil }

  /// Sets how frames are fitted to the window. A layer of the app's keeps what the app has set.
  func setGravity(_ gravity: VideoGravity) {
    if router != nil, layer.videoGravity != gravity { layer.videoGravity = gravity }
  }

  /// The newest frame of a stream.
  func latest(of streamID: StreamID) -> SampleBuffer? { router?.latestSampleBuffer(of: streamID) }

  /// Whether there is a frame to begin with.
  func isReady(_ streamID: StreamID) -> Bool {
    switch kind {
    case .stream: latest(of: streamID) != nil
    case .displayLayer: layer.hasFrame
    }
  }

  /// Shows the source in the window, beginning with its newest frame.
  ///
  /// - Parameter presented: called once, on the presenting thread, with the moment at which the first frame has been
  ///   shown.
  func enter(
    _ renderer: any VideoRenderer, _ streamID: StreamID, presented: @escaping @Sendable (MonotonicTime) -> Void
  ) throws(PipSinkError) {
    switch kind {
    case .stream(let router, _, let keepsShowingInApp):
      let isThere = router.table.placement(of: streamID).surface == surface
      if isThere { layer.whenNextPresented(presented) }
      layer.attach(to: renderer)
      do throws(PipSinkError) {
        try router.enterPictureInPicture(
          streamID, on: surface ?? .primary, keepsShowingInApp: keepsShowingInApp, presented: presented)
      } catch {
        layer.detach()
        throw error
      }
    case .displayLayer:
      home = layer.renderer
      layer.whenNextPresented(presented)
      layer.attach(to: renderer)
    }
    isInside = true
  }

  /// Shows another stream in the same window.
  func change(to streamID: StreamID) throws(PipSinkError) {
    guard case .stream(let router, _, let keepsShowingInApp) = kind, isInside else { return }
    try router.enterPictureInPicture(streamID, on: surface ?? .primary, keepsShowingInApp: keepsShowingInApp)
  }

  /// Shows a stream in the window, whether or not another one is there.
  func show(_ streamID: StreamID, on renderer: any VideoRenderer) throws(PipSinkError) {
    if isInside { try change(to: streamID) } else { try enter(renderer, streamID) { _ in } }
  }

  /// Routes a stream to the window before the window is open.
  func prepare(_ streamID: StreamID) {
    guard !isInside, case .stream(let router, _, let keepsShowingInApp) = kind, let surface else { return }
    // A stream that the router does not know yet has no frames.
    try? router.preparePictureInPicture(streamID, on: surface, keepsShowingInApp: keepsShowingInApp)
  }

  /// Undoes that the stream was routed to the window before the window was open.
  func forgetRouting() {
    if !isInside, let surface { router?.leavePictureInPicture(on: surface) }
  }

  /// Brings the frames back to the app.
  func leave() {
    guard isInside else { return }
    isInside = false
    switch kind {
    case .stream(let router, _, _):
      router.leavePictureInPicture(on: surface ?? .primary)
      layer.detach()
    case .displayLayer:
      if let home { layer.attach(to: home) } else { layer.detach() }
      home = nil
    }
  }
}
