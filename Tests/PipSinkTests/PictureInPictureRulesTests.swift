import Foundation
import Testing

@testable import PipSink
@testable import TestSupport

/// The function that fills the places of a picture-in-picture window.
@Suite struct PictureInPictureRulesTests {
  typealias Stream = PictureInPictureRules.Stream

  /// One row of the table in docs/picture-in-picture.md.
  struct Row: CustomTestStringConvertible {
    let rule: String
    let rules: PictureInPictureRules
    /// The places, in the words of the table.
    let shown: String
    var testDescription: String { rule }
  }

  /// Reads a stream of the table, such as "me*-".
  private static func stream(_ text: Substring, number: Int) -> Stream {
    var stream = Stream(
      id: StreamID(String(text.prefix { $0.isLetter })), isLocal: false, isScreenShare: false, number: number)
    for mark in text.drop(while: \.isLetter) {
      switch mark {
      case "*": stream.isLocal = true
      case "#": stream.isScreenShare = true
      case "?": stream.hasFrame = false
      case "~": stream.placeholder = .reconnecting
      case "-": stream.placeholder = .cameraOff
      case "!": stream.placeholder = .ended
      default: Issue.record("the table has a stream \"\(text)\"")
      }
    }
    return stream
  }

  private static func rules(_ cells: [String]) -> PictureInPictureRules {
    let streams = cells[1].split(separator: " ").enumerated().map { stream($1, number: $0) }
    var rules = PictureInPictureRules(streams: streams)
    let policy = cells[2].split(separator: " ").map(String.init)
    switch policy[0] {
    case "first": rules.policy = .first
    case "recent": rules.policy = .mostRecent
    case "pin": rules.policy = .pinned(StreamID(policy[1]))
    case "speaker": (rules.policy, rules.speaker) = (.activeSpeaker, StreamID(policy[1]))
    default: Issue.record("the table has a policy \"\(cells[2])\"")
    }
    rules.layout = PictureInPictureLayout(rawValue: cells[3]) ?? .single
    rules.requests = cells[4].split(separator: " ").map { $0 == "_" ? nil : StreamID(String($0)) }
    rules.localIDs = Set(streams.filter(\.isLocal).map(\.id))
    rules.previous = cells[5].split(separator: " ").enumerated().map { index, text in
      let id = StreamID(String(text))
      return PictureInPicturePlace(streamID: id, number: streams.first { $0.id == id }?.number ?? 0, index: index)
    }
    rules.situation = .init(isOpen: cells[6] != "closed", keepsEnded: cells[6] == "keeps")
    return rules
  }

  static let rows: [Row] = {
    let text =
      (try? String(contentsOf: Demo.root.appending(path: "docs/picture-in-picture.md"), encoding: .utf8)) ?? ""
    return text.split(separator: "\n").drop { !$0.hasPrefix("| rule |") }.dropFirst(2).prefix { $0.hasPrefix("|") }
      .map { line in
        let cells = line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
          .map { $0.trimmingCharacters(in: .whitespaces) }
        return Row(rule: cells[0], rules: rules(cells), shown: cells[7])
      }
  }()

  @Test func theTableIsThere() { #expect(Self.rows.count > 40) }

  @Test(arguments: rows) func thePlacesAreAsTheTableSays(row: Row) {
    let words: [StreamPlaceholder: String] = [
      .waiting: " waiting", .reconnecting: " reconnecting", .cameraOff: " camera off", .ended: " ended",
    ]
    let shown = row.rules.places.map { "\($0.streamID)\($0.placeholder.flatMap { words[$0] } ?? "")" }
    #expect(shown.joined(separator: ", ") == row.shown)
  }

  // MARK: - Whatever happens

  /// Random streams, policies, requests and earlier places.
  private func random(_ random: inout SeededGenerator) -> PictureInPictureRules {
    let ids = (["a", "b", "c", "d", "me", "me2"] as [StreamID]).shuffled(using: &random)
    let placeholders: [StreamPlaceholder?] = [nil, nil, nil, .waiting, .reconnecting, .cameraOff, .ended, .failed("")]
    let streams = ids.prefix(Int.random(in: 0...6, using: &random)).enumerated().map { number, id in
      var stream = Stream(id: id, isLocal: id.rawValue.hasPrefix("me"), isScreenShare: false, number: number)
      stream.isScreenShare = Int.random(in: 0..<6, using: &random) == 0
      stream.placeholder = placeholders.randomElement(using: &random) ?? nil
      stream.hasFrame = Int.random(in: 0..<5, using: &random) > 0
      return stream
    }
    var rules = PictureInPictureRules(streams: streams)
    let id = ids.randomElement(using: &random) ?? "a"
    let policies: [PictureInPictureStreamSelector.Policy] = [
      .first, .mostRecent, .pinned(id), .activeSpeaker, .custom { _, _ in id },
    ]
    rules.policy = policies.randomElement(using: &random) ?? .first
    rules.speaker = ids.randomElement(using: &random)
    rules.localIDs = ["me", "me2"]
    rules.layout = PictureInPictureLayout.allCases.randomElement(using: &random) ?? .single
    rules.requests = (0..<Int.random(in: 1...min(2, rules.layout.placeCount), using: &random)).map { _ in
      Bool.random(using: &random) ? nil : ids.randomElement(using: &random)
    }
    rules.previous = ids.shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random)).enumerated()
      .map { index, id in
        PictureInPicturePlace(streamID: id, number: streams.first { $0.id == id }?.number ?? 0, index: index)
      }
    rules.situation.isOpen = Bool.random(using: &random)
    rules.situation.keepsEnded = Int.random(in: 0..<4, using: &random) == 0
    return rules
  }

  @Test func whateverTheStreamsAndWishesAreTheInvariantsHold() {
    for seed in 1...20_000 as ClosedRange<UInt64> {
      var generator = SeededGenerator(seed: seed)
      let rules = random(&generator)
      let (places, situation) = (rules.places, rules.situation)
      let shown = places.map(\.streamID)
      func stream(_ id: StreamID?) -> Stream? { rules.streams.first { $0.id == id } }
      func check(_ isRight: Bool, _ text: String) { if !isRight { Issue.record("seed \(seed): \(text): \(rules)") } }

      check(Set(shown).count == shown.count, "a stream is in two places")
      check(places.count <= rules.layout.placeCount, "there are more places than the layout has")
      if rules.layout == .grid {
        let alive = rules.streams.filter { !$0.isOver }
        check(alive.allSatisfy { shown.contains($0.id) }, "somebody has no place although there is room")
        check(places.allSatisfy { $0.slot == $0.index }, "a place of a grid has moved")
      }
      check(!places.isEmpty || rules.streams.isEmpty, "nothing is shown although there are streams")
      let kept =
        situation.isOpen && situation.keepsEnded
        && rules.previous.first.map { stream($0.streamID)?.isOver ?? true } == true
      for wish in rules.requests {
        guard let wanted = stream(wish), situation.mayShow(wanted) else { continue }
        check(shown.contains(wanted.id), "a wish for a stream with a picture is not granted")
      }
      let pictures = rules.streams.filter { $0.standing == .live }
      for place in places
      where stream(place.streamID).map(situation.mayShow) != true && !kept && rules.layout != .grid {
        check(pictures.isEmpty && places.count == 1, "nobody without a picture beats somebody with one")
      }
      let granted = rules.requests.compactMap(stream).filter(situation.mayShow).map(\.id)
      if places.count == 1, let only = stream(shown.first), only.isLocal, !kept, !granted.contains(only.id) {
        let isTheAppsChoice =
          switch rules.policy {
          case .pinned, .custom: true
          default: false
          }
        check(
          isTheAppsChoice || !pictures.contains { !$0.isLocal }, "the local stream is alone beside a remote picture")
      }
      var again = rules
      again.previous = places
      check(again.places == places, "the same facts lead to another result")
    }
  }
}
