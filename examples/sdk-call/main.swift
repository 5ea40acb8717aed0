import CCallSDK
import PipSink
import PipSinkWindows

/// Shows a call whose SDK has a C interface and calls back on threads of its own.
@MainActor final class Call {
  let session: PictureInPictureSession
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

  func follow(_ event: Event) throws {
    let name = event.name
    switch event.kind {
    case CALL_JOINED:
      let input = try session.addInput(StreamID(name))
      inputs[name] = input
      call_receive(name, show, Unmanaged.passUnretained(input).toOpaque())
    case CALL_LEVEL: session.controller.streamSelector.setAudioLevel(StreamID(name), event.level)
    case CALL_MUTED: try session.setMicrophoneState(event.isMuted ? .off : .on, of: StreamID(name))
    case CALL_LEFT:
      call_receive(name, nil, nil)
      inputs[name] = nil
      try session.removeStream(StreamID(name))
    default: session.endInput(StreamID(name))  // The connection has failed, and the place of the stream says so.
    }
  }
}

/// What the SDK tells of a participant, with a name that stays valid.
struct Event: Sendable {
  let kind: call_event_kind
  let name: String
  let level: Double
  let isMuted: Bool
}

/// Brings the events to the main actor in their order, which one task for each event would not promise.
final class Inbox: Sendable {
  let (events, continuation) = AsyncStream<Event>.makeStream()
}

// The SDK calls both functions on its threads. What it lends is valid until they return.
private func follow(_ context: UnsafeMutableRawPointer?, _ event: UnsafePointer<call_event>?) {
  guard let context, let event = event?.pointee else { return }
  let inbox = Unmanaged<Inbox>.fromOpaque(context).takeUnretainedValue()
  inbox.continuation.yield(
    Event(kind: event.kind, name: String(cString: event.name), level: event.level, isMuted: event.is_muted))
}

private func show(_ context: UnsafeMutableRawPointer?, _ frame: UnsafePointer<call_frame>?) {
  guard let context, let frame = frame?.pointee, let y = frame.planes.0, let u = frame.planes.1, let v = frame.planes.2
  else { return }
  let planes = [(y, frame.strides.0), (u, frame.strides.1), (v, frame.strides.2)]
  try? Unmanaged<StreamInput>.fromOpaque(context).takeUnretainedValue().push(
    copying: planes.map { UnsafeLentPlane(address: $0, bytesPerRow: Int($1)) }, format: .i420,
    size: PictureSize(width: Int(frame.width), height: Int(frame.height)),
    timing: SampleTiming(presentationTimeStamp: MediaTime(clockTime: frame.time)))
}

MainLoop.run {
  let (call, inbox) = (try Call(), Inbox())
  call_start(follow, Unmanaged.passRetained(inbox).toOpaque())
  Task { for await event in inbox.events { try? call.follow(event) } }
  try await call.session.run()
}
