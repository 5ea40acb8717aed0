/// A second stream in the window: both have a half of it, as in a call with the own picture beside the other side's.
extension PictureInPictureController {
  /// The stream that has the right half of the window, or will have it: while the window is open, and the stream has a
  /// picture. Nil where there is one picture.
  public var secondStreamID: StreamID? { second?.streamID }

  /// Shows another stream beside the one in the window, in a half each, from its next frame on; nil gives that one the whole
  /// window again. It holds for later windows, too, until the stream ends. A stream without a picture, or whose camera is
  /// off, gets its half when there is something to see.
  ///
  /// When the window goes to the second stream, the two change places.
  ///
  /// - Throws: ``PipSinkError/Stream/unknown(_:known:)``, and ``PipSinkError/PictureInPicture/notPossible(reason:)`` for a
  ///   stream that is the window's first, and where the source or the window has one picture only. Then nothing has changed.
  public func setSecondStream(_ new: StreamID?) throws(PipSinkError) {
    guard new != secondStreamID else { return }
    guard let new else { return forgetSecondStream() }
    guard let router = handover.router else {
      throw .pictureInPicture(.notPossible(reason: "its source is a display layer, which has the window for itself"))
    }
    guard window.secondRenderer != nil else {
      throw .pictureInPicture(.notPossible(reason: "its window shows one stream"))
    }
    guard router.streamIDs.contains(new) else { throw .stream(.unknown(new, known: router.streamIDs)) }
    guard new != streamID else {
      throw .pictureInPicture(.notPossible(reason: "\"\(new)\" has the window already; choose another second stream"))
    }
    takeSecondStream(new)
  }

  func takeSecondStream(_ new: StreamID) {
    leaveSecondStream()
    second = SecondStream(new, router: handover.router, source, clock, configuration.videoGravity)
    showOrHideSecondStream()
  }

  func forgetSecondStream() {
    leaveSecondStream()
    second = nil
    updatePresentation()
  }

  /// Whether its picture is in the window now.
  var showsSecondStream: Bool { second?.handover.isInside ?? false }

  /// To be called when the window opens, and when what is known of the stream changes.
  func showOrHideSecondStream() {
    guard let second else { return }
    let isDark = streamSelector.streams.contains { $0.id == second.streamID && !$0.isEnabled }
    let isWanted = phase.isOpen && !isDark && second.handover.isReady(second.streamID)
    guard isWanted != second.handover.isInside else { return }
    if isWanted, let renderer = window.secondRenderer {
      // Another controller's window may have it; then it gets its half when that gives it back.
      try? second.handover.enter(renderer, second.streamID, presented: { _ in })
    } else {
      leaveSecondStream()
    }
    updatePresentation()
    updateVisibility()
  }

  /// Its frames go back to the app.
  func leaveSecondStream() { second?.handover.leave() }
}

/// What is known of the stream in the window's other half.
@MainActor
struct SecondStream {
  let streamID: StreamID
  let handover: PictureInPictureHandover

  init?(
    _ streamID: StreamID, router: FrameRouter?, _ first: ContentSource, _ clock: SchedulingClock,
    _ gravity: VideoGravity
  ) {
    guard let router, case .stream(_, _, let keepsShowingInApp) = first.kind else { return nil }
    self.streamID = streamID
    handover = PictureInPictureHandover(
      ContentSource(router: router, streamID: streamID, keepsShowingInApp: keepsShowingInApp), clock)
    handover.setGravity(gravity)
  }
}
