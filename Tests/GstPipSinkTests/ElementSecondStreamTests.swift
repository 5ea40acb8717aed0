import CGStreamer
import CGStreamerCheck
import Testing

@testable import GstPipSink
@testable import PipSink
@testable import TestSupport

/// The property `pip-second-stream-id`, with surfaces in memory.
@Suite struct ElementSecondStreamTests {
  private func make(_ id: String, _ properties: String = "", _ session: String) throws -> ElementHarness {
    let harness = try ElementHarness("surface=offscreen sync=false stream-id=\(id) session=\(session) \(properties)")
    harness.setCaps()
    harness.push()
    return harness
  }

  private func showsSecond(_ session: ElementSession?) -> Bool {
    session?.router.table.surface(for: "two") == .pictureInPicture
  }

  @Test func theStreamThatItNamesIsShownInTheOtherHalf() async throws {
    let one = try make("one", "pip-second-stream-id=two mode=pip", #function)
    let two = try make("two", "", #function)
    let session = one.session
    #expect(one.elementMessages(until: "pip-did-start").last == "pip-did-start")
    #expect(await eventually { showsSecond(session) })
    two.push(milliseconds: 33)
    #expect(await eventually { two.state.member?.statistics?.pictureInPicture ?? 0 > 0 })
    #expect(one.value("pip-second-stream-id") == "two" && two.value("mode") != "pip")
    #expect(one.message(GST_MESSAGE_WARNING, seconds: 0) == nil)

    one.set("pip-second-stream-id", "")
    #expect(await eventually { !showsSecond(session) })
    let count = two.state.member?.statistics?.pictureInPicture
    two.push(milliseconds: 66)
    #expect(two.state.member?.statistics?.pictureInPicture == count)
  }

  @Test func aStreamThatIsNotThereOrHasTheWindowIsAWarningAndShownWhenItCanBe() async throws {
    let one = try make("one", "mode=pip", #function)
    let session = one.session
    #expect(one.elementMessages(until: "pip-did-start").last == "pip-did-start")
    one.set("pip-second-stream-id", "two")
    let warning = try #require(one.message(GST_MESSAGE_WARNING))
    #expect(warning.contains("no stream \"two\"; the streams are: one"), "\(warning)")
    let two = try make("two", "", #function)
    #expect(await eventually { showsSecond(session) })
    gst_element_set_state(two.element, GST_STATE_NULL)
    #expect(!showsSecond(session))
    gst_element_set_state(two.element, GST_STATE_PLAYING)
    two.pushStart()
    two.push(milliseconds: 33)
    #expect(await eventually { showsSecond(session) })

    one.set("pip-second-stream-id", "one")
    #expect(one.message(GST_MESSAGE_WARNING)?.contains("\"one\" has the window already") == true)
    #expect(await eventually { !showsSecond(session) })
  }
}

/// The property `pip-layout`.
@Suite struct ElementLayoutTests {
  @Test func allElementsOfASessionShowTheLayoutThatOneOfThemOrTheUserHasChosen() async throws {
    let harnesses = try ["one", "two", "three"].map { id in
      let harness = try ElementHarness(
        "surface=offscreen sync=false stream-id=\(id) session=\(#function) "
          + (id == "two" ? "pip-layout=grid" : id == "one" ? "mode=pip" : ""))
      harness.setCaps()
      harness.push()
      return harness
    }
    func layouts() -> [String?] { harnesses.map { $0.value("pip-layout") } }
    let session = try #require(harnesses[0].session)
    #expect(harnesses[0].elementMessages(until: "pip-did-start").last == "pip-did-start")
    #expect(await eventually { layouts() == ["grid", "grid", "grid"] })
    #expect(
      await eventually {
        ["one", "two", "three"].allSatisfy { session.router.table.surface(for: $0) == .pictureInPicture }
      })

    // What an application sets later counts, and so does what the user does in the window.
    harnesses[2].set("pip-layout", "split")
    #expect(await eventually { layouts() == ["split", "split", "split"] })
    harnesses[0].set("pip-second-stream-id", "three")
    #expect(await eventually { session.router.table.surface(for: "two") == .inApp })
    #expect(layouts() == ["split", "split", "split"])
    harnesses[1].set("pip-layout", "single")
    #expect(await eventually { layouts() == ["single", "single", "single"] })
    #expect(await eventually { session.router.table.surface(for: "three") == .inApp })
  }

  @Test func theElementsOfASessionAgreeOnHowItsWindowKeepsOutOfTheWay() async throws {
    let harnesses = try ["one", "two"].map { id in
      let harness = try ElementHarness(
        "surface=offscreen sync=false stream-id=\(id) session=\(#function) "
          + (id == "two" ? "pip-opacity=0.5 pip-steps-aside=true" : "mode=pip"))
      harness.setCaps()
      harness.push()
      return harness
    }
    #expect(harnesses[0].elementMessages(until: "pip-did-start").last == "pip-did-start")
    func configuration() async throws -> PictureInPictureController.Configuration {
      try await harnesses[0].onInterface { $0.controller.configuration }
    }
    #expect(try await eventually { try await configuration().opacity == 0.5 })
    #expect(try await configuration().stepsAside)
    harnesses[1].set("pip-click-through", "true")
    #expect(await eventually { harnesses.map { $0.value("pip-click-through") } == ["true", "true"] })
    #expect(try await configuration().isClickThrough)
    // What the user ends in the window is not wanted again by the next change of another property.
    try await harnesses[0].onInterface { $0.controller.configuration.isClickThrough = false }
    #expect(await eventually { harnesses.map { $0.value("pip-click-through") } == ["false", "false"] })
    harnesses[1].set("pip-opacity", "0.75")
    #expect(try await eventually { try await configuration().opacity == 0.75 })
    #expect(try await !configuration().isClickThrough)
    let told = harnesses[0].takeMessages().filter { $0.name == "pip-click-through-changed" }
    #expect(told.map { $0.fields["click-through"] } == ["true", "false"])
  }
}
