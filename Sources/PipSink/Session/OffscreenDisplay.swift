/// A display in memory, for servers and for tests.
public final class OffscreenDisplay: SessionDisplay {
  /// A stream's layer and the renderer that it is attached to.
  private struct Place {
    let layer: SampleBufferDisplayLayer
    let renderer: OffscreenRenderer
  }

  /// "offscreen".
  public let kind = "offscreen"
  /// The session's picture-in-picture window, which is an ``OffscreenPictureInPictureWindow``.
  public var pictureInPictureHost: any PictureInPictureHost { pictureInPictureWindow }
  /// The session's picture-in-picture window.
  package let pictureInPictureWindow: OffscreenPictureInPictureWindow
  /// The session's handler. A program may call it as if a user had done something.
  public var eventHandler: (@MainActor (SessionDisplayEvent) -> Void)?
  private var places: [StreamID: Place] = [:]
  /// The placeholders that stand for streams. A stream whose picture is shown has none.
  package private(set) var placeholders: [StreamID: StreamPlaceholder] = [:]
  /// The people of whom more is known than the stream's ID.
  package private(set) var participants: [StreamID: Participant] = [:]
  private let inAppSize: PictureSize
  private let pictureInPictureSize: PictureSize
  /// The picture of the first two streams in the split layout; nil in the other layout.
  private let split: OffscreenTiles?
  /// The streams in the halves of the split layout, the local one first.
  private var halves: [StreamID?] = []

  /// Makes a display.
  ///
  /// - Parameters:
  ///   - inAppSize: the size of each stream's picture in the app, in pixels; in the split layout, the size of the first
  ///     two streams' picture together.
  ///   - pictureInPictureSize: the size of picture-in-picture windows, in pixels.
  ///   - isSplit: whether the first two streams share one picture.
  /// - Throws: ``PipSinkError/Frame/invalidSize(width:height:)``, ``PipSinkError/Frame/outOfMemory(byteCount:)``.
  public init(
    inAppSize: PictureSize = PictureSize(width: 640, height: 360),
    pictureInPictureSize: PictureSize = PictureSize(width: 320, height: 180), isSplit: Bool = false
  ) throws(PipSinkError) {
    split = isSplit ? try OffscreenTiles(size: inAppSize, count: 2) : nil
    self.inAppSize = inAppSize
    self.pictureInPictureSize = pictureInPictureSize
    pictureInPictureWindow = try OffscreenPictureInPictureWindow(size: pictureInPictureSize)
  }

  /// Makes another picture-in-picture window of the same size.
  public func makePictureInPictureHost() throws(PipSinkError) -> any PictureInPictureHost {
    try OffscreenPictureInPictureWindow(size: pictureInPictureSize)
  }

  /// Makes a picture for a stream and attaches its layer.
  public func add(_ layer: SampleBufferDisplayLayer, for streamID: StreamID) throws(PipSinkError) {
    guard places[streamID]?.layer !== layer else { return }
    removeStream(streamID)
    let renderer = if let half = takeHalf(for: streamID) { half } else { try OffscreenRenderer(size: inAppSize) }
    places[streamID] = Place(layer: layer, renderer: renderer)
    layer.attach(to: renderer)
    showOrHideRemote()
  }

  /// Takes a free half of the split layout; nil where there is none.
  private func takeHalf(for streamID: StreamID) -> OffscreenRenderer? {
    guard let split else { return nil }
    let free = halves.firstIndex(of: nil) ?? halves.count
    guard free < 2 else { return nil }
    if free < halves.count { halves[free] = streamID } else { halves.append(streamID) }
    return split.renderers[free]
  }

  /// Gives the local picture the whole width while there is no remote one.
  private func showOrHideRemote() {
    let remote = halves.count > 1 ? halves[1] : nil
    let placeholder = remote.flatMap { placeholders[$0] }
    let places = SplitLayout.rectangles(
      in: inAppSize, showsRemote: remote != nil && placeholder != .inPictureInPicture && placeholder != .ended)
    split?.rectangles = [places.local, places.remote]
  }

  /// Detaches the stream's layer and forgets its picture.
  public func removeStream(_ streamID: StreamID) {
    places.removeValue(forKey: streamID)?.layer.detach()
    placeholders[streamID] = nil
    participants[streamID] = nil
    if let half = halves.firstIndex(of: streamID) { halves[half] = nil }
    showOrHideRemote()
  }

  /// Notes the placeholder. The picture itself stays as it is.
  public func setPlaceholder(_ placeholder: StreamPlaceholder?, for streamID: StreamID) {
    placeholders[streamID] = placeholder
    showOrHideRemote()
  }

  /// Notes what is known of the person, which is not drawn.
  public func setParticipant(_ participant: Participant, for streamID: StreamID) {
    participants[streamID] = participant
  }

  /// A copy of a stream's newest picture in the app, whether or not a placeholder stands for it; nil before the first
  /// one.
  public func image(of streamID: StreamID) -> BGRAImage? { places[streamID]?.renderer.image() }

  /// Copies of all pictures, after waiting up to two seconds for each stream's newest frame. Their names are `inApp`
  /// for the split layout, `inApp-STREAM`, and `pip-STREAM`.
  public func images(pictureInPictureStreamID: StreamID?) -> [(name: String, image: BGRAImage)] {
    for place in places.values { _ = place.layer.waitUntilPresented(by: .now.advanced(by: .seconds(2))) }
    let tiles = places.keys.sorted().filter { !halves.contains($0) }.compactMap { id in
      image(of: id).map { ("inApp-\(id)", $0) }
    }
    let pip = pictureInPictureWindow.image().map { [("pip-\(pictureInPictureStreamID ?? "none")", $0)] }
    return (split.map { [("inApp", $0.image())] } ?? []) + tiles + (pip ?? [])
  }
}
