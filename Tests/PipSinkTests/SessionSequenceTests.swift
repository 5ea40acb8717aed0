import Testing

@testable import PipSink
@testable import TestSupport

/// A session under everything that an app, a user and a network may do, in any order. There are a thousand sequences,
/// and each can be repeated by its seed.
@MainActor @Suite(.timeLimit(.minutes(10))) struct SessionSequenceTests {
  /// Checks the order of the events (``PictureInPictureEvent``).
  @MainActor
  private final class Order {
    private enum Phase { case idle, starting, active, stopping }

    private var phase = Phase.idle
    private var streams: Set<StreamID>
    private(set) var mistakes: [String] = []
    private var tail: [String] = []

    init(_ streams: [StreamID]) { self.streams = Set(streams) }

    func hear(_ event: SessionEvent, of session: PictureInPictureSession) {
      tail = (tail + ["\(event)"]).suffix(6)
      switch event {
      case .streamAdded(let id): if !streams.insert(id).inserted { fail("a stream was added twice") }
      case .streamRemoved(let id, _): if streams.remove(id) == nil { fail("a stream was removed twice") }
      case .engine(let event):
        if let id = event.streamID, !streams.contains(id) { fail("an event of a stream that is not there") }
      case .pictureInPicture(let event, _): hear(event, isThere: session.pictureInPictureStreamID != nil)
      default: break
      }
    }

    private func hear(_ event: PictureInPictureEvent, isThere: Bool) {
      switch (phase, event) {
      case (.idle, .willStart): go(.starting, isThere)
      case (.starting, .didStart): go(.active, isThere)
      case (.starting, .failedToStart): go(.idle, !isThere)
      case (.active, .willStop): go(.stopping, isThere)
      case (.stopping, .didStop): go(.idle, !isThere)
      case (.stopping, .restoreUserInterface), (.stopping, .restoreFailed): break
      case (_, .stateChanged), (_, .sourceChanged), (_, .layoutChanged), (_, .clickThroughChanged): break
      case (.starting, .renderSizeChanged), (.active, .renderSizeChanged), (.stopping, .renderSizeChanged): break
      case (.starting, .action), (.active, .action), (.stopping, .action): break
      case (.starting, .suspendedChanged), (.active, .suspendedChanged), (.stopping, .suspendedChanged): break
      default: fail("the event is out of order in the phase \(phase)")
      }
    }

    private func go(_ phase: Phase, _ isRight: Bool) {
      if !isRight { fail("the stream in picture-in-picture does not match the phase") }
      self.phase = phase
    }

    private func fail(_ text: String) { mistakes.append("\(text): \(tail.joined(separator: "; "))") }

    var isIdle: Bool { phase == .idle }
  }

  private static let ids: [StreamID] = ["a", "b", "c"]

  /// Runs one sequence.
  @MainActor
  private final class Run {
    let display: OffscreenDisplay
    let session: PictureInPictureSession
    let order: Order
    private var random: SeededGenerator
    private var inputs: [StreamID: StreamInput] = [:]
    private let picture: PixelBuffer

    init(_ seed: UInt64, _ picture: PixelBuffer) throws {
      self.picture = picture
      random = SeededGenerator(seed: seed)
      display = try OffscreenDisplay(
        inAppSize: .init(width: 16, height: 9), pictureInPictureSize: .init(width: 16, height: 9))
      var configuration = PictureInPictureSession.Configuration()
      configuration.pictureInPicture.endAction = Self.pick(PictureInPictureEndAction.allCases, &random)
      session = try PictureInPictureSession(display: display, configuration: configuration)
      order = Order([])
      session.observeEvents { [weak self] event in
        if let self { order.hear(event, of: session) }
      }
      for id in SessionSequenceTests.ids { inputs[id] = try session.addInput(id, stallTimeout: nil) }
    }

    private var id: StreamID { Self.pick(SessionSequenceTests.ids, &random) }

    private static func pick<Element>(_ elements: [Element], _ random: inout SeededGenerator) -> Element {
      elements[Int.random(in: elements.indices, using: &random)]
    }

    func step() async throws -> String {
      let (id, window) = (id, display.pictureInPictureWindow)
      switch Int.random(in: 0..<24, using: &random) {
      case 0...4:
        // The frames come on another thread, at the same time as the next steps.
        if let input = inputs[id] {
          let picture = picture
          Task.detached { for _ in 0..<3 { input.push(picture) } }
        }
        return "push \(id)"
      case 5, 6: return "start \(id): \(result { () throws(PipSinkError) in try session.startPictureInPicture(id) })"
      case 7: return "start: \(result { () throws(PipSinkError) in try session.startPictureInPicture() })"
      case 8:
        session.stopPictureInPicture()
        return "stop"
      case 9: return "source \(id): \(result { () throws(PipSinkError) in try session.setPictureInPictureSource(id) })"
      case 10:
        let action = Self.pick(
          [SessionAction.togglePictureInPicture, .nextStream, .togglePause, .toggleMute], &random)
        return "\(action): \(result { () throws(PipSinkError) in try session.perform(action) })"
      case 11:
        session.startsAutomatically.toggle()
        return "automatic \(session.startsAutomatically)"
      case 12:
        let isInBackground = Bool.random(using: &random)
        display.eventHandler?(.background(isInBackground))
        return "background \(isInBackground)"
      case 13:
        session.endInput(id)
        return "end \(id)"
      case 14:
        session.resumeInput(id)
        return "resume \(id)"
      case 15:
        inputs[id] = nil
        return "remove \(id): \(result { () throws(PipSinkError) in try session.removeStream(id) })"
      case 16, 17:
        let added = result { () throws(PipSinkError) in inputs[id] = try session.addInput(id, stallTimeout: nil) }
        return "add \(id): \(added)"
      case 18:
        let state = Self.pick([DeviceState.on, .off, .unknown], &random)
        session.engine.setCameraState(state, of: id)
        return "camera of \(id) \(state)"
      case 19:
        session.engine.setInput(id, to: .stalled)
        return "stall \(id)"
      case 20:
        let action = Self.pick(PictureInPictureAction.known, &random)
        window.perform(action)
        return "\(action)"
      case 21:
        window.die()
        return "die"
      case 22:
        if let controller = try? session.addPictureInPictureWindow(for: id) { try? controller.toggle() }
        return "window for \(id)"
      default:
        try await Task.sleep(for: .milliseconds(Int.random(in: 0...3, using: &random)))
        return "wait"
      }
    }

    private func result(_ body: () throws(PipSinkError) -> Void) -> String {
      do throws(PipSinkError) {
        try body()
        return "done"
      } catch {
        return "refused"
      }
    }

    /// Describes a violation of a condition that must hold at any moment. It is nil if there is none.
    var contradiction: String? {
      let current = session.pictureInPictureStreamID
      if display.pictureInPictureWindow.isOpen != (current != nil) {
        return "the window is \(current == nil ? "open" : "closed") with \(current ?? "nobody") in it"
      }
      if let current, let presented = display.pictureInPictureWindow.presentation?.streamID, presented != current {
        return "the window presents \(presented), and the session has \(current) in it"
      }
      let routed = session.router.table.entries[.primary]?.streamID
      if let current, let routed, routed != current {
        return "\(routed) is routed to the window, and the session has \(current) in it"
      }
      if current == nil, let routed { return "\(routed) is routed to the window, and the session has no stream in it" }
      if session.isMuted != session.controller.isMuted { return "the session and its controller disagree about mute" }
      if session.isPaused != session.controller.isPaused {
        return "the session and its controller disagree about pause"
      }
      for id in display.placeholders.keys where session.info(of: id) == nil {
        return "the removed stream \(id) has a placeholder"
      }
      if Set(session.streams.map(\.id)) != Set(session.router.streamIDs) {
        return "the session and its router have different streams"
      }
      return nil
    }
  }

  @Test(arguments: 0..<10) func aHundredSequencesKeepTheOrderAndLeaveNothing(series: Int) async throws {
    let picture = try PlainFrame.make([255, 255, 255], 16, 9).pixelBuffer
    for number in 0..<100 {
      let seed = UInt64(series * 100 + number)
      weak var session: PictureInPictureSession?
      weak var engine: VideoEngine?
      weak var controller: PictureInPictureController?
      do {
        let run = try Run(seed, picture)
        (session, engine, controller) = (run.session, run.session.engine, run.session.controller)
        var steps: [String] = []
        for _ in 0..<25 {
          steps.append(try await run.step())
          if let contradiction = run.contradiction {
            Issue.record("seed \(seed): \(contradiction), after \(steps.suffix(8).joined(separator: ", "))")
            break
          }
        }
        await run.session.invalidate()
        #expect(run.order.isIdle, "seed \(seed)")
        #expect(run.order.mistakes.isEmpty, "seed \(seed): \(run.order.mistakes) after \(steps)")
        #expect(!run.display.pictureInPictureWindow.isOpen, "seed \(seed)")
      }
      #expect(
        await eventually { session == nil && engine == nil && controller == nil }, "seed \(seed) leaves objects behind")
    }
  }
}
