/// The router's surfaces are display layers.
extension FrameRouter {
  /// - Parameters:
  ///   - table: the routing at the start.
  ///   - pictureInPicture: the primary surface of picture-in-picture; nil to count its frames only.
  public convenience init(table: RoutingTable = RoutingTable(), pictureInPicture: SampleBufferDisplayLayer? = nil) {
    self.init(table: table, destination: pictureInPicture)
  }

  /// Shows a stream in the app on `layer` from now on, beginning with its newest frame; the layer that it had shows it no
  /// more. With nil its frames are counted only. A stream that is new is added.
  public func setLayer(_ layer: SampleBufferDisplayLayer?, for streamID: StreamID) {
    setDestination(layer, for: streamID)
  }

  /// Adds a picture-in-picture surface: the primary one where there is none, another otherwise.
  public func addPictureInPictureSurface(_ layer: SampleBufferDisplayLayer) -> PictureInPictureSurfaceID {
    addSurface(layer)
  }

  /// Shows every frame of a stream on `layer` from now on, whatever the mode and beside its surfaces: a preview, for
  /// instance. It begins with the newest frame; of a stream that is not there yet, with its first. Any number of layers
  /// may be attached; none waits for another. When the stream is removed, they are let go.
  ///
  /// - Returns: whether the stream has delivered a frame.
  @discardableResult
  public func attach(_ layer: SampleBufferDisplayLayer, toStream streamID: StreamID) -> Bool {
    addDestination(layer, for: streamID)
  }

  /// `layer` shows nothing of the stream any more. Others go on.
  public func detach(_ layer: SampleBufferDisplayLayer, fromStream streamID: StreamID) {
    removeDestination(layer, for: streamID)
  }
}
