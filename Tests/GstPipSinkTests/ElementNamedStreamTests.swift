import CGStreamer
import Testing

@testable import GstPipSink
@testable import PipSink
@testable import TestSupport

/// The stream that an element names with `pip-stream-id` is the one in picture-in-picture, in pipelines like those of
/// gst-launch-1.0.
@Suite struct ElementNamedStreamTests {
  private static let ids: [StreamID] = ["a", "b", "c"]

  /// Describes an element with a live source.
  private static func branch(_ id: StreamID, _ session: String, _ properties: String = "") -> String {
    "videotestsrc is-live=true ! video/x-raw,width=64,height=36,framerate=60/1 ! pipsink name=\(id) "
      + "surface=offscreen session=\(session) \(properties) "
  }

  /// Plays pipelines, which are stopped when this is released.
  private final class Playing {
    private var pipelines: [String: UnsafeMutablePointer<GstElement>] = [:]

    init() throws { try PipSinkPlugin.register() }

    deinit { for name in pipelines.keys { stop(name) } }

    func play(_ name: String, _ description: String) throws {
      let pipeline = try #require(gst_parse_launch(description, nil))
      gst_object_ref_sink(pipeline)
      pipelines[name] = pipeline
      #expect(gst_element_set_state(pipeline, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE)
    }

    func stop(_ name: String) {
      guard let pipeline = pipelines.removeValue(forKey: name) else { return }
      gst_element_set_state(pipeline, GST_STATE_NULL)
      gst_object_unref(pipeline)
    }

    func with<Result>(_ id: StreamID, _ body: (UnsafeMutablePointer<GstElement>) -> Result) -> Result? {
      for pipeline in pipelines.values {
        guard let element = gst_bin_get_by_name(pipeline.asBin, id.rawValue) else { continue }
        defer { gst_object_unref(element) }
        return body(element)
      }
      return nil
    }

    func set(_ id: StreamID, _ property: String, _ value: String) {
      with(id) { element in
        gst_util_set_object_arg(
          UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self), property, value)
      }
    }

    func emit(_ signal: String, on id: StreamID) {
      with(id) { ElementHarness.emit(signal, on: $0) }
    }

    func statistics(_ id: StreamID) -> StreamStatistics? {
      with(id) { PipSinkElement.state(of: $0).member?.statistics } ?? nil
    }

    func table(_ id: StreamID) -> RoutingTable? {
      with(id) { PipSinkElement.state(of: $0).member?.session.router.table } ?? nil
    }

    /// Waits until streams have delivered some more frames.
    func deliver(_ ids: StreamID...) async -> Bool {
      let before = ids.map { ($0, statistics($0)?.received ?? 0) }
      return await eventually { before.allSatisfy { (statistics($0)?.received ?? 0) >= $1 + 5 } }
    }

    /// Waits until a stream is in picture-in-picture, and for some more frames of it, which must all be there.
    func shows(_ id: StreamID) async throws -> Bool {
      guard await eventually({ table(id)?.surface(for: id) == .pictureInPicture }) else { return false }
      let inApp = statistics(id)?.inApp
      return await deliver(id) && statistics(id)?.inApp == inApp
    }
  }

  @Test(arguments: ids, ids) func theNamedStreamIsInPictureInPictureWhicheverElementNamesIt(
    named: StreamID, by: StreamID
  ) async throws {
    let playing = try Playing()
    let session = "named-\(named)-\(by)"
    let branches = Self.ids.map { id in
      Self.branch(id, session, id == by ? "mode=pip pip-stream-id=\(named)" : "")
    }
    try playing.play("all", branches.joined())
    #expect(try await playing.shows(named))
    #expect(await playing.deliver("a", "b", "c"))
    for id in Self.ids where id != named { #expect(playing.statistics(id)?.pictureInPicture == 0, "\(id)") }
  }

  @Test func aNamedStreamTakesTheWindowWheneverItHasAPicture() async throws {
    let playing = try Playing()
    let session = "named-late"
    try playing.play("a", Self.branch("a", session, "mode=pip"))
    try playing.play("b", Self.branch("b", session))
    #expect(try await playing.shows("a"))
    // Nobody has this ID yet.
    playing.set("b", "pip-stream-id", "named")
    playing.set("b", "mode", "pip")
    #expect(try await playing.shows("a"))
    try playing.play("named", Self.branch("named", session))
    #expect(try await playing.shows("named"))
    let shown = playing.statistics("a")?.pictureInPicture
    #expect(await playing.deliver("a") && playing.statistics("a")?.pictureInPicture == shown)
    // It ends and comes back.
    playing.stop("named")
    #expect(try await playing.shows("a"))
    try playing.play("named", Self.branch("named", session))
    #expect(try await playing.shows("named"))
    // Its camera goes off and on.
    playing.set("named", "camera-off", "true")
    #expect(try await playing.shows("a"))
    playing.set("named", "camera-off", "false")
    #expect(try await playing.shows("named"))
    #expect(playing.statistics("b")?.pictureInPicture == 0)
    // Another element asks for its own stream while that is shown in place of the named one.
    playing.set("named", "camera-off", "true")
    #expect(try await playing.shows("a"))
    playing.emit("start-pip", on: "a")
    playing.set("named", "camera-off", "false")
    #expect(await playing.deliver("named"))
    #expect(try await playing.shows("a"))
  }

  @Test func theAutomaticStartShowsTheNamedStream() async throws {
    let playing = try Playing()
    let branches = Self.ids.map { id in
      Self.branch(id, "named-automatic", id == "a" ? "auto-pip=true pip-stream-id=b" : "")
    }
    try playing.play("all", branches.joined())
    #expect(await playing.deliver("a", "b", "c"))
    let member = try #require(playing.with("a") { PipSinkElement.state(of: $0).member } ?? nil)
    func set(background: Bool) {
      member.session.post(for: member) { $0.session.display.eventHandler?(.background(background)) }
    }
    set(background: true)
    #expect(try await playing.shows("b"))
    for id: StreamID in ["a", "c"] { #expect(playing.statistics(id)?.pictureInPicture == 0) }
    // The user chooses another stream in the window, and comes back to the app. A bin starts its elements from the last
    // one to the first.
    member.session.post(for: member) { $0.controller.perform(.previousStream) }
    #expect(try await playing.shows("c"))
    set(background: false)
    #expect(await eventually { playing.table("c")?.mode == .normal })
    set(background: true)
    #expect(try await playing.shows("c"))
    #expect(playing.statistics("a")?.pictureInPicture == 0)
    // Another name in the property is another choice.
    playing.set("a", "pip-stream-id", "a")
    #expect(try await playing.shows("a"))
  }

  @Test func aRefusedStartDoesNotChooseItsStream() async throws {
    let one = try ElementHarness("surface=offscreen sync=false stream-id=one session=\(#function)")
    let two = try ElementHarness("surface=offscreen sync=false stream-id=two session=\(#function)")
    for harness in [one, two] {
      harness.setCaps()
      harness.push()
    }
    one.emit("start-pip")
    #expect(one.elementMessages(until: "pip-did-start").last == "pip-did-start")
    one.emit("uninit-pip")
    #expect(one.elementMessages(until: "pip-did-stop").last == "pip-did-stop")
    two.emit("start-pip")
    #expect(two.elementMessages(until: "pip-failed").last == "pip-failed")
    #expect(try await one.onInterface { $0.controller.currentStreamID } == "one")
    #expect(await eventually { two.mode == "normal" })
  }

  @Test func aSharedScreenIsPreferredAndNeverCropped() async throws {
    let fill = "surface=offscreen sync=false gravity=resize-aspect-fill session=\(#function)"
    let screen = try ElementHarness("\(fill) stream-id=screen screen-share=true")
    let one = try ElementHarness("\(fill) stream-id=one")
    for harness in [one, screen] {
      harness.setCaps()
      harness.push()
    }
    func gravities() async throws -> [VideoGravity?] {
      try await one.onInterface {
        [$0.session.layer(of: "one")?.videoGravity, $0.session.layer(of: "screen")?.videoGravity]
      }
    }
    #expect(screen.value("screen-share") == "true" && one.value("screen-share") == "false")
    #expect(try await gravities() == [.resizeAspectFill, .resizeAspect])
    #expect(try await one.onInterface { $0.session.controller.currentStreamID } == "screen")
    // Another property does not change what other processes have set by D-Bus.
    try await one.onInterface { try? $0.session.setScreenShare(true, of: "one") }
    one.set("camera-off", "false")
    #expect(try await gravities() == [.resizeAspect, .resizeAspect])
    try await one.onInterface { try? $0.session.setScreenShare(false, of: "one") }
    screen.set("screen-share", "false")
    #expect(try await gravities() == [.resizeAspectFill, .resizeAspectFill])
    one.set("screen-share", "true")
    #expect(try await one.onInterface { $0.session.controller.currentStreamID } == "one")
    #expect(try await gravities() == [.resizeAspect, .resizeAspectFill])
  }
}
