import PipSink

/// Surfaces in memory.
final class OffscreenSurfaces: Surfaces {
  private struct Surface {
    let renderer: OffscreenRenderer
    let layer: SampleBufferDisplayLayer
  }

  let kind = "offscreen"
  private var inApp: [StreamID: Surface] = [:]
  private let pictureInPicture: Surface
  private let inAppSize: PictureSize
  private let gravity: VideoGravity

  init(inAppSize: PictureSize, pictureInPictureSize: PictureSize, gravity: VideoGravity) throws(PipSinkError) {
    self.inAppSize = inAppSize
    self.gravity = gravity
    pictureInPicture = try Self.surface("pip", pictureInPictureSize, gravity)
  }

  var pictureInPictureLayer: SampleBufferDisplayLayer? { pictureInPicture.layer }

  func inAppLayer(for id: StreamID) throws(PipSinkError) -> SampleBufferDisplayLayer? {
    if let surface = inApp[id] { return surface.layer }
    let surface = try Self.surface("inApp-\(id)", inAppSize, gravity)
    inApp[id] = surface
    return surface.layer
  }

  private static func surface(
    _ name: String, _ size: PictureSize, _ gravity: VideoGravity
  ) throws(PipSinkError) -> Surface {
    let renderer = try OffscreenRenderer(size: size)
    return Surface(
      renderer: renderer, layer: SampleBufferDisplayLayer(name: name, renderer: renderer, videoGravity: gravity))
  }

  func pictureInPictureWillShow(_ id: StreamID?, aspectRatio: Double?) {}
  func streamDidChange(_ id: StreamID, to state: StreamState) {}

  func images(pipStream: StreamID?) -> [(name: String, image: BGRAImage)] {
    let shown =
      inApp.keys.sorted().compactMap { id in inApp[id].map { ("inApp-\(id)", $0) } }
      + [("pip-\(pipStream ?? "none")", pictureInPicture)]
    return shown.compactMap { name, surface in
      _ = surface.layer.waitUntilPresented(by: .now.advanced(bySeconds: 2))
      return surface.renderer.image().map { (name, $0) }
    }
  }
}
