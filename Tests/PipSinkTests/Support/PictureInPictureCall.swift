@testable import PipSink
@testable import TestSupport

/// Helpers for the tests of the controller.
extension PictureInPictureControllerTests {
  /// A call with streams "a" and "b", whose frames are 16x16 and 32x16.
  @MainActor
  final class Call {
    let router = FrameRouter()
    let inApp: [StreamID: RecordingDestination] = ["a": .init(), "b": .init()]
    let frames: [StreamID: PixelBuffer]
    let window: OffscreenPictureInPictureWindow
    var controller: PictureInPictureController?
    private(set) var consumers: [StreamID: any SampleBufferConsumer] = [:]
    private var sequences: [StreamID: UInt64] = [:]

    init(
      ready: [StreamID] = ["a", "b"], _ configuration: PictureInPictureController.Configuration = .init(),
      clock: ManualClock? = nil
    ) throws {
      frames = [
        "a": try TestFrame.pixelBuffer(TestFrame.testSource(.i420, 16, 16)),
        "b": try TestFrame.pixelBuffer(TestFrame.testSource(.i420, 32, 16)),
      ]
      window = try OffscreenPictureInPictureWindow(size: .init(width: 32, height: 18))
      for id: StreamID in ["a", "b"] { consumers[id] = router.addStream(id, inApp: inApp[id]) }
      controller = PictureInPictureController(
        contentSource: ContentSource(router: router, streamID: "a"), window: window, configuration: configuration,
        clock: SchedulingClock(clock))
      controller?.handledActions = [.playPause, .mute]
      for id in ready { send(id) }
    }

    func send(_ id: StreamID) {
      guard let frame = frames[id] else { return }
      sequences[id, default: 0] += 1
      consumers[id]?.consume(SampleBuffer(pixelBuffer: frame, sequenceNumber: sequences[id] ?? 0))
    }
  }

  /// Records the events of a controller, except for `stateChanged` and `renderSizeChanged`.
  @MainActor
  final class Log {
    private(set) var events: [PictureInPictureEvent] = []
    private var task: Task<Void, Never>?

    init(_ controller: PictureInPictureController?) {
      guard let stream = controller?.events() else { return }
      task = Task { [weak self] in
        for await event in stream { self?.note(event) }
      }
    }

    private func note(_ event: PictureInPictureEvent) {
      switch event {
      case .stateChanged, .renderSizeChanged: break
      case .didStart: events.append(.didStart(latency: nil))
      default: events.append(event)
      }
    }
  }
}

extension PictureInPictureController {
  /// Whether the controller waits for a change between background and foreground to settle.
  var isUpdatingForBackground: Bool { background.update == .waiting }
}
