import Testing

@testable import PipSink

@Suite struct StreamSelectorTests {
  private func selector(
    _ policy: PictureInPictureStreamSelector.Policy = .first, _ ids: StreamID...
  ) -> PictureInPictureStreamSelector {
    var selector = PictureInPictureStreamSelector(policy: policy)
    selector.add("local", isLocal: true)
    for id in ids { selector.add(id) }
    return selector
  }

  @Test func theFirstRemoteStreamWithAPictureIsChosen() {
    var selector = selector()
    #expect(selector.selected == "local")
    selector.add("a", isEnabled: false)
    #expect(selector.selected == "local")
    selector.add("b")
    #expect(selector.selected == "b")
    selector.setEnabled("a", true)
    #expect(selector.selected == "b", "a choice stays while it can")
  }

  @Test func theNextOneFollowsWhenItEndsOrGoesDark() {
    var selector = selector(.first, "a", "b", "c")
    #expect(selector.selected == "a")
    selector.setEnabled("a", false)
    #expect(selector.selected == "b")
    selector.setEnabled("a", true)
    selector.remove("b")
    #expect(selector.selected == "c", "the one after it, not the first")
    selector.remove("c")
    #expect(selector.selected == "a")
    selector.remove("a")
    #expect(selector.selected == "local")
    selector.setEnabled("local", false)
    #expect(selector.selected == nil)
    selector.add("d")
    #expect(selector.selected == "d")
  }

  @Test func theLastToComeIsChosenWhereThatIsThePolicy() {
    var selector = selector(.mostRecent, "a", "b")
    #expect(selector.selected == "b")
    selector.add("c")
    #expect(selector.selected == "c")
    selector.remove("c")
    #expect(selector.selected == "b")
  }

  @Test func aPinnedStreamComesBackWithItsPicture() {
    var selector = selector(.pinned("b"), "a", "b")
    #expect(selector.selected == "b")
    selector.setEnabled("b", false)
    #expect(selector.selected == "a")
    selector.setEnabled("b", true)
    #expect(selector.selected == "b")
  }

  @Test func theSpeakerIsChosenWhenItHasBeenLouderForHalfASecond() {
    var selector = selector(.activeSpeaker, "a", "b")
    let time = { MonotonicTime(nanoseconds: UInt64($0 * 1e9)) }
    selector.setAudioLevel("a", 0.3, at: time(0))
    selector.setAudioLevel("b", 0.4, at: time(1))
    selector.setAudioLevel("b", 0.4, at: time(2))
    #expect(selector.selected == "a", "not louder by half")
    selector.setAudioLevel("b", 0.9, at: time(3))
    selector.setAudioLevel("b", 0.9, at: time(3.4))
    #expect(selector.selected == "a")
    selector.setAudioLevel("b", 0.1, at: time(3.45))
    selector.setAudioLevel("b", 0.9, at: time(3.5))
    selector.setAudioLevel("b", 0.9, at: time(3.9))
    #expect(selector.selected == "a", "a pause begins it anew")
    selector.setAudioLevel("b", 0.9, at: time(4.1))
    #expect(selector.selected == "b")
    selector.setAudioLevel("a", .nan, at: time(9))
    #expect(selector.selected == "b")
  }

  @Test func theAppsOwnChoiceIsTakenIfItHasAPicture() {
    let selector = selector(.custom { streams, _ in streams.last?.id }, "a", "b")
    #expect(selector.selected == "b")
    var stubborn = PictureInPictureStreamSelector(policy: .custom { _, _ in "nobody" })
    stubborn.add("a")
    #expect(stubborn.selected == "a")
  }

  @Test func neighboursGoRoundAmongThoseWithAPicture() {
    var selector = selector(.first, "a", "b")
    #expect(selector.neighbour(forward: true) == "b")
    #expect(selector.neighbour(forward: false) == "local")
    selector.setEnabled("b", false)
    selector.setEnabled("local", false)
    #expect(selector.neighbour(forward: true) == nil)
    let wasTaken = [selector.select("b"), selector.select("nobody"), selector.select("a")]
    #expect(wasTaken == [false, false, true])
  }
}
