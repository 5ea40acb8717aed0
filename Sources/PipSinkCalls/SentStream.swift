import PipSink

/// The stream of a session that a connection sends. Its picture is sent while there is a connection to a peer that has
/// shown its certificate.
@MainActor final class SentStream: StreamSender {
  private let session: PictureInPictureSession
  let sending: WebRTCConnection.Sending
  /// Ends the connection with the stream; nil where the connection has more to do.
  var disconnect: (@MainActor () -> [Completion<Void>])?
  private(set) var tracks: OutgoingTracks?
  private var isTrusted = false
  private var (isCameraOff, isMicrophoneOff) = (false, false)
  private var bitRate = BitRateMeter()
  private var control: BitRateControl?
  /// Whether the peer says which packets have arrived.
  var hasFeedback = false
  private var repetition: Task<Void, Never>?

  init(_ sending: WebRTCConnection.Sending, in session: PictureInPictureSession) {
    (self.sending, self.session) = (sending, session)
  }

  /// Follows the stream's camera and microphone, and its end.
  ///
  /// - Throws: ``PipSinkError/Stream/unknown(_:known:)``.
  func follow() throws(PipSinkError) { try session.add(self, to: sending.streamID) }

  func unfollow() { session.remove(self, from: sending.streamID) }

  /// Takes the tracks of a new connection.
  func begin(_ tracks: OutgoingTracks) {
    self.tracks = tracks
    apply()
  }

  /// Sends the picture and the sound: the peer has shown its certificate.
  func trust() {
    guard let tracks else { return }
    let picture = tracks.picture
    isTrusted = true
    let control = BitRateControl(limit: sending.bitRate, hasFeedback: hasFeedback)
    tracks.setBitRate(control.bitRate)
    self.control = control
    apply()
    session.attach(picture, toStream: sending.streamID)
    repetition = Task {
      while !Task.isCancelled {
        try? await Task.sleep(for: OutgoingPicture.repeatTime / 2)
        picture.repeatIfDue()
      }
    }
  }

  /// Follows what the peer says of the packets that have arrived.
  func note(_ feedback: BitRateControl.Feedback) {
    let before = control?.bitRate
    control?.update(feedback)
    if let bitRate = control?.bitRate, bitRate != before { tracks?.setBitRate(bitRate) }
  }

  /// How many bits per second the picture may take now; nil before the connection is made.
  var targetBitRate: Int? { control?.bitRate }

  /// Sends nothing any more: the connection has ended.
  func forgetTracks() {
    repetition?.cancel()
    repetition = nil
    if let picture = tracks?.picture {
      picture.end()
      session.detach(picture, fromStream: sending.streamID)
    }
    (tracks, isTrusted, control) = (nil, false, nil)
  }

  /// Whether nothing is sent at the moment, which a peer that sends nothing either leaves without an answer.
  var isSilent: Bool { sending.audioSource == nil && tracks?.picture.hasPicture != true }

  /// The bits per second since this was asked before; nil the first time.
  func bitRate(bytes: UInt64) -> Double? { bitRate.rate(bytes: bytes, at: .now) }

  func setDevices(isCameraOff: Bool, isMicrophoneOff: Bool) {
    (self.isCameraOff, self.isMicrophoneOff) = (isCameraOff, isMicrophoneOff)
    apply()
  }

  private func apply() {
    tracks?.picture.setBlack(isCameraOff)
    tracks?.setMuted(!isTrusted || isMicrophoneOff)
  }

  func streamWasRemoved() {
    if let disconnect {
      _ = disconnect()
    } else if isTrusted, let picture = tracks?.picture {
      // The rest of the call goes on, and so does this with a new stream of the same name, such as another camera.
      session.attach(picture, toStream: sending.streamID)
    }
  }

  func sessionWillStop() -> [Completion<Void>] { disconnect?() ?? [] }
}

/// Measures bit rates from one question to the next.
struct BitRateMeter {
  private var measured: (bytes: UInt64, at: MonotonicTime)?

  /// The bits per second since the last call; nil at the first one.
  mutating func rate(bytes: UInt64, at now: MonotonicTime) -> Double? {
    let before = measured
    measured = (bytes, now)
    guard let before, before.at < now, bytes >= before.bytes else { return nil }
    return Double(bytes - before.bytes) * 8 / (before.at.duration(to: now) / .seconds(1))
  }
}
