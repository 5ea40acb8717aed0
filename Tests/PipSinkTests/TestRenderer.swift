@testable import PipSink

/// A surface that tells what it is asked to show, waits when it is told to, and fails when it is told to.
final class TestRenderer: VideoRenderer {
  struct State {
    var shown: [UInt64] = []
    var removals = 0
    /// Pictures shown and taken away, in their order.
    var log: [String] = []
    var isHeld = false
    var failsNext = 0
    var isRendering = false
    var code = RenderingError.Code.invalidSize
    /// Whether nothing but ``rebuild()`` ends the failing.
    var failsUntilRebuilt = false
    var rebuilds = 0
    var sizeUpdates = 0
    var isVisible = true
    /// What it was told of the frames, as "32x18", and the numbers of those that were rendered.
    var sizeLog: [String] = []
    var gravities: [VideoGravity] = []
    var orientations: [VideoOrientation] = []
    var needsDisplay: (@Sendable () -> Void)?
    /// What ``rebuild()`` and ``updateSize()`` fail with.
    var repairError: RenderingError?
    var hooks: [Moment: @Sendable () -> Void] = [:]
  }
  let state = Locked(State())

  /// When the presenting thread is here.
  enum Moment {
    /// It asks whether anybody sees the surface, and gets the answer of before.
    case visibilityCheck
    case render
    case removal
  }

  /// Calls `body` once, on the presenting thread, when that is here next.
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

  /// As a window does that was covered, or has another size.
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
