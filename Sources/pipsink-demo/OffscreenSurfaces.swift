import PipSink

/// Surfaces in memory.
final class OffscreenSurfaces: Surfaces {
  private struct Surface {
    let renderer: OffscreenRenderer
    let layer: SampleBufferDisplayLayer
  }

  let kind = "offscreen"
  private var inApp: [StreamID: Surface] = [:]
  private let pictureInPicture: OffscreenPictureInPictureWindow
  private let inAppSize: PictureSize
  /// In the split layout: the picture of the first two streams.
  private let split: OffscreenSplitView?
  /// The streams of its halves, the local one first.
  private var splitStreams: [StreamID?] = []
  private var pictureInPictureStreamID: StreamID?
  private var ended: Set<StreamID> = []
  private let gravity: VideoGravity

  init(
    inAppSize: PictureSize, pictureInPictureSize: PictureSize, gravity: VideoGravity, isSplit: Bool
  ) throws(PipSinkError) {
    split = isSplit ? try OffscreenSplitView(size: inAppSize) : nil
    self.inAppSize = inAppSize
    self.gravity = gravity
    pictureInPicture = try OffscreenPictureInPictureWindow(size: pictureInPictureSize)
  }

  var pictureInPictureWindow: any PictureInPictureHost { pictureInPicture }

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

  /// A half of the split layout that is free.
  private func splitRenderer(for id: StreamID) -> OffscreenRenderer? {
    guard let split else { return nil }
    let free = splitStreams.firstIndex(of: nil) ?? splitStreams.count
    guard free < 2 else { return nil }
    if free < splitStreams.count { splitStreams[free] = id } else { splitStreams.append(id) }
    return free == 0 ? split.local : split.remote
  }

  /// The own picture has the whole width while the other is not there.
  private func showOrHideRemote() {
    guard splitStreams.count > 1, let remote = splitStreams[1] else {
      split?.showsRemote = false
      return
    }
    split?.showsRemote = remote != pictureInPictureStreamID && !ended.contains(remote)
  }

  func removeStream(_ id: StreamID) {
    inApp[id] = nil
    ended.remove(id)
    if let half = splitStreams.firstIndex(of: id) { splitStreams[half] = nil }
    showOrHideRemote()
  }

  func pictureInPictureDidChange(to id: StreamID?) {
    pictureInPictureStreamID = id
    showOrHideRemote()
  }

  func streamDidChange(_ id: StreamID, to state: StreamState) {
    if state == .ended { ended.insert(id) } else { ended.remove(id) }
    showOrHideRemote()
  }

  func images(pipStream: StreamID?) -> [(name: String, image: BGRAImage)] {
    for surface in inApp.values { _ = surface.layer.waitUntilPresented(by: .now.advanced(bySeconds: 2)) }
    let tiles = inApp.keys.sorted().filter { !splitStreams.contains($0) }.compactMap { id in
      inApp[id]?.renderer.image().map { ("inApp-\(id)", $0) }
    }
    let pip = pictureInPicture.surface.image().map { [("pip-\(pipStream ?? "none")", $0)] } ?? []
    return (split.map { [("inApp", $0.image())] } ?? []) + tiles + pip
  }
}
