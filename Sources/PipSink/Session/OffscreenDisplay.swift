/// A display in memory: for servers, and for tests.
public final class OffscreenDisplay: SessionDisplay {
  private struct Place {
    let layer: SampleBufferDisplayLayer
    let renderer: OffscreenRenderer
  }

  public let kind = "offscreen"
  public var pictureInPictureHost: any PictureInPictureHost { pictureInPictureWindow }
  public let pictureInPictureWindow: OffscreenPictureInPictureWindow
  public var eventHandler: (@MainActor (SessionDisplayEvent) -> Void)?
  private var places: [StreamID: Place] = [:]
  /// What stands in the streams' places; a stream whose picture is shown has none.
  public private(set) var placeholders: [StreamID: StreamPlaceholder] = [:]
  /// The streams of which their places say that the microphone is off.
  public private(set) var microphonesOff: Set<StreamID> = []
  private let inAppSize: PictureSize
  private let pictureInPictureSize: PictureSize
  /// In the split layout: the picture of the first two streams.
  private let split: OffscreenSplitView?
  /// The streams of its halves, the local one first.
  private var halves: [StreamID?] = []

  /// - Parameters:
  ///   - inAppSize: of each stream's picture in the app, in pixels; in the split layout of both together.
  ///   - pictureInPictureSize: in pixels.
  ///   - isSplit: whether the first two streams share one picture (``OffscreenSplitView``).
  /// - Throws: ``PipSinkError/Frame/invalidSize(width:height:)``.
  public init(
    inAppSize: PictureSize = PictureSize(width: 640, height: 360),
    pictureInPictureSize: PictureSize = PictureSize(width: 320, height: 180), isSplit: Bool = false
  ) throws(PipSinkError) {
    split = isSplit ? try OffscreenSplitView(size: inAppSize) : nil
    self.inAppSize = inAppSize
    self.pictureInPictureSize = pictureInPictureSize
    pictureInPictureWindow = try OffscreenPictureInPictureWindow(size: pictureInPictureSize)
  }

  public func makePictureInPictureHost() throws(PipSinkError) -> any PictureInPictureHost {
    try OffscreenPictureInPictureWindow(size: pictureInPictureSize)
  }

  public func add(_ layer: SampleBufferDisplayLayer, for streamID: StreamID) throws(PipSinkError) {
    guard places[streamID]?.layer !== layer else { return }
    removeStream(streamID)
    let renderer = if let half = takeHalf(for: streamID) { half } else { try OffscreenRenderer(size: inAppSize) }
    places[streamID] = Place(layer: layer, renderer: renderer)
    layer.attach(to: renderer)
    showOrHideRemote()
  }

  /// A half of the split layout that is free.
  private func takeHalf(for streamID: StreamID) -> OffscreenRenderer? {
    guard let split else { return nil }
    let free = halves.firstIndex(of: nil) ?? halves.count
    guard free < 2 else { return nil }
    if free < halves.count { halves[free] = streamID } else { halves.append(streamID) }
    return free == 0 ? split.local : split.remote
  }

  /// The local picture has the whole width while the remote one is not there.
  private func showOrHideRemote() {
    guard halves.count > 1, let remote = halves[1] else {
      split?.showsRemote = false
      return
    }
    let placeholder = placeholders[remote]
    split?.showsRemote = placeholder != .inPictureInPicture && placeholder != .ended
  }

  public func removeStream(_ streamID: StreamID) {
    places.removeValue(forKey: streamID)?.layer.detach()
    placeholders[streamID] = nil
    microphonesOff.remove(streamID)
    if let half = halves.firstIndex(of: streamID) { halves[half] = nil }
    showOrHideRemote()
  }

  public func setPlaceholder(_ placeholder: StreamPlaceholder?, for streamID: StreamID) {
    placeholders[streamID] = placeholder
    showOrHideRemote()
  }

  public func setMicrophoneOff(_ isOff: Bool, for streamID: StreamID) {
    if isOff { microphonesOff.insert(streamID) } else { microphonesOff.remove(streamID) }
  }

  /// What a stream's place shows: its newest picture, also under a placeholder; nil before the first.
  public func image(of streamID: StreamID) -> BGRAImage? { places[streamID]?.renderer.image() }

  public func images(pictureInPictureStreamID: StreamID?) -> [(name: String, image: BGRAImage)] {
    for place in places.values { _ = place.layer.waitUntilPresented(by: .now.advanced(by: .seconds(2))) }
    let tiles = places.keys.sorted().filter { !halves.contains($0) }.compactMap { id in
      image(of: id).map { ("inApp-\(id)", $0) }
    }
    let pip = pictureInPictureWindow.image().map { [("pip-\(pictureInPictureStreamID ?? "none")", $0)] }
    return (split.map { [("inApp", $0.image())] } ?? []) + tiles + (pip ?? [])
  }
}
