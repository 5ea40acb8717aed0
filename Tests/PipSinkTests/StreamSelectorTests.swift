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

  @Test func theNextStreamFollowsOneWhoseCameraGoesOffNotTheFirst() {
    var selector = PictureInPictureStreamSelector()
    for id in ["a", "b", "c"] as [StreamID] { selector.add(id) }
    selector.select("b")
    selector.setEnabled("b", false)
    #expect(selector.selected == "c")
    selector.setEnabled("c", false)
    #expect(selector.selected == "a", "no stream follows the last one, so the first one is taken")
  }

  @Test func theFirstRemoteStreamWithAPictureIsChosen() {
    var selector = selector()
    #expect(selector.selected == "local")
    selector.add("a", isEnabled: false)
    #expect(selector.selected == "local")
    selector.add("b")
    #expect(selector.selected == "b")
    selector.setEnabled("a", true)
    #expect(selector.selected == "b", "a selection stays as long as it can")
  }

  @Test func theNextOneFollowsWhenItEndsOrGoesDark() {
    var selector = selector(.first, "a", "b", "c")
    #expect(selector.selected == "a")
    selector.setEnabled("a", false)
    #expect(selector.selected == "b")
    selector.setEnabled("a", true)
    selector.remove("b")
    #expect(selector.selected == "c", "the stream after the removed one is selected, and not the first one")
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
    #expect(selector.selected == "a", "the stream is not louder by half")
    selector.setAudioLevel("b", 0.9, at: time(3))
    selector.setAudioLevel("b", 0.9, at: time(3.4))
    #expect(selector.selected == "a")
    selector.setAudioLevel("b", 0.1, at: time(3.45))
    selector.setAudioLevel("b", 0.9, at: time(3.5))
    selector.setAudioLevel("b", 0.9, at: time(3.9))
    #expect(selector.selected == "a", "a pause starts the half second again")
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

  // MARK: - Speakers

  private func time(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: UInt64(seconds * 1e9)) }

  @Test func ofThreeSpeakersInTurnEachHasToHoldTheHalfSecondItself() {
    var selector = selector(.activeSpeaker, "a", "b", "c")
    selector.setAudioLevel("a", 0.1, at: time(0))
    // b and c are loud alternately for 0.4 s each, and together for much longer than half a second.
    for turn in 0..<5 {
      let begin = 1 + Double(turn) * 0.8
      selector.setAudioLevel("c", 0.1, at: time(begin))
      selector.setAudioLevel("b", 0.8, at: time(begin))
      selector.setAudioLevel("b", 0.8, at: time(begin + 0.39))
      #expect(selector.selected == "a")
      selector.setAudioLevel("b", 0.1, at: time(begin + 0.4))
      selector.setAudioLevel("c", 0.8, at: time(begin + 0.4))
      selector.setAudioLevel("c", 0.8, at: time(begin + 0.79))
      #expect(selector.selected == "a")
    }
    selector.setAudioLevel("c", 0.8, at: time(5.15))
    #expect(selector.selected == "c", "c has been loud for the whole half second")
  }

  @Test func aSpeakerThatIsOvertakenByALouderOneLosesItsHalfSecond() {
    var selector = selector(.activeSpeaker, "a", "b", "c")
    selector.setAudioLevel("b", 0.5, at: time(1))
    // c is even louder. It must be loud for a full half second, and not only for the rest of b's.
    selector.setAudioLevel("c", 0.9, at: time(1.3))
    selector.setAudioLevel("c", 0.9, at: time(1.6))
    #expect(selector.selected == "a")
    selector.setAudioLevel("c", 0.9, at: time(1.8))
    #expect(selector.selected == "c")
  }

  @Test func whoWasChosenHoldsTheHalfSecondAnewAgainstTheNext() {
    var selector = selector(.activeSpeaker, "a", "b", "c")
    selector.setAudioLevel("b", 0.3, at: time(1))
    selector.setAudioLevel("b", 0.3, at: time(1.5))
    #expect(selector.selected == "b")
    selector.setAudioLevel("c", 0.9, at: time(1.6))
    selector.setAudioLevel("c", 0.9, at: time(2))
    #expect(selector.selected == "b")
    selector.setAudioLevel("c", 0.9, at: time(2.1))
    #expect(selector.selected == "c")
  }

  @Test func whatIsAsGoodAsSilentIsNoSpeech() {
    var selector = selector(.activeSpeaker, "a", "b")
    selector.setAudioLevel("b", 0.05, at: time(1))
    selector.setAudioLevel("b", 0.05, at: time(9))
    #expect(selector.selected == "a")
  }

  @Test func speakersWithoutAPictureAndTheLocalOneAreNotChosen() {
    var selector = selector(.activeSpeaker, "a", "b")
    selector.setEnabled("b", false)
    for id: StreamID in ["b", "local"] {
      selector.setAudioLevel(id, 1, at: time(1))
      selector.setAudioLevel(id, 1, at: time(5))
    }
    #expect(selector.selected == "a")
  }

  @Test func whomTheUserLeavesForAnotherHasToHoldTheHalfSecondAnew() {
    var selector = selector(.activeSpeaker, "a", "b")
    selector.setAudioLevel("b", 0.5, at: time(1))
    selector.setAudioLevel("b", 0.5, at: time(1.5))
    #expect(selector.selected == "b")
    selector.select("a")
    selector.setAudioLevel("b", 0.5, at: time(1.6))
    #expect(selector.selected == "a")
    selector.setAudioLevel("b", 0.5, at: time(2.1))
    #expect(selector.selected == "b")
  }

  @Test func levelsAreFromNothingToOneAndWhatIsNoNumberIsNothing() {
    var selector = selector(.first, "a")
    for (level, taken) in [(0.5, 0.5), (7, 1), (-1, 0), (.nan, 0), (.infinity, 0)] as [(Double, Double)] {
      selector.setAudioLevel("a", level, at: time(1))
      #expect(selector.streams.last?.audioLevel == taken)
    }
  }

  @Test func anAppsChoiceWithoutAPictureIsNotTaken() {
    var selector = selector(.custom { _, _ in "b" }, "a", "b")
    #expect(selector.selected == "b")
    selector.setEnabled("b", false)
    #expect(selector.selected == "a")
  }

  @Test func loudnessChangesNothingUnderAnotherPolicy() {
    var selector = selector(.first, "a", "b")
    selector.setAudioLevel("b", 1, at: time(1))
    selector.setAudioLevel("b", 1, at: time(5))
    #expect(selector.selected == "a")
    #expect(selector.streams.last?.audioLevel == 1)
  }

  // MARK: - Selections that stay

  @Test func theUsersChoiceStaysWhenOthersComeAndGo() {
    var selector = selector(.first, "a", "b", "c")
    selector.select("b")
    selector.add("d")
    selector.remove("c")
    selector.setEnabled("a", false)
    selector.setEnabled("a", true)
    #expect(selector.selected == "b")
    selector.remove("b")
    #expect(selector.selected == "d", "the next stream after the removed one is selected")
  }

  @Test func aStreamThatIsAddedTwiceIsLeftAsItIs() {
    var selector = selector(.first, "a")
    selector.setEnabled("a", false)
    selector.add("a", isEnabled: true)
    #expect(selector.streams.filter { $0.id == "a" }.map(\.isEnabled) == [false])
    #expect(selector.selected == "local")
  }

  @Test func anotherPolicyChoosesAtOnce() {
    var selector = selector(.first, "a", "b")
    selector.policy = .mostRecent
    #expect(selector.selected == "b")
    selector.policy = .pinned("a")
    #expect(selector.selected == "a")
    selector.policy = .pinned("nobody")
    #expect(selector.selected == "a", "the selection stays as long as it can")
  }
}
