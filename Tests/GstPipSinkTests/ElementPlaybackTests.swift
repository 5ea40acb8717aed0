import CGStreamer
import CGStreamerCheck
import Testing

@testable import GstPipSink
@testable import PipSink
@testable import TestSupport

/// The element's properties `paused` and `muted`, and the window's buttons for them.
@Suite struct ElementPlaybackTests {
  /// Counts the notifications of a property.
  final class Notifications: Sendable {
    let count = Locked(0)

    init(_ property: String, of object: UnsafeMutablePointer<GstElement>) {
      let handler: @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutableRawPointer?) -> Void = {
        _, _, context in
        guard let context else { return }
        Unmanaged<Notifications>.fromOpaque(context).takeUnretainedValue().count.withLock { $0 += 1 }
      }
      g_signal_connect_data(
        object, "notify::\(property)", unsafeBitCast(handler, to: GCallback.self),
        Unmanaged.passRetained(self).toOpaque(),
        { context, _ in if let context { Unmanaged<Notifications>.fromOpaque(context).release() } },
        GConnectFlags(rawValue: 0))
    }
  }

  /// The application plays it without the element's property then.
  @Test func aStreamThatStartsPausedPausesAtItsStartAlone() {
    var playback = ElementPlayback()
    #expect(playback.set(isPaused: true) == nil)
    #expect(playback.follow(GST_STATE_CHANGE_READY_TO_PAUSED, isToPlay: true) == nil)
    #expect(playback.follow(GST_STATE_CHANGE_PAUSED_TO_PLAYING, isToPlay: true) == GST_STATE_PAUSED)
    #expect(playback.follow(GST_STATE_CHANGE_PLAYING_TO_PAUSED, isToPlay: false) == nil)
    #expect(playback.isPaused)
    #expect(playback.follow(GST_STATE_CHANGE_PAUSED_TO_PLAYING, isToPlay: true) == nil)
    #expect(!playback.isPaused)
  }

  /// Returns the states that the element has requested from its application since the last call.
  private func requestedStates(_ harness: ElementHarness) -> [GstState] { requestedStates(of: harness.element) }

  private func requestedStates(of element: UnsafeMutablePointer<GstElement>) -> [GstState] {
    var states: [GstState] = []
    let bus = gst_element_get_bus(element)
    defer { gst_object_unref(bus) }
    while let message = gst_bus_pop_filtered(bus, GST_MESSAGE_REQUEST_STATE) {
      var state = GST_STATE_VOID_PENDING
      gst_message_parse_request_state(message, &state)
      states.append(state)
      gst_message_unref(message)
    }
    return states
  }

  /// Returns the keys that have been sent upstream since the last call.
  private func keys(_ harness: ElementHarness) -> [String] {
    var keys: [String] = []
    while let event = gst_harness_try_pull_upstream_event(harness.harness) {
      var key: UnsafePointer<CChar>?
      if event.pointee.type == GST_EVENT_NAVIGATION, gst_navigation_event_parse_key_event(event, &key) != 0, let key {
        keys.append(String(cString: key))
      }
      gst_event_unref(event)
    }
    return keys
  }

  /// Returns what the picture-in-picture window shows, and which of its controls are offered.
  private func presentation(_ harness: ElementHarness) async throws -> PictureInPicturePresentation? {
    try await harness.onInterface {
      ($0.session.display.pictureInPictureHost as? OffscreenPictureInPictureWindow)?.presentation
    }
  }

  /// Makes an element that plays and is shown in a picture-in-picture window in memory.
  private func makePlaying(_ name: String) throws -> ElementHarness {
    let harness = try ElementHarness("surface=offscreen sync=false mode=pip session=\(name)")
    harness.setCaps()
    harness.push()
    #expect(harness.elementMessages(until: "pip-did-start").last == "pip-did-start")
    return harness
  }

  // MARK: - Navigation

  @Test func theWheelGoesUpstreamInItsDirection() async throws {
    let harness = try ElementHarness("surface=offscreen sync=false session=\(#function)")
    harness.setCaps()
    harness.push()
    let member = try #require(harness.state.member)
    while let event = gst_harness_try_pull_upstream_event(harness.harness) { gst_event_unref(event) }
    try await harness.onInterface { _ in
      ElementNavigation.send(
        .scrolled(x: 16, y: 6, deltaX: 1, deltaY: -2), on: PictureSize(width: 64, height: 48), to: member)
    }
    var next = gst_harness_try_pull_upstream_event(harness.harness)
    // The element also tells upstream how large its pictures have to be.
    while let other = next, other.pointee.type != GST_EVENT_NAVIGATION {
      gst_event_unref(other)
      next = gst_harness_try_pull_upstream_event(harness.harness)
    }
    let event = try #require(next)
    defer { gst_event_unref(event) }
    var (x, y, deltaX, deltaY) = (0.0, 0.0, 0.0, 0.0)
    #expect(gst_navigation_event_parse_mouse_scroll_event(event, &x, &y, &deltaX, &deltaY) != 0)
    #expect(x == 8 && y == 3 && deltaX == 1 && deltaY == -2, "\(x), \(y), \(deltaX), \(deltaY)")
  }

  // MARK: - paused

  @Test func pausedIsTrueWhereTheElementStandsStillHoweverItGotThere() throws {
    let harness = try ElementHarness()
    gst_element_set_state(harness.element, GST_STATE_NULL)
    harness.set("async", "true")
    let notifications = Notifications("paused", of: harness.element)
    func isTold(_ paused: String, _ count: Int) -> Bool {
      harness.value("paused") == paused && notifications.count.withLock { $0 } == count
    }
    // The element is set to play at once, and it reaches this state with its first buffer.
    #expect(gst_element_set_state(harness.element, GST_STATE_PLAYING) == GST_STATE_CHANGE_ASYNC)
    #expect(isTold("false", 0))
    harness.pushStart()
    harness.push()
    #expect(isTold("false", 0), "nobody has paused it")
    gst_element_set_state(harness.element, GST_STATE_PAUSED)
    #expect(isTold("true", 1))
    gst_element_set_state(harness.element, GST_STATE_PLAYING)
    #expect(isTold("false", 2))
    gst_element_set_state(harness.element, GST_STATE_PAUSED)
    gst_element_set_state(harness.element, GST_STATE_READY)
    #expect(harness.value("paused") == "false", "a stopped element has nothing to pause")
    #expect(requestedStates(harness).isEmpty, "the application has changed all these states itself")
  }

  /// The pipeline's state counts, and not the states that its elements pass through.
  @Test(arguments: [GST_STATE_PAUSED, GST_STATE_PLAYING])
  func aPipelineThatIsSetToPlayIsNotPausedOnItsWay(first: GstState) throws {
    try PipSinkPlugin.register()
    let pipeline = try #require(gst_parse_launch("videotestsrc ! bin.( pipsink name=sink surface=none )", nil))
    defer {
      gst_element_set_state(pipeline, GST_STATE_NULL)
      gst_object_unref(pipeline)
    }
    let sink = try #require(
      pipeline.withMemoryRebound(to: GstBin.self, capacity: 1) { gst_bin_get_by_name($0, "sink") })
    defer { gst_object_unref(sink) }
    let notifications = Notifications("paused", of: sink)
    for state in [first, GST_STATE_PLAYING] {
      gst_element_set_state(pipeline, state)
      #expect(gst_element_get_state(pipeline, nil, nil, 60 * GstClockTime(1_000_000_000)) == GST_STATE_CHANGE_SUCCESS)
    }
    #expect(notifications.count.withLock { $0 } == (first == GST_STATE_PAUSED ? 2 : 0))
  }

  @Test func settingPausedAsksTheApplicationAndIsShownUntilThePipelineSaysSomethingElse() async throws {
    let harness = try makePlaying(#function)
    #expect(try await presentation(harness)?.isPaused == false)
    harness.set("paused", "true")
    #expect(requestedStates(harness) == [GST_STATE_PAUSED])
    #expect(harness.value("paused") == "true")
    #expect(try await presentation(harness)?.isPaused == true)
    gst_element_set_state(harness.element, GST_STATE_PAUSED)
    gst_element_set_state(harness.element, GST_STATE_PLAYING)
    #expect(harness.value("paused") == "false")
    #expect(try await presentation(harness)?.isPaused == false)
    harness.set("paused", "false")
    #expect(requestedStates(harness).isEmpty, "the element is already playing")
  }

  @Test func pausedBeforeTheStartAsksForAPauseWithTheFirstPicture() throws {
    let harness = try ElementHarness("surface=none sync=false")
    gst_element_set_state(harness.element, GST_STATE_NULL)
    harness.set("async", "true")
    harness.set("paused", "true")
    gst_element_set_state(harness.element, GST_STATE_PLAYING)
    #expect(requestedStates(harness).isEmpty)
    harness.pushStart()
    harness.push()
    #expect(requestedStates(harness) == [GST_STATE_PAUSED])
    #expect(harness.value("paused") == "true")
    gst_element_set_state(harness.element, GST_STATE_PAUSED)
    harness.set("paused", "false")
    #expect(requestedStates(harness) == [GST_STATE_PLAYING])
    gst_element_set_state(harness.element, GST_STATE_PLAYING)
    #expect(harness.value("paused") == "false")
  }

  // MARK: - The button for pause

  /// Presses the button of the picture-in-picture window.
  private func press(_ action: PictureInPictureAction, _ harness: ElementHarness, _ clock: ManualClock) async throws {
    let scheduling = clock.clock
    try await harness.onInterface { interface in
      interface.clock = scheduling
      interface.controller.perform(action)
    }
  }

  /// Waits until the application has shown which kind of request it reacts to.
  private func waitUntil(_ harness: ElementHarness, answersTo kind: ToggleRequest.Kind) async throws -> Bool {
    let deadline = MonotonicTime.now.advanced(by: .seconds(20))
    while try await harness.onInterface({ $0.requests.values.first?.kind }) != kind {
      if MonotonicTime.now > deadline { return false }
      try await Task.sleep(for: .milliseconds(1))
    }
    return true
  }

  @Test func anApplicationThatPausesWhenItIsAskedGetsNoKey() async throws {
    let (harness, clock) = (try makePlaying(#function), ManualClock())
    try await press(.playPause, harness, clock)
    #expect(requestedStates(harness) == [GST_STATE_PAUSED])
    gst_element_set_state(harness.element, GST_STATE_PAUSED)
    #expect(try await presentation(harness)?.isPaused == true)
    #expect(await clock.isAwaited(in: 1))
    clock.advance(by: 1)
    #expect(try await waitUntil(harness, answersTo: .message))
    try await press(.playPause, harness, clock)
    #expect(requestedStates(harness) == [GST_STATE_PLAYING])
    #expect(clock.alarmCount == 0, "the application is known to react")
    #expect(keys(harness).isEmpty)
  }

  /// The time in which the application was to react has passed when the user presses again.
  @Test func aRequestThatAnotherOneReplacesAsksForNothingMore() async throws {
    let (harness, clock) = (try makePlaying(#function), ManualClock())
    try await press(.playPause, harness, clock)
    #expect(await clock.isAwaited(in: 1))
    try await harness.onInterface { interface in
      clock.advance(by: 1)
      interface.controller.perform(.playPause)
    }
    #expect(await clock.isAwaited(in: 1))
    #expect(requestedStates(harness) == [GST_STATE_PAUSED, GST_STATE_PAUSED])
    #expect(keys(harness).isEmpty, "the key is sent only where the application does not react to the second request")
  }

  @Test func anApplicationThatKnowsOnlyThePlayersKeyGetsThat() async throws {
    let (harness, clock) = (try makePlaying(#function), ManualClock())
    try await press(.playPause, harness, clock)
    #expect(requestedStates(harness) == [GST_STATE_PAUSED])
    #expect(await clock.isAwaited(in: 1))
    #expect(keys(harness).isEmpty)
    clock.advance(by: 1)
    #expect(await clock.isAwaited(in: 1), "the element checks whether the application reacts to the key")
    #expect(keys(harness) == ["space"])
    #expect(try await presentation(harness)?.isPaused == false, "the window shows the actual state")
    gst_element_set_state(harness.element, GST_STATE_PAUSED)
    #expect(try await presentation(harness)?.isPaused == true)
    clock.advance(by: 1)
    #expect(try await waitUntil(harness, answersTo: .key))
    // From now on, the application gets the key at once and no message.
    try await press(.playPause, harness, clock)
    #expect(keys(harness) == ["space"] && requestedStates(harness).isEmpty)
  }

  @Test func aBusyApplicationThatPausesLateCanStillBeAskedToPlay() async throws {
    let (harness, clock) = (try makePlaying(#function), ManualClock())
    try await press(.playPause, harness, clock)
    #expect(await clock.isAwaited(in: 1))
    clock.advance(by: 1)
    #expect(await clock.isAwaited(in: 1) && keys(harness) == ["space"])
    // The application follows the message only now, and it does not know the key.
    #expect(requestedStates(harness) == [GST_STATE_PAUSED])
    gst_element_set_state(harness.element, GST_STATE_PAUSED)
    clock.advance(by: 1)
    #expect(try await waitUntil(harness, answersTo: .key))
    try await press(.playPause, harness, clock)
    #expect(await clock.isAwaited(in: 1) && keys(harness) == ["space"])
    #expect(requestedStates(harness).isEmpty)
    clock.advance(by: 1)
    #expect(await clock.isAwaited(in: 1) && requestedStates(harness) == [GST_STATE_PLAYING])
    gst_element_set_state(harness.element, GST_STATE_PLAYING)
    clock.advance(by: 1)
    #expect(try await waitUntil(harness, answersTo: .message))
    // From now on, the application gets the message again.
    try await press(.playPause, harness, clock)
    #expect(requestedStates(harness) == [GST_STATE_PAUSED])
  }

  @Test func thePipelineOfTwoElementsIsAskedOnceForWhatTheUserWants() async throws {
    try PipSinkPlugin.register()
    let source = "videotestsrc is-live=true ! video/x-raw,width=32,height=24 ! queue ! "
    let pipelines = try ["one", "two"].map { name in
      let text = ["a", "b"].map {
        "\(source) pipsink name=\($0) stream-id=\(name)-\($0) surface=offscreen session=\(#function)"
      }
      return try #require(gst_parse_launch(text.joined(separator: " "), nil))
    }
    defer {
      for pipeline in pipelines {
        gst_element_set_state(pipeline, GST_STATE_NULL)
        gst_object_unref(pipeline)
      }
    }
    for pipeline in pipelines {
      gst_element_set_state(pipeline, GST_STATE_PLAYING)
      #expect(gst_element_get_state(pipeline, nil, nil, 20_000_000_000) == GST_STATE_CHANGE_SUCCESS)
    }
    let element = try #require(
      gst_bin_get_by_name(UnsafeMutableRawPointer(pipelines[0]).assumingMemoryBound(to: GstBin.self), "a"))
    defer { gst_object_unref(element) }
    let member = try #require(PipSinkElement.state(of: element).member)
    func setPaused(_ isPaused: Bool) async {
      await withCheckedContinuation { continuation in
        member.session.post(for: member) { interface in
          interface.session.isPaused = isPaused
          continuation.resume()
        }
      }
    }
    await setPaused(true)
    for pipeline in pipelines {
      #expect(requestedStates(of: pipeline) == [GST_STATE_PAUSED])
    }
    // One of the applications has followed when the user wants the opposite. The other one is still playing.
    gst_element_set_state(pipelines[0], GST_STATE_PAUSED)
    #expect(await eventually { member.isPaused })
    await setPaused(false)
    #expect(requestedStates(of: pipelines[0]) == [GST_STATE_PLAYING])
    #expect(requestedStates(of: pipelines[1]).isEmpty)
  }

  // MARK: - The controls of the application

  @Test func theApplicationGivesTheControlsAndIsToldWhenTheyAreUsed() async throws {
    let harness = try makePlaying(#function)
    let clock = ManualClock()
    func controls() async throws -> [String]? { try await presentation(harness)?.controls.map(\.action.name) }
    #expect(try await controls() == ["playPause", "backToApp", "close"])
    #expect(harness.value("pip-controls").isEmpty)
    harness.set("pip-controls", "playPause,vote:Vote,hangUp")
    #expect(try await controls() == ["playPause", "vote", "hangUp", "close"])
    try await press(.custom("vote"), harness, clock)
    try await press(.raiseHand, harness, clock)
    #expect(harness.takeMessages().filter { $0.name == "pip-action" }.map { $0.fields["action"] } == ["vote"])
    harness.set("pip-controls", "a b")
    #expect(try await controls() == ["playPause", "vote", "hangUp", "close"], "a list that is none changes nothing")
    let warning = try #require(harness.message(GST_MESSAGE_WARNING))
    #expect(warning.contains("\"a b\" does not begin with a name"))
    harness.set("pip-controls", "call")
    #expect(try await controls() == ["microphone", "camera", "raiseHand", "hangUp", "backToApp", "close"])
  }

  // MARK: - muted

  @Test func theMuteButtonIsThereWhereSomebodyHearsOfMutedAndSwitchesIt() async throws {
    let harness = try makePlaying(#function)
    let clock = ManualClock()
    #expect(try await presentation(harness)?.actions.contains(.mute) == false)
    try await harness.onInterface { $0.session.isMuted = true }
    #expect(keys(harness) == ["m"], "nobody else can switch the sound")
    #expect(harness.value("muted") == "false")
    let notifications = Notifications("muted", of: harness.element)
    harness.set("muted", "true")
    #expect(notifications.count.withLock { $0 } == 1)
    #expect(try await presentation(harness)?.actions.contains(.mute) == true)
    #expect(try await presentation(harness)?.isMuted == true)
    try await press(.mute, harness, clock)
    #expect(harness.value("muted") == "false" && notifications.count.withLock { $0 } == 2)
    #expect(try await presentation(harness)?.isMuted == false)
    #expect(keys(harness).isEmpty && requestedStates(harness).isEmpty)
  }

  @Test func inPlaybinMutedIsPlaybinsMute() async throws {
    try PipSinkPlugin.register()
    let playbin = try #require(gst_element_factory_make("playbin", nil))
    gst_object_ref_sink(playbin)
    let element = try #require(gst_parse_launch("pipsink surface=offscreen session=\(#function)", nil))
    gst_object_ref_sink(element)
    defer {
      gst_element_set_state(playbin, GST_STATE_NULL)
      gst_object_unref(element)
      gst_object_unref(playbin)
    }
    let bin = UnsafeMutableRawPointer(playbin).assumingMemoryBound(to: GstBin.self)
    #expect(gst_bin_add(bin, element) != 0)
    gst_element_set_state(element, GST_STATE_READY)
    gst_element_set_state(element, GST_STATE_PAUSED)
    let state = PipSinkElement.state(of: element)
    let notifications = Notifications("muted", of: element)
    #expect(!state.isMuted && state.canMute)
    let object = UnsafeMutableRawPointer(playbin).assumingMemoryBound(to: GObject.self)
    gst_util_set_object_arg(object, "mute", "true")
    #expect(state.isMuted && notifications.count.withLock { $0 } == 1)
    state.toggleMute()
    #expect(!state.isMuted && notifications.count.withLock { $0 } == 2)
    state.set(isMuted: true)
    var mute = GValue()
    g_object_get_property(object, "mute", &mute)
    #expect(g_value_get_boolean(&mute) != 0)
    g_value_unset(&mute)
    gst_element_set_state(element, GST_STATE_NULL)
    gst_util_set_object_arg(object, "mute", "false")
    #expect(notifications.count.withLock { $0 } == 3, "a stopped element does not follow playbin")
  }
}
