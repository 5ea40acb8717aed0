@testable import PipSink

/// A renderer whose size and visibility a test sets.
final class TestPlace: VideoRenderer {
  private let state: Locked<(size: PictureSize?, isVisible: Bool, handler: (@Sendable () -> Void)?)>

  init(_ width: Int, _ height: Int) { state = Locked((PictureSize(width: width, height: height), true, nil)) }
  /// Makes a renderer without a size.
  init() { state = Locked((nil, true, nil)) }

  func render(_ sampleBuffer: SampleBuffer, gravity: VideoGravity) {}
  func removeImage() {}
  var renderSize: PictureSize? { state.withLock { $0.size } }
  var isVisible: Bool { state.withLock { $0.isVisible } }
  func setNeedsDisplayHandler(_ handler: (@Sendable () -> Void)?) { state.withLock { $0.handler = handler } }

  func set(_ width: Int, _ height: Int) {
    state.withLock { $0.size = PictureSize(width: width, height: height) }
    state.withLock { $0.handler }?()
  }

  func set(isVisible: Bool) {
    state.withLock { $0.isVisible = isVisible }
    state.withLock { $0.handler }?()
  }

  /// Whether the layer has begun to use the renderer.
  var isUsed: Bool { state.withLock { $0.handler != nil } }
}
