import Testing

@testable import PipSink

@Suite struct StreamSelectorTests {
  private func selector(
    _ policy: PictureInPictureStreamSelector.Policy = .first, _ ids: StreamID...
  ) -> PictureInPictureStreamSelector {
    var selector = PictureInPictureStreamSelector(policy: policy)
    selector.set("local", isLocal: true)
    for id in ids { selector.set(id) }
    return selector
  }

  @Test func theNextStreamFollowsOneWhoseCameraGoesOffNotTheFirst() {
    var selector = PictureInPictureStreamSelector()
    for id in ["a", "b", "c"] as [StreamID] { selector.set(id) }
    selector.select("b")
    selector.select(nil)
    #expect(selector.selected == "b", "without the wish the policy lets it stay")
    selector.set("b", placeholder: .cameraOff)
    #expect(selector.selected == "c")
    selector.set("c", placeholder: .cameraOff)
    #expect(selector.selected == "a", "no stream follows the last one, so the first one is taken")
  }

  @Test func theFirstRemoteStreamWithAPictureIsChosen() {
    var selector = selector()
    #expect(selector.selected == "local")
    selector.set("a", placeholder: .cameraOff)
    #expect(selector.selected == "local")
    selector.set("b")
    #expect(selector.selected == "b")
    selector.set("a")
    #expect(selector.selected == "b", "a selection stays as long as it can")
  }

  @Test func theNextOneFollowsWhenItEndsOrGoesDark() {
    var selector = selector(.first, "a", "b", "c")
    #expect(selector.selected == "a")
    selector.set("a", placeholder: .cameraOff)
    #expect(selector.selected == "b")
    selector.set("a")
    selector.remove("b")
    #expect(selector.selected == "c", "the stream after the removed one is selected, and not the first one")
    selector.remove("c")
    #expect(selector.selected == "a")
    selector.remove("a")
    #expect(selector.selected == "local")
    selector.set("local", isLocal: true, placeholder: .cameraOff)
    #expect(selector.places == [PictureInPicturePlace(streamID: "local", placeholder: .cameraOff)])
    selector.set("d")
    #expect(selector.selected == "d")
    selector.remove("d")
    selector.remove("local")
    #expect(selector.places.isEmpty && selector.selected == nil)
  }

  @Test func theLastToComeIsChosenWhereThatIsThePolicy() {
    var selector = selector(.mostRecent, "a", "b")
    #expect(selector.selected == "b")
    selector.set("c")
    #expect(selector.selected == "c")
    selector.remove("c")
    #expect(selector.selected == "b")
  }

  @Test func aPinnedStreamComesBackWithItsPicture() {
    var selector = selector(.pinned("b"), "a", "b")
    #expect(selector.selected == "b")
    selector.set("b", placeholder: .cameraOff)
    #expect(selector.selected == "a")
    selector.set("b")
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
    stubborn.set("a")
    #expect(stubborn.selected == "a")
  }

  @Test func neighboursGoRoundAmongThoseWithAPicture() {
    var selector = selector(.first, "a", "b")
    #expect(selector.neighbour(forward: true) == "b")
    #expect(selector.neighbour(forward: false) == "local")
    selector.set("b", placeholder: .cameraOff)
    selector.set("local", isLocal: true, placeholder: .cameraOff)
    #expect(selector.neighbour(forward: true) == nil)
  }

  @Test func aWishIsFulfilledWheneverItCanBeUntilItIsWithdrawn() {
    var selector = selector(.activeSpeaker, "a", "b")
    selector.select("late")
    #expect(selector.selected == "a", "a stream that is not there has no picture")
    selector.set("c")
    selector.set("late")
    #expect(selector.selected == "late")
    selector.set("late", placeholder: .cameraOff)
    #expect(selector.selected == "a")
    selector.remove("late")
    selector.set("late")
    #expect(selector.selected == "late")
    selector.setAudioLevel("b", 0.9, at: time(1))
    selector.setAudioLevel("b", 0.9, at: time(2))
    #expect(selector.selected == "late", "the user's choice comes before the speaker")
    selector.select(nil)
    #expect(selector.selected == "b")
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
    selector.set("b", placeholder: .cameraOff)
    for id: StreamID in ["b", "local"] {
      selector.setAudioLevel(id, 1, at: time(1))
      selector.setAudioLevel(id, 1, at: time(5))
    }
    #expect(selector.selected == "a")
  }

  @Test func aSpeakerWaitsUntilTheUsersWishIsWithdrawn() {
    var selector = selector(.activeSpeaker, "a", "b")
    selector.setAudioLevel("b", 0.5, at: time(1))
    selector.setAudioLevel("b", 0.5, at: time(1.5))
    #expect(selector.selected == "b")
    selector.select("a")
    selector.setAudioLevel("b", 0.5, at: time(1.6))
    selector.setAudioLevel("b", 0.5, at: time(2.1))
    #expect(selector.selected == "a", "the user's choice stays")
    selector.select(nil)
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
    selector.set("b", placeholder: .cameraOff)
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
    selector.set("d")
    selector.remove("c")
    selector.set("a", placeholder: .cameraOff)
    selector.set("a")
    #expect(selector.selected == "b")
    selector.remove("b")
    #expect(selector.selected == "d", "the next stream after the removed one is selected")
    selector.set("b")
    #expect(selector.selected == "b", "it was not withdrawn")
  }

  @Test func aStreamThatChangesKeepsItsPosition() {
    var selector = selector(.first, "a")
    selector.set("b")
    selector.set("a", placeholder: .cameraOff)
    selector.set("a")
    #expect(selector.streams.map(\.id) == ["local", "a", "b"])
    #expect(selector.selected == "b")
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
