import Testing

@testable import PipSink
@testable import TestSupport

@Suite struct PipSinkErrorTests {
  private static let errors: [PipSinkError] =
    [
      .empty, .invalid(reason: "r"), .missingElements(["x"]), .linkFailed(reason: "r"), .noStreams,
      .unnamedStream(element: "e"), .unlinkedStream("a"), .notOneStream(["a"]),
      .elementFailed(element: "e", message: "m", detail: nil), .stateChangeFailed(pipeline: "p"), .alreadyRunning,
      .notSeekable(reason: "r"),
    ].map { .pipeline($0) }
    + [
      .unknown("a", known: ["b"]), .duplicate("a"), .unsupportedCaps(streamID: "a", caps: "c"),
      .stalled("a", after: .seconds(2)), .endedUnexpectedly("a"), .noAudioVolume("a"),
    ].map { .stream($0) }
    + [
      .invalidCaps("c"), .unreadable(reason: "r"), .unsupportedPixelFormat(.i420, operation: "o"),
      .invalidSize(width: 0, height: 0), .noSuchPlane(index: 3, count: 3), .poolExhausted(limit: 2),
      .outOfMemory(byteCount: 1), .unknownProcessor("p", known: []),
      .invalidProcessorArgument(processor: "p", argument: nil, expected: "a number"),
      .unacceptedOutput(processors: "p", caps: "c"), .notWritten(path: "p", reason: "r"),
      .notRead(name: "n", reason: "r"),
    ].map { .frame($0) }
    + [
      .illegalTransition(state: .active, trigger: "enable()"), .unsupported(reason: "r"), .notPossible(reason: "r"),
      .sourceNotReady("a"), .cancelled, .windowLost(reason: "r"),
    ].map { .pictureInPicture($0) }
    + [
      .gstreamerUnavailable(reason: "r"), .resourceExhausted(.threads, inUse: 3, limit: nil),
      .displayUnavailable(reason: "r"), .sessionBusUnavailable(reason: "r"), .invalidArgument("n", reason: "r"),
      .toolkitUnavailable("GTK 4", reason: "r"),
    ].map { .system($0) }
    + [
      .signallingFailed(reason: "r"), .invalidDescription(reason: "r"),
      .notConnected(after: .seconds(2)), .connectionLost(reason: "r"),
      .invalidURL("u", reason: "r"), .requestFailed(url: "u", reason: "r"),
      .refused(url: "u", status: 401, reason: "r"), .httpUnavailable(reason: "r"),
    ].map { .call($0) }

  @Test func noTwoErrorsHaveOneCodeAndASubjectsCodesAreOneHundred() {
    let codes = Self.errors.map(\.code)
    #expect(Set(codes).count == codes.count)
    for error in Self.errors {
      let subject =
        switch error {
        case .pipeline: 10
        case .stream: 11
        case .frame: 12
        case .pictureInPicture: 13
        case .system: 14
        case .call: 15
        }
      #expect(error.code / 100 == subject, "\(error)")
    }
  }

  @Test func whatIsSaidIsTheReasonAndThenWhatToDo() {
    for error in Self.errors {
      #expect(
        error.description
          == ([error.failureReason] + [error.recoverySuggestion].compactMap(\.self)).joined(separator: "; "))
    }
    let error = PipSinkError.stream(.duplicate("\u{1B}a"))
    #expect(error.failureReason == "the name \"\\u{1B}a\" is used twice")
    #expect(error.recoverySuggestion == "give every stream a different name")
  }
}
