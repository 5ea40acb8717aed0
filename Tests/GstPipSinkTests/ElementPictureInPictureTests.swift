import CGStreamer
import CGStreamerCheck
import Testing

@testable import GstPipSink
@testable import PipSink
@testable import TestSupport

/// Sessions and picture-in-picture of the element, with surfaces in memory.
@Suite struct ElementPictureInPictureTests {
  private let run = ["pip-will-start", "render-size-changed", "pip-did-start"]

  @Test func theModeStartsPictureInPictureAndFollowsIt() async throws {
    let harness = try ElementHarness("surface=offscreen sync=false mode=pip session=\(#function)")
    harness.setCaps()
    harness.push()
    #expect(harness.elementMessages(until: "pip-did-start").filter { $0 != "demand-changed" }.suffix(3) == run)
    #expect(harness.value("mode") == "pip")
    harness.push(milliseconds: 33)
    #expect(harness.state.member?.statistics?.pictureInPicture ?? 0 > 0)
    harness.set("mode", "normal")
    #expect(harness.elementMessages(until: "pip-did-stop") == ["pip-will-stop", "pip-did-stop"])
    let inApp = harness.state.member?.statistics?.inApp ?? 0
    harness.push(milliseconds: 66)
    #expect(harness.state.member?.statistics?.inApp == inApp + 1)
  }

  @Test func actionSignalsStartAndStop() async throws {
    let harness = try ElementHarness("surface=offscreen sync=false session=\(#function)")
    harness.setCaps()
    harness.push()
    for signal in ["toggle-pip", "start-pip"] {
      harness.emit(signal)
      #expect(harness.elementMessages(until: "pip-did-start").filter { $0 != "demand-changed" }.suffix(3) == run)
      harness.emit(signal == "start-pip" ? "stop-pip" : signal)
      #expect(harness.elementMessages(until: "pip-did-stop") == ["pip-will-stop", "pip-did-stop"])
    }
  }

  @Test func pictureInPictureIsGivenUpAndSetUpAgain() async throws {
    let harness = try ElementHarness("surface=offscreen sync=false session=\(#function)")
    harness.setCaps()
    harness.push()
    harness.emit("start-pip")
    #expect(harness.elementMessages(until: "pip-did-start").filter { $0 != "demand-changed" }.suffix(3) == run)
    harness.emit("uninit-pip")
    #expect(harness.elementMessages(until: "pip-did-stop") == ["pip-will-stop", "pip-did-stop"])
    #expect(await eventually { harness.value("mode") == "normal" })
    harness.emit("start-pip")
    #expect(harness.elementMessages(until: "pip-failed").contains("pip-failed"))
    harness.emit("init-pip")
    harness.emit("start-pip")
    #expect(harness.elementMessages(until: "pip-did-start").filter { $0 != "demand-changed" }.suffix(3) == run)
  }

  @Test func elementsOfASessionShareThePictureInPictureWindow() async throws {
    let one = try ElementHarness("surface=offscreen sync=false stream-id=one session=\(#function)")
    let two = try ElementHarness("surface=offscreen sync=false stream-id=two session=\(#function)")
    let other = try ElementHarness("surface=offscreen sync=false stream-id=one session=other")
    #expect(one.session === two.session)
    #expect(one.session !== other.session)
    for harness in [one, two, other] {
      harness.setCaps()
      harness.push()
    }
    one.emit("start-pip")
    #expect(one.elementMessages(until: "pip-did-start").contains("pip-did-start"))
    two.set("mode", "pip")
    #expect(await eventually { one.session?.router.table.pictureInPictureStreamID == "two" })
    #expect(await eventually { one.value("mode") == "normal" })
    #expect(other.session?.router.table.mode == .normal)
    // The test may also ask another element of the session.
    one.set("pip-stream-id", "two")
    one.emit("stop-pip")
    #expect(two.elementMessages(until: "pip-did-stop").contains("pip-did-stop"))
  }

  @Test func aStreamThatIsNotThereIsSaidOnTheBusWithThoseThatAreAndShownWhenItComes() throws {
    let one = try ElementHarness(
      "surface=offscreen sync=false stream-id=one mode=pip pip-stream-id=nobody session=\(#function)")
    one.setCaps()
    one.push()
    let warning = try #require(one.message(GST_MESSAGE_WARNING))
    #expect(warning.contains("no stream \"nobody\"; the streams are: one"), "\(warning)")
    one.push(milliseconds: 33)
    #expect(one.message(GST_MESSAGE_WARNING, seconds: 0.1) == nil, "the warning is given only once")
    one.set("pip-stream-id", "nowhere")
    #expect(one.message(GST_MESSAGE_WARNING)?.contains("\"nowhere\"") == true)
    let two = try ElementHarness("surface=offscreen sync=false stream-id=nowhere session=\(#function)")
    two.setCaps()
    two.push()
    #expect(two.elementMessages(until: "pip-did-start").last == "pip-did-start")
  }

  @Test func aStreamThatGoesWhileItIsAwaitedIsAwaitedNoMore() async throws {
    let properties = "surface=offscreen sync=false session=\(#function)"
    let other = try ElementHarness("\(properties) stream-id=other")
    let one = try ElementHarness("\(properties) stream-id=one")
    // Neither stream has a picture yet.
    one.emit("start-pip")
    #expect(try await other.onInterface { $0.controller.isWaitingForPicture })
    gst_element_set_state(one.element, GST_STATE_NULL)
    // There is nothing to stop any more.
    other.emit("toggle-pip")
    #expect(try await other.onInterface { $0.controller.isWaitingForPicture })
    other.setCaps()
    other.push()
    #expect(other.elementMessages(until: "pip-did-start").last == "pip-did-start")
  }

  @Test func theWindowsShapeIsTheElementsWord() async throws {
    let harness = try ElementHarness("surface=offscreen sync=false mode=pip pip-aspect-ratio=4/1 session=\(#function)")
    harness.setCaps()
    harness.push()
    #expect(harness.elementMessages(until: "pip-did-start").last == "pip-did-start")
    #expect(try await harness.onInterface { $0.controller.aspectRatio } == 4)
    harness.set("pip-aspect-ratio", "1/2")
    #expect(try await harness.onInterface { $0.controller.aspectRatio } == 0.5)
    #expect(harness.value("pip-aspect-ratio") == "1/2")
    harness.set("pip-aspect-ratio", "0/1")
    #expect(try await harness.onInterface { $0.controller.aspectRatio } == 4.0 / 3)
    #expect(harness.value("pip-aspect-ratio") == "0/1")
  }

  @Test func whatIsToldNamesTheStreamThatItIsAbout() async throws {
    let one = try ElementHarness(
      "surface=offscreen sync=false stream-id=one mode=pip pip-end-action=stop session=\(#function)")
    let two = try ElementHarness("surface=offscreen sync=false stream-id=two session=\(#function)")
    for harness in [one, two] {
      harness.setCaps()
      harness.push()
    }
    #expect(one.elementMessages(until: "pip-did-start").last == "pip-did-start")
    gst_element_set_state(one.element, GST_STATE_NULL)
    // The element of this stream does not post messages any more.
    var messages: [ElementHarness.Message] = []
    #expect(
      await eventually {
        messages += two.takeMessages().filter { $0.name.hasPrefix("pip-") }
        return messages.count >= 3
      })
    #expect(messages.map(\.name) == ["pip-will-stop", "pip-did-stop", "pip-source-changed"])
    #expect(messages.map { $0.fields["stream-id"] } == ["one", "one", "two"])
  }

  @Test func aStreamThatStopsMakesRoomForTheNext() async throws {
    let one = try ElementHarness("surface=offscreen sync=false stream-id=one mode=pip session=\(#function)")
    let two = try ElementHarness("surface=offscreen sync=false stream-id=two session=\(#function)")
    for harness in [one, two] {
      harness.setCaps()
      harness.push()
    }
    #expect(one.elementMessages(until: "pip-did-start").contains("pip-did-start"))
    let session = try #require(two.session)
    gst_element_set_state(one.element, GST_STATE_NULL)
    #expect(session.router.streamIDs == ["two"])
    #expect(await eventually { session.router.table.surface(for: "two") == .pictureInPicture })
  }

  @Test(arguments: ["next", "stop", "placeholder"])
  func aStreamThatEndsInPictureInPictureDoesWhatIsConfigured(action: String) async throws {
    let properties = "surface=offscreen sync=false pip-end-action=\(action) session=\(#function)-\(action)"
    let one = try ElementHarness("\(properties) stream-id=one mode=pip")
    let two = try ElementHarness("\(properties) stream-id=two")
    for harness in [one, two] {
      harness.setCaps()
      harness.push()
    }
    #expect(one.elementMessages(until: "pip-did-start").contains("pip-did-start"))
    let session = try #require(one.session)
    gst_harness_push_event(one.harness, gst_event_new_eos())
    switch action {
    case "next": #expect(await eventually { session.router.table.surface(for: "two") == .pictureInPicture })
    case "stop": #expect(one.elementMessages(until: "pip-did-stop") == ["pip-will-stop", "pip-did-stop"])
    default: #expect(await !eventually(within: 0.05) { session.router.table.surface(for: "one") != .pictureInPicture })
    }
    // After a seek, the stream is back and can be shown again.
    gst_harness_push_event(one.harness, gst_event_new_flush_start())
    gst_harness_push_event(one.harness, gst_event_new_flush_stop(1))
    one.emit("start-pip")
    #expect(await eventually { session.router.table.surface(for: "one") == .pictureInPicture })
    // The end of another stream changes nothing.
    gst_harness_push_event(two.harness, gst_event_new_eos())
    #expect(await !eventually(within: 0.05) { session.router.table.surface(for: "one") != .pictureInPicture })
  }

  @Test func twoStreamsOfOneNameInASessionAreAMistake() throws {
    let one = try ElementHarness("surface=none stream-id=twice session=\(#function)")
    let two = try ElementHarness.makeElement("surface=none stream-id=twice session=\(#function)")
    defer { gst_object_unref(two) }
    #expect(gst_element_set_state(two, GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE)
    gst_element_set_state(two, GST_STATE_NULL)
    #expect(one.state.member != nil)
  }

  @Test func withoutASurfaceOrWhileStoppedPictureInPictureFails() throws {
    let harness = try ElementHarness("surface=none sync=false")
    harness.emit("start-pip")
    #expect(harness.elementMessages(until: "pip-failed").last == "pip-failed")
    gst_element_set_state(harness.element, GST_STATE_NULL)
    harness.emit("toggle-pip")
    #expect(harness.elementMessages(until: "pip-failed").last == "pip-failed")
  }

  @Test func aStreamThatMayNotBeInPictureInPictureLeavesItAndIsRefused() async throws {
    let harness = try ElementHarness("surface=offscreen sync=false session=\(#function)")
    harness.setCaps()
    harness.push()
    harness.emit("start-pip")
    #expect(harness.elementMessages(until: "pip-did-start").last == "pip-did-start")
    harness.set("pip-allowed", "false")
    #expect(harness.elementMessages(until: "pip-did-stop").last == "pip-did-stop")
    harness.emit("start-pip")
    #expect(harness.elementMessages(until: "pip-failed").last == "pip-failed")
    harness.set("pip-allowed", "true")
    harness.emit("start-pip")
    #expect(harness.elementMessages(until: "pip-did-start").last == "pip-did-start")
  }
}
