/// A second stream in the window. Both have one half of it, for instance the local and the remote picture of a call.
extension PictureInPictureController {
  /// The stream that has the right half of the window while the window is open and the stream has a picture; nil where
  /// the window shows one stream.
  public var secondStreamID: StreamID? { second?.streamID }

  /// Shows another stream beside the one in the window, in one half each, from its next frame on. With nil the first
  /// stream has the whole window again. The setting persists for later windows until the stream ends. A stream without
  /// a picture, or whose camera is off, gets its half when it has one.
  ///
  /// When the window's first stream is replaced by the second one, the two change places.
  ///
  /// - Throws: ``PipSinkError/Stream/unknown(_:known:)``, or ``PipSinkError/PictureInPicture/notPossible(reason:)`` for
  ///   the window's first stream, and where the source or the window supports one stream only. Nothing has changed
  ///   then.
  public func setSecondStream(_ new: StreamID?) throws(PipSinkError) {
    guard new != secondStreamID else { return }
    guard let new else { return forgetSecondStream() }
    guard let router = handover.router else {
      throw .pictureInPicture(.notPossible(reason: "its source is a display layer, which takes the whole window"))
    }
    guard window.secondRenderer != nil else {
      throw .pictureInPicture(.notPossible(reason: "its window can show one stream only"))
    }
    guard router.streamIDs.contains(new) else { throw .stream(.unknown(new, known: router.streamIDs)) }
    guard new != streamID else {
      throw .pictureInPicture(.notPossible(reason: "\"\(new)\" has the window already; choose another second stream"))
    }
    takeSecondStream(new)
  }

  /// Replaces the second stream.
  func takeSecondStream(_ new: StreamID) {
    leaveSecondStream()
    second = SecondStream(new, router: handover.router, source, clock, configuration.videoGravity)
    showOrHideSecondStream()
  }

  /// Gives the first stream the whole window.
  func forgetSecondStream() {
    leaveSecondStream()
    second = nil
    updatePresentation()
  }

  /// Whether the second stream's picture is in the window now.
  var showsSecondStream: Bool { second?.handover.isInside ?? false }

  /// Shows the second stream if the window is open and the stream has a picture, and hides it otherwise. It is called
  /// when either changes.
  func showOrHideSecondStream() {
    guard let second else { return }
    let isDark = streamSelector.streams.contains { $0.id == second.streamID && !$0.isEnabled }
    let isWanted = phase.isOpen && !isDark && second.handover.isReady(second.streamID)
    guard isWanted != second.handover.isInside else { return }
    if isWanted, let renderer = window.secondRenderer {
      // Another controller's window may show the stream. It gets its half here when that window releases it.
      try? second.handover.enter(renderer, second.streamID, presented: { _ in })
    } else {
      leaveSecondStream()
    }
    updatePresentation()
    updateVisibility()
  }

  /// Sends the second stream's frames back to the app.
  func leaveSecondStream() { second?.handover.leave() }
}

/// The stream in the other half of the window.
@MainActor
struct SecondStream {
  let streamID: StreamID
  let handover: PictureInPictureHandover

  /// Prepares the second stream.
  ///
  /// - Returns: nil where the first source is not a stream.
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
