/// Routing to display layers.
extension FrameRouter {
  /// Makes a router for display layers.
  ///
  /// - Parameter pictureInPicture: the layer of picture-in-picture; with nil its frames are only counted.
  public convenience init(pictureInPicture: SampleBufferDisplayLayer? = nil) {
    self.init(destination: pictureInPicture)
  }

  /// Makes a router for display layers, with the routing at the start.
  package convenience init(table: RoutingTable, pictureInPicture: SampleBufferDisplayLayer? = nil) {
    self.init(table: table, destination: pictureInPicture)
  }

  /// Shows a stream in the app on `layer` from now on, beginning with its newest frame. The layer that it had stops
  /// showing it. With nil, its frames are only counted. A stream that the router does not know is added.
  public func setLayer(_ layer: SampleBufferDisplayLayer?, for streamID: StreamID) {
    setDestination(layer, for: streamID)
  }

  /// Adds a picture-in-picture surface. It becomes the primary one where there is none, and an additional one
  /// otherwise.
  ///
  /// - Returns: the surface's ID, for routing streams to it.
  func addPictureInPictureSurface(_ layer: SampleBufferDisplayLayer) -> PictureInPictureSurfaceID {
    addSurface(layer)
  }

  /// Shows every frame of a stream on `layer` from now on, whatever the routing says and in addition to it, for
  /// instance as a preview. It begins with the newest frame, or with the first one of a stream that has not delivered
  /// any. Any number of layers may be attached, and none waits for another. They are released when the stream is
  /// removed.
  ///
  /// - Returns: whether the stream has delivered a frame.
  @discardableResult
  public func attach(_ layer: SampleBufferDisplayLayer, toStream streamID: StreamID) -> Bool {
    addDestination(layer, for: streamID)
  }

  /// Stops showing a stream on a layer that ``attach(_:toStream:)`` has attached. Other layers go on.
  public func detach(_ layer: SampleBufferDisplayLayer, fromStream streamID: StreamID) {
    removeDestination(layer, for: streamID)
  }

  /// The layers that ``attach(_:toStream:)`` has attached to a stream.
  func attachedLayers(ofStream streamID: StreamID) -> [SampleBufferDisplayLayer] {
    addedDestinations(for: streamID).compactMap { $0 as? SampleBufferDisplayLayer }
  }
}
