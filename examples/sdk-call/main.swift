import CCallSDK
import PipSink
import PipSinkWindows

/// Shows a call whose SDK calls back on threads of its own, with a C interface.
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

  private func join(_ name: String) throws {
    let input = try session.addInput(StreamID(name))
    inputs[name] = input
    call_receive(name, show, Unmanaged.passUnretained(input).toOpaque())
    print("\(name) has joined")
  }

  private func leave(_ name: String) throws {
    call_receive(name, nil, nil)
    inputs[name] = nil
    try session.removeStream(StreamID(name))
    print("\(name) has left")
  }

  /// The place of the stream says that it has ended.
  private func fail(_ name: String, _ reason: String) {
    session.endInput(StreamID(name))
    print("\(name): \(reason)")
  }

  func start() { call_start(Self.callbacks(Unmanaged.passRetained(self).toOpaque())) }

  // The SDK calls these functions on threads of its own, so they must not be written in functions of the main actor. What
  // it tells is followed there.

  private nonisolated static func callbacks(_ call: UnsafeMutableRawPointer) -> call_callbacks {
    call_callbacks(
      context: call,
      joined: { context, name in Call.follow(context, name) { try $0.join($1) } },
      level: { context, name, level in
        Call.follow(context, name) { $0.session.controller.streamSelector.setAudioLevel(StreamID($1), level) }
      },
      muted: { context, name, isMuted in
        Call.follow(context, name) { try $0.session.setMicrophoneState(isMuted ? .off : .on, of: StreamID($1)) }
      },
      left: { context, name in Call.follow(context, name) { try $0.leave($1) } },
      failed: { context, name, reason in
        let reason = reason.map { String(cString: $0) } ?? ""
        Call.follow(context, name) { $0.fail($1, reason) }
      })
  }

  private nonisolated static func follow(
    _ context: UnsafeMutableRawPointer?, _ name: UnsafePointer<CChar>?,
    _ body: @escaping @MainActor @Sendable (Call, String) throws -> Void
  ) {
    guard let context, let name = name.map({ String(cString: $0) }) else { return }
    let call = Unmanaged<Call>.fromOpaque(context).takeUnretainedValue()
    Task { @MainActor in
      do {
        try body(call, name)
      } catch {
        print(error)
      }
    }
  }
}

/// Passes a frame to the session on the SDK's thread. Its planes are valid during the call.
private func show(_ context: UnsafeMutableRawPointer?, _ frame: UnsafePointer<call_frame>?) {
  guard let context, let frame = frame?.pointee, let y = frame.planes.0, let u = frame.planes.1, let v = frame.planes.2
  else { return }
  do {
    try Unmanaged<StreamInput>.fromOpaque(context).takeUnretainedValue().push(
      copying: [
        UnsafeLentPlane(address: y, bytesPerRow: Int(frame.strides.0)),
        UnsafeLentPlane(address: u, bytesPerRow: Int(frame.strides.1)),
        UnsafeLentPlane(address: v, bytesPerRow: Int(frame.strides.2)),
      ],
      format: .i420, size: PictureSize(width: Int(frame.width), height: Int(frame.height)),
      timing: SampleTiming(presentationTimeStamp: MediaTime(clockTime: frame.time)))
  } catch {
    print(error)
  }
}

MainLoop.run {
  let call = try Call()
  call.start()
  try await call.session.run()
}
