import Testing

@testable import PipSink
@testable import TestSupport

/// A start of picture-in-picture that is refused changes nothing, and nobody is told anything.
@MainActor @Suite(.timeLimit(.minutes(2))) struct RefusedStartTests {
  /// Why the start is refused.
  enum Reason: CaseIterable {
    case uninitialized, stopping, unsupported, unknown, noPictureWhileOpen, ownWindow
  }

  /// All that a refused start could change.
  private struct Situation: Equatable {
    var current: StreamID
    var inPictureInPicture: StreamID?
    var second: StreamID?
    var requests: [StreamID?]
    var places: [PictureInPicturePlace]
    var presentation: PictureInPicturePresentation?
    var routed: [StreamID]
    var state: PictureInPictureState
    var placeholders: [StreamID: StreamPlaceholder]

    @MainActor init(_ session: PictureInPictureSession, _ display: OffscreenDisplay) {
      let controller = session.controller
      current = controller.currentStreamID
      inPictureInPicture = session.pictureInPictureStreamID
      second = session.secondPictureInPictureStreamID
      requests = controller.streamSelector.requests
      places = controller.streamSelector.places
      presentation = display.pictureInPictureWindow.presentation
      routed = session.router.table.entries.values.map(\.streamID).sorted()
      state = controller.state
      placeholders = display.placeholders
    }
  }

  @Test(arguments: Reason.allCases, [nil, "c"] as [StreamID?])
  func aRefusedStartChangesNothingAndIsNoEvent(reason: Reason, second: StreamID?) async throws {
    let display = try OffscreenDisplay()
    if reason == .unsupported { display.pictureInPictureWindow.unsupportedReason = "told to" }
    let session = try PictureInPictureSession(display: display)
    let picture = try PlainFrame.make([255, 255, 255]).pixelBuffer
    for id: StreamID in ["a", "b", "c"] { try session.addInput(id, stallTimeout: nil).push(picture) }
    _ = try session.addInput("late", stallTimeout: nil)
    #expect(await eventually { session.playStates.values.count { $0 == .playing } == 3 })
    try session.setPictureInPictureSource("a")
    if let second { try session.setSecondPictureInPictureStream(second) }
    var wanted: StreamID = "b"
    let isAsked = Locked(false)
    switch reason {
    case .uninitialized: session.uninitializePictureInPicture()
    case .unsupported: break
    case .unknown: wanted = "nobody"
    case .ownWindow: try session.addPictureInPictureWindow(for: wanted)
    case .noPictureWhileOpen, .stopping:
      try session.startPictureInPicture()
      #expect(await eventually { session.controller.isActive })
      if reason == .noPictureWhileOpen { wanted = "late" }
    }
    if reason == .stopping {
      // The app does not answer at once whether its window is there again.
      session.restoreUserInterface = {
        isAsked.withLock { $0 = true }
        try? await Task.sleep(for: .seconds(60))
        return true
      }
      display.pictureInPictureWindow.perform(.backToApp)
      #expect(await eventually { isAsked.withLock { $0 } })
    }

    let before = Situation(session, display)
    #expect(before.current == "a")
    let events = Locked<[String]>([])
    session.observeEvents { event in events.withLock { $0.append("\(event)") } }
    session.controller.observeEvents { event in events.withLock { $0.append("\(event)") } }
    #expect(throws: PipSinkError.self) { try session.startPictureInPicture(wanted) }
    #expect(Situation(session, display) == before)
    #expect(events.withLock { $0 } == [])
    await session.invalidate()
  }
}
