import CCallSDK
import PipSink
import PipSinkWindows

/// Shows a call whose SDK has a C interface and calls back on threads of its own.
@MainActor final class Call {
  let session: PictureInPictureSession
  nonisolated let (jobs, events) = AsyncStream<@MainActor @Sendable () throws -> Void>.makeStream()  // in order
  private var inputs: [String: StreamInput] = [:]

  init() throws {
    var configuration = PictureInPictureSession.Configuration()
    configuration.streamSelectorPolicy = .activeSpeaker
    session = try PictureInPictureSession(display: WindowDisplay(), configuration: configuration)
    session.startsAutomatically = true
    session.muteHandler = { [weak session] isMuted in
      call_set_muted(isMuted)
      session?.noteMuted(isMuted)
    }
  }

  func follow(_ kind: call_event_kind, _ name: String, level: Double, isMuted: Bool) throws {
    switch kind {
    case CALL_JOINED:
      inputs[name] = try session.addInput(StreamID(name))
      call_receive(name, show, inputs[name].map { Unmanaged.passUnretained($0).toOpaque() })
    case CALL_LEVEL: session.controller.streamSelector.setAudioLevel(StreamID(name), level)
    case CALL_MUTED: try session.setMicrophoneState(isMuted ? .off : .on, of: StreamID(name))
    case CALL_LEFT:
      call_receive(name, nil, nil)
      inputs[name] = nil
      try session.removeStream(StreamID(name))
    default: session.endInput(StreamID(name))  // The connection has failed, and the place of the stream says so.
    }
  }
}

// The SDK calls both functions on its threads. What it lends is valid until they return.
private func follow(_ context: UnsafeMutableRawPointer?, _ event: UnsafePointer<call_event>?) {
  guard let context, let event = event?.pointee else { return }
  let (call, name) = (Unmanaged<Call>.fromOpaque(context).takeUnretainedValue(), String(cString: event.name))
  let (kind, level, isMuted) = (event.kind, event.level, event.is_muted)
  call.events.yield { try call.follow(kind, name, level: level, isMuted: isMuted) }
}

private func show(_ context: UnsafeMutableRawPointer?, _ frame: UnsafePointer<call_frame>?) {
  guard let context, let frame = frame?.pointee, case (let y?, let u?, let v?) = frame.planes else { return }
  let planes = [(y, frame.strides.0), (u, frame.strides.1), (v, frame.strides.2)]
  try? Unmanaged<StreamInput>.fromOpaque(context).takeUnretainedValue().push(
    copying: planes.map { UnsafeLentPlane(address: $0, bytesPerRow: Int($1)) }, format: .i420,
    size: PictureSize(width: Int(frame.width), height: Int(frame.height)),
    timing: SampleTiming(presentationTimeStamp: MediaTime(clockTime: frame.time)))
}

MainLoop.run {
  let call = try Call()
  call_start(follow, Unmanaged.passRetained(call).toOpaque())
  Task { for await job in call.jobs { try? job() } }
  try await call.session.run()
}
