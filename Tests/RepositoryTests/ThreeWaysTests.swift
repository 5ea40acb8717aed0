import CGStreamer
import CGStreamerCheck
import Foundation
import Testing

@testable import GstPipSink
@testable import PipSink
@testable import TestSupport
@testable import pipsink_demo

/// Runs one script of twenty steps with Swift, with the element and with the demo on D-Bus. The events must be the
/// same, and so must the stream that is in picture-in-picture.
@Suite(
  .enabled(if: SessionBus.isInstalled, "dbus-daemon, gdbus, playerctl or python3 is not installed"),
  .timeLimit(.minutes(5)))
struct ThreeWaysTests {
  enum Action: Equatable, Sendable {
    case start(StreamID)
    case stop
    case add(StreamID)
    case remove(StreamID)
  }

  struct Step: Sendable {
    let action: Action
    /// The events during the step.
    let events: [String]
    /// The stream that is in picture-in-picture after the step.
    let stream: StreamID?

    init(_ action: Action, _ events: [String], _ stream: StreamID?) {
      (self.action, self.events, self.stream) = (action, events, stream)
    }
  }

  private static let begun = ["willStart", "didStart"]
  private static let ended = ["willStop requested", "didStop requested"]

  static let script = [
    Step(.start("a"), begun, "a"),
    Step(.start("b"), ["sourceChanged a to b"], "b"),
    Step(.start("b"), [], "b"),
    Step(.stop, ended, nil),
    Step(.start("b"), begun, "b"),
    Step(.start("a"), ["sourceChanged b to a"], "a"),
    Step(.start("b"), ["sourceChanged a to b"], "b"),
    Step(.stop, ended, nil),
    Step(.stop, [], nil),
    Step(.start("a"), ["sourceChanged b to a"] + begun, "a"),
    Step(.add("c"), [], "a"),
    Step(.start("c"), ["sourceChanged a to c"], "c"),
    Step(.remove("c"), ["sourceChanged c to a"], "a"),
    Step(.start("b"), ["sourceChanged a to b"], "b"),
    Step(.stop, ended, nil),
    Step(.add("c"), [], nil),
    Step(.start("c"), ["sourceChanged b to c"] + begun, "c"),
    Step(.stop, ended, nil),
    Step(.remove("c"), ["sourceChanged c to a"], nil),
    Step(.start("a"), begun, "a"),
  ]

  private static func live(_ name: String) -> String {
    "videotestsrc is-live=true ! video/x-raw,width=64,height=36,framerate=30/1 ! appsink name=\(name) "
  }

  @MainActor @Test func aSwiftProgramsSession() async throws {
    let session = try PictureInPictureSession(.text(Self.live("a") + Self.live("b")), display: try OffscreenDisplay())
    let events = Locked<[String]>([])
    session.observeEvents { event in
      if case .pictureInPicture(let event, _) = event, let text = Self.text(event) {
        events.withLock { $0.append(text) }
      }
    }
    try await session.start()
    #expect(await eventually { session.streams.allSatisfy { $0.state == .playing } })
    for (number, step) in Self.script.enumerated() {
      let before = events.withLock { $0.count }
      switch step.action {
      case .start(let id): try session.startPictureInPicture(id)
      case .stop: session.stopPictureInPicture()
      case .add(let id):
        try session.startStream(id, from: .text(Self.live("x")))
        #expect(await eventually { session.router.latestSampleBuffer(of: id) != nil })
      case .remove(let id): try session.removeStream(id)
      }
      let told = { events.withLock { Array($0[before...]) } }
      #expect(await eventually { told().count >= step.events.count })
      #expect(told() == step.events, "step \(number + 1): \(step.action)")
      #expect(session.pictureInPictureStreamID == step.stream, "step \(number + 1): \(step.action)")
    }
    await session.stop()
  }

  @MainActor @Test func theElementsOfASession() async throws {
    var elements: [StreamID: ElementHarness] = [:]
    func add(_ id: StreamID) async throws {
      let harness = try ElementHarness("surface=offscreen sync=false stream-id=\(id) session=three-ways")
      harness.setCaps()
      harness.push()
      elements[id] = harness
      // The session has the stream only when its work on the main actor is done.
      #expect(await eventually { harness.session?.engine.info(of: id)?.state == .playing })
      _ = harness.takeMessages()
    }
    for id: StreamID in ["a", "b"] { try await add(id) }
    for (number, step) in Self.script.enumerated() {
      var told: [String] = []
      func collect() { for harness in elements.values { told += harness.takeMessages().compactMap(Self.text) } }
      switch step.action {
      case .start(let id): elements[id]?.emit("start-pip")
      case .stop: elements.values.first { $0.mode == "pip" }?.emit("stop-pip")
      case .add(let id): try await add(id)
      case .remove(let id): elements[id] = nil
      }
      #expect(
        await eventually {
          collect()
          return told.count >= step.events.count
        })
      let current = { elements.filter { $0.value.mode == "pip" }.map(\.key) }
      #expect(await eventually { current() == [step.stream].compactMap(\.self) }, "step \(number + 1)")
      collect()
      #expect(told == step.events, "step \(number + 1): \(step.action)")
    }
  }

  @Test func theDemoOnTheBus() async throws {
    let bus = try await SessionBus()
    let demo = try await bus.startSession([Self.live("a") + Self.live("b"), "--pip-policy", "first"])
    for id in ["a", "b"] { #expect(try await eventually { try await bus.receivedCount(of: id) > 0 }) }
    for (number, step) in Self.script.enumerated() {
      let result =
        switch step.action {
        case .start(let id): try await bus.call("Enable", id.rawValue)
        case .stop: try await bus.call("Stop")
        case .add(let id): try await bus.call("StartPlayingStream", id.rawValue, Self.live("x"))
        case .remove(let id): try await bus.call("StopPlayingStream", id.rawValue)
        }
      #expect(result.status == 0, "step \(number + 1): \(result.errors)")
      if case .add(let id) = step.action {
        #expect(try await eventually { try await bus.receivedCount(of: id.rawValue) > 0 })
      }
      #expect(
        try await bus.property("PictureInPictureStream") == "'\(step.stream ?? "")'",
        "step \(number + 1): \(step.action)")
      // If the start is stopped before its first picture, the state never becomes active.
      if step.events.contains("didStart") {
        #expect(try await eventually { try await bus.property("PictureInPictureState") == "'PIPActive'" })
      }
    }
    let result = try await bus.quit(demo)
    #expect(result.status == 0, "\(result.errors)")
    let told = try result.report().pictureInPictureEvents.compactMap { record -> String? in
      switch record.event {
      case "renderSizeChanged", "suspendedChanged": nil
      case "didStart": "didStart"
      default: ([record.event] + [record.detail].compactMap(\.self)).joined(separator: " ")
      }
    }
    #expect(told == Self.script.flatMap(\.events))
  }

  // MARK: - One notation

  private static func text(_ event: PictureInPictureEvent) -> String? {
    switch event {
    case .willStart: "willStart"
    case .didStart: "didStart"
    case .willStop(let reason): "willStop \(reason)"
    case .didStop(let reason): "didStop \(reason)"
    case .sourceChanged(let old, let new): "sourceChanged \(old) to \(new)"
    case .failedToStart(let error): "failedToStart \(error)"
    case .restoreUserInterface: "restoreUserInterface"
    case .action(let action): "action \(action.name)"
    case .layoutChanged(let layout): "layoutChanged \(layout.rawValue)"
    case .clickThroughChanged(let isClickThrough): "clickThroughChanged \(isClickThrough)"
    case .stateChanged, .renderSizeChanged, .suspendedChanged, .restoreFailed: nil
    }
  }

  /// The notation of an element message.
  private static func text(_ message: ElementHarness.Message) -> String? {
    switch message.name {
    case "pip-will-start": "willStart"
    case "pip-did-start": "didStart"
    case "pip-will-stop": "willStop \(message.fields["reason"] ?? "")"
    case "pip-did-stop": "didStop \(message.fields["reason"] ?? "")"
    case "pip-source-changed": "sourceChanged \(message.fields["from"] ?? "") to \(message.fields["to"] ?? "")"
    case "pip-layout-changed": "layoutChanged \(message.fields["layout"] ?? "")"
    case "pip-click-through-changed": "clickThroughChanged \(message.fields["click-through"] ?? "")"
    case "pip-failed": "failedToStart \(message.fields["reason"] ?? "")"
    default: nil
    }
  }
}
