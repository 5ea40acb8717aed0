/// Brings a source's frames to a picture-in-picture window and back.
@MainActor
final class PictureInPictureHandover {
  private let kind: ContentSource.Kind
  let layer: SampleBufferDisplayLayer
  /// The router's name for the layer.
  private let surface: PictureInPictureSurfaceID?
  /// Of an app's layer: where it goes back to.
  private var home: (any VideoRenderer)?
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

  var router: FrameRouter? {
    if case .stream(let router, _, _) = kind { router } else { nil }
  }

  /// Fits pictures to the window. An app's own layer keeps what the app gave it.
  func setGravity(_ gravity: VideoGravity) {
    if router != nil { layer.videoGravity = gravity }
  }

  /// The newest frame that there is to begin with.
  func latest(of streamID: StreamID) -> SampleBuffer? { router?.latestSampleBuffer(of: streamID) }

  func isReady(_ streamID: StreamID) -> Bool {
    switch kind {
    case .stream: latest(of: streamID) != nil
    case .displayLayer: layer.hasFrame
    }
  }

  /// Shows the source in the window from its next frame on, beginning with its newest.
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

  /// Another stream in the same window.
  func change(to streamID: StreamID) throws(PipSinkError) {
    guard case .stream(let router, _, let keepsShowingInApp) = kind, isInside else { return }
    try router.enterPictureInPicture(streamID, on: surface ?? .primary, keepsShowingInApp: keepsShowingInApp)
  }

  /// Takes back that the stream was sent to the window before that was open.
  func forgetRouting() {
    if !isInside, let surface { router?.leavePictureInPicture(on: surface) }
  }

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
