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
  /// In the split layout: the picture of the first two streams.
  private let split: OffscreenSplitView?
  private var splitStreams: [StreamID] = []
  private var pictureInPictureStreamID: StreamID?
  private var ended: Set<StreamID> = []
  private let gravity: VideoGravity

  init(
    inAppSize: PictureSize, pictureInPictureSize: PictureSize, gravity: VideoGravity, isSplit: Bool
  ) throws(PipSinkError) {
    split = isSplit ? try OffscreenSplitView(size: inAppSize) : nil
    self.inAppSize = inAppSize
    self.gravity = gravity
    let renderer = try OffscreenRenderer(size: pictureInPictureSize)
    pictureInPicture = Surface(
      renderer: renderer, layer: SampleBufferDisplayLayer(name: "pip", renderer: renderer, videoGravity: gravity))
  }

  var pictureInPictureLayer: SampleBufferDisplayLayer? { pictureInPicture.layer }

  func inAppLayer(for id: StreamID) throws(PipSinkError) -> SampleBufferDisplayLayer? {
    if let surface = inApp[id] { return surface.layer }
    let renderer = if let half = splitRenderer(for: id) { half } else { try OffscreenRenderer(size: inAppSize) }
    let surface = Surface(
      renderer: renderer,
      layer: SampleBufferDisplayLayer(name: "inApp-\(id)", renderer: renderer, videoGravity: gravity))
    inApp[id] = surface
    showOrHideRemote()
    return surface.layer
  }

  /// The first two streams' halves in the split layout.
  private func splitRenderer(for id: StreamID) -> OffscreenRenderer? {
    guard let split, splitStreams.count < 2 else { return nil }
    splitStreams.append(id)
    return splitStreams.count == 1 ? split.local : split.remote
  }

  /// The own picture has the whole width while the other is not there.
  private func showOrHideRemote() {
    guard splitStreams.count > 1 else { return }
    split?.showsRemote = splitStreams[1] != pictureInPictureStreamID && !ended.contains(splitStreams[1])
  }

  func pictureInPictureWillShow(_ id: StreamID?, aspectRatio: Double?) {
    pictureInPictureStreamID = id
    showOrHideRemote()
  }

  func streamDidChange(_ id: StreamID, to state: StreamState) {
    if state == .ended { ended.insert(id) }
    showOrHideRemote()
  }

  func images(pipStream: StreamID?) -> [(name: String, image: BGRAImage)] {
    let tiles = inApp.keys.sorted().filter { !splitStreams.contains($0) }
    let shown =
      tiles.compactMap { id in inApp[id].map { ("inApp-\(id)", $0) } }
      + [("pip-\(pipStream ?? "none")", pictureInPicture)]
    for id in splitStreams { _ = inApp[id]?.layer.waitUntilPresented(by: .now.advanced(bySeconds: 2)) }
    return (split.map { [("inApp", $0.image())] } ?? [])
      + shown.compactMap { name, surface in
        _ = surface.layer.waitUntilPresented(by: .now.advanced(bySeconds: 2))
        return surface.renderer.image().map { (name, $0) }
      }
  }
}
