@testable import PipSink

/// A surface that records what it is asked to show. The test can make it wait or fail.
final class TestRenderer: VideoRenderer {
  struct State {
    var shown: [UInt64] = []
    var removals = 0
    /// The pictures that were shown or removed, in their order.
    var log: [String] = []
    var isHeld = false
    var failsNext = 0
    var isRendering = false
    var code = RenderingError.Code.invalidSize
    /// Whether the surface fails until ``rebuild()`` is called.
    var failsUntilRebuilt = false
    var rebuilds = 0
    var sizeUpdates = 0
    var isVisible = true
    /// The sizes of frames that the surface was told of, such as "32x18", and the numbers of the frames that were
    /// rendered.
    var sizeLog: [String] = []
    var gravities: [VideoGravity] = []
    var orientations: [VideoOrientation] = []
    var needsDisplay: (@Sendable () -> Void)?
    /// The error of ``rebuild()`` and ``updateSize()``, or nil if they succeed.
    var repairError: RenderingError?
    var hooks: [Moment: @Sendable () -> Void] = [:]
  }
  let state = Locked(State())

  /// A point in the work of the presenting thread.
  enum Moment {
    /// The thread asks whether the surface is visible. It gets the answer from before the test's closure has run.
    case visibilityCheck
    case render
    case removal
  }

  /// Calls `body` once on the presenting thread when the thread next reaches the given point.
  func during(_ moment: Moment, _ body: @escaping @Sendable () -> Void) {
    state.withLock { $0.hooks[moment] = body }
  }

  func frameSizeDidChange(to size: PictureSize) { state.withLock { $0.sizeLog.append("\(size)") } }

  private func reach(_ moment: Moment) {
    state.withLock { $0.hooks.removeValue(forKey: moment) }?()
  }

  func render(_ sampleBuffer: SampleBuffer, gravity: VideoGravity) throws(RenderingError) {
    state.withLock { $0.isRendering = true }
    state.wakeAll()
    reach(.render)
    let fails = state.wait { state -> Bool? in
      guard !state.isHeld else { return nil }
      state.isRendering = false
      if state.failsUntilRebuilt { return true }
      guard state.failsNext == 0 else {
        state.failsNext -= 1
        return true
      }
      state.shown.append(sampleBuffer.sequenceNumber)
      state.log.append("show \(sampleBuffer.sequenceNumber)")
      state.sizeLog.append("\(sampleBuffer.sequenceNumber)")
      state.gravities.append(gravity)
      state.orientations.append(sampleBuffer.orientation)
      return false
    }
    if fails { throw RenderingError(code: state.withLock { $0.code }, reason: "told to fail") }
  }

  var isVisible: Bool {
    let isVisible = state.withLock { $0.isVisible }
    reach(.visibilityCheck)
    return isVisible
  }

  func setNeedsDisplayHandler(_ handler: (@Sendable () -> Void)?) {
    state.withLock { $0.needsDisplay = handler }
  }

  func rebuild() throws(RenderingError) {
    if let error = state.withLock({ $0.repairError }) { throw error }
    state.withLock { state in
      state.rebuilds += 1
      state.failsUntilRebuilt = false
    }
  }

  func updateSize() throws(RenderingError) {
    if let error = state.withLock({ $0.repairError }) { throw error }
    state.withLock { $0.sizeUpdates += 1 }
  }

  /// Asks for the picture again, like a window that was covered or has another size.
  func askForDisplay() {
    state.withLock { $0.needsDisplay }?()
  }

  func removeImage() {
    reach(.removal)
    state.withLock { state in
      state.removals += 1
      state.log.append("remove")
    }
  }

  var shown: [UInt64] { state.withLock { $0.shown } }

  func hold() { state.withLock { $0.isHeld = true } }

  func release() {
    state.withLock { $0.isHeld = false }
    state.wakeAll()
  }

  /// Waits until a frame is being rendered.
  func waitUntilRendering() -> Bool {
    state.wait(until: .now.advanced(by: .seconds(20))) { $0.isRendering ? true : nil } ?? false
  }
}
