/// What one place of a picture-in-picture window shows.
public struct PictureInPicturePlace: Equatable, Sendable {
  /// The stream.
  public let streamID: StreamID
  /// What is shown of the person in the stream, apart from the picture.
  public internal(set) var participant: Participant
  /// What stands in place of the stream's picture; nil while the picture is shown.
  public let placeholder: StreamPlaceholder?
  /// Which of the window's renderers has the stream's frames: 0 for ``PictureInPictureHost/renderer``, and from 1 on
  /// those of ``PictureInPictureHost/otherRenderers``. In a grid a stream keeps it while other streams come and go.
  public let slot: Int
  /// The position of the stream among all streams that were ever added.
  let number: Int
  /// The number of the place. Empty places are left out, so that it may be larger than the position among the others.
  let index: Int

  init(streamID: StreamID, placeholder: StreamPlaceholder? = nil, number: Int = 0, index: Int = 0, slot: Int? = nil) {
    (self.streamID, self.placeholder, self.number, self.index) = (streamID, placeholder, number, index)
    self.slot = slot ?? index
    participant = Participant(name: streamID.rawValue)
  }
}

/// The rules by which the places of a picture-in-picture window are filled. The result depends on these properties
/// alone. The table in docs/picture-in-picture.md has the rules in words.
struct PictureInPictureRules {
  typealias Stream = PictureInPictureStreamSelector.Stream

  /// What the window is doing.
  struct Situation: Equatable {
    /// Whether there is a window, or is about to be: only streams with a picture count. Before that, a stream whose
    /// first frame may come at any moment is as good, so that the order in which frames come makes no difference.
    var isOpen = false
    /// Whether a stream that ends in the window keeps its place.
    var keepsEnded = false

    /// Whether a stream may be shown.
    func mayShow(_ stream: Stream) -> Bool { stream.standing >= (isOpen ? .interrupted : .expected) }
  }

  /// All streams, in their order.
  var streams: [Stream]
  var policy = PictureInPictureStreamSelector.Policy.first
  var layout = PictureInPictureLayout.single
  /// The streams that the user wants in the first places.
  var requests: [StreamID?] = [nil]
  /// The streams that are, or were, local.
  var localIDs: Set<StreamID> = []
  /// The stream that speaks.
  var speaker: StreamID?
  /// What the places have shown until now.
  var previous: [PictureInPicturePlace] = []
  var situation = Situation()

  /// What the places show now. Places that remain empty are left out. While no stream has a picture, there is one place
  /// with a placeholder.
  var places: [PictureInPicturePlace] {
    var chosen = [StreamID?](repeating: nil, count: layout.placeCount)
    if let ended = keptStream { chosen[0] = ended }
    // The places of a grid are all alike, except for the first one.
    let wishes = requests.indices.prefix(layout == .grid ? 1 : chosen.count)
    for place in wishes where chosen[place] == nil {
      if let stream = known(requests[place]), situation.mayShow(stream), !chosen.contains(stream.id) {
        chosen[place] = stream.id
      }
    }
    if layout == .grid {
      fillGrid(&chosen)
    } else {
      for place in chosen.indices where chosen[place] == nil {
        let free = streams.filter { !chosen.contains($0.id) }
        chosen[place] = place == 0 ? firstChoice(of: free) : choice(for: place, of: free)
      }
    }
    if chosen.allSatisfy({ $0 == nil }) { chosen[0] = standIn }
    let filled = chosen.enumerated().compactMap { index, id in id.map { (index, $0) } }
    return filled.enumerated().map { position, place in
      show(place.1, in: place.0, slot: layout == .grid ? place.0 : position)
    }
  }

  /// How many streams have no place because the grid is full.
  var overflowCount: Int {
    layout == .grid ? max(0, streams.count { !$0.isOver } - layout.placeCount) : 0
  }

  /// Fills a grid. In an open window a stream keeps its place as long as it lives, whether or not it has a picture,
  /// and new ones take the free places. Only the first place, which the window opens with, needs a picture then.
  private func fillGrid(_ chosen: inout [StreamID?]) {
    let alive = streams.filter { !$0.isOver }
    func isFree(_ id: StreamID, _ chosen: [StreamID?]) -> Bool {
      !chosen.contains(id) && alive.contains { $0.id == id }
    }

    if chosen[0] == nil, situation.isOpen, let staying = before(0)?.streamID, isFree(staying, chosen) {
      chosen[0] = staying
    }
    let anybody = (alive.first { !$0.isLocal } ?? alive.first)?.id
    if chosen[0] == nil { chosen[0] = firstChoice(of: alive) ?? (situation.isOpen ? anybody : nil) ?? standIn }
    for place in chosen.indices.dropFirst() where situation.isOpen {
      if let staying = before(place)?.streamID, isFree(staying, chosen) { chosen[place] = staying }
    }
    let coming = alive.filter { !chosen.contains($0.id) }
    var remoteFirst = (coming.filter { !$0.isLocal } + coming.filter(\.isLocal))[...]
    for place in chosen.indices where chosen[place] == nil { chosen[place] = remoteFirst.popFirst()?.id }
    // Whoever speaks is seen, also where the others fill the grid.
    if case .activeSpeaker = policy, let speaker, isFree(speaker, chosen) { chosen[chosen.count - 1] = speaker }
  }

  private func before(_ place: Int) -> PictureInPicturePlace? { previous.first { $0.index == place } }

  private func known(_ id: StreamID?) -> Stream? { streams.first { $0.id == id } }

  /// The stream that has ended in the first place and keeps it, until the requested one can be shown.
  private var keptStream: StreamID? {
    guard situation.isOpen, situation.keepsEnded, let id = previous.first?.streamID, known(id)?.isOver ?? true,
      known(requests[0]).map(situation.mayShow) != true
    else { return nil }
    return id
  }

  /// The streams that may be chosen for a place now. Where some have a picture, no others may, except the one that is
  /// there already and is only interrupted.
  private func candidates(of free: [Stream], for place: Int) -> [Stream] {
    let staying = before(place)?.streamID
    let found = free.filter { stream in
      switch stream.standing {
      case .live: true
      case .interrupted: stream.id == staying
      case .expected: !situation.isOpen
      case .none: false
      }
    }
    return found.isEmpty ? free.filter(situation.mayShow) : found
  }

  /// The stream for the first place where the requested one cannot be shown.
  private func firstChoice(of free: [Stream]) -> StreamID? {
    let candidates = candidates(of: free, for: 0)
    let remote = candidates.filter { !$0.isLocal }
    let staying = before(0)?.streamID
    func mayBe(_ id: StreamID?) -> Bool { candidates.contains { $0.id == id } }

    switch policy {
    case .custom(let choice):
      if let id = choice(streams, staying), mayBe(id) { return id }
    case .pinned(let id) where mayBe(id): return id
    default: break
    }
    let screens = remote.filter(\.isScreenShare)
    if let screen = screens.first(where: { $0.id == staying }) ?? screens.first { return screen.id }
    switch policy {
    case .mostRecent where !remote.isEmpty: return remote.last?.id
    case .activeSpeaker where remote.contains { $0.id == speaker }: return speaker
    default: break
    }
    // A local stream stays while there is no remote one.
    if (remote.isEmpty ? candidates : remote).contains(where: { $0.id == staying }) { return staying }
    return following(before(0), in: remote)?.id ?? candidates.first?.id
  }

  /// The stream for another place where the requested one cannot be shown. The place of a local stream stays empty.
  /// The corner of the `speaker` layout is such a place, unless the local stream is the large one.
  private func choice(for place: Int, of free: [Stream]) -> StreamID? {
    let request = place < requests.count ? requests[place] : nil
    if let request, localIDs.contains(request) { return nil }
    if layout == .speaker {
      if let local = candidates(of: free.filter(\.isLocal), for: place).first { return local.id }
      guard streams.contains(where: { $0.isLocal && !free.contains($0) }) else { return nil }
    }
    let before = before(place)
    let remote = candidates(of: free.filter { !$0.isLocal }, for: place)
    if let staying = remote.first(where: { $0.id == before?.streamID }) { return staying.id }
    if layout == .speaker, let large = remote.first(where: { $0.id == self.before(0)?.streamID }) { return large.id }
    if let next = following(before, in: remote) { return next.id }
    return request == nil ? candidates(of: free, for: place).first?.id : nil
  }

  /// The first stream after the one that was in a place, or else the first one.
  private func following(_ place: PictureInPicturePlace?, in streams: [Stream]) -> Stream? {
    streams.first { $0.number > place?.number ?? -1 } ?? streams.first
  }

  /// The stream whose placeholder the window shows while no stream has a picture.
  private var standIn: StreamID? {
    let staying = previous.first?.streamID
    if situation.isOpen, let staying { return staying }
    let alive = streams.filter { !$0.isOver }
    let wanted = [requests[0], staying].lazy.compactMap { id in alive.first { $0.id == id } }.first
    return (wanted ?? alive.first { !$0.isLocal } ?? alive.first ?? known(staying) ?? streams.first)?.id
  }

  private func show(_ id: StreamID, in index: Int, slot: Int) -> PictureInPicturePlace {
    let stream = known(id)
    let number = stream?.number ?? previous.first { $0.streamID == id }?.number ?? 0
    return PictureInPicturePlace(
      streamID: id, placeholder: stream.map(\.shown) ?? .ended, number: number, index: index, slot: slot)
  }
}

extension PictureInPictureStreamSelector.Stream {
  /// What a stream has to show.
  enum Standing: Int, Comparable {
    /// It has no picture: its camera is off, it has sound alone, it has ended, or it has failed before its first frame.
    case none
    /// Its first frame may come at any moment.
    case expected
    /// Its frames have stopped and are expected to return.
    case interrupted
    /// It has a picture.
    case live

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  }

  /// What stands in place of its picture now. The first frame may have come after ``placeholder`` was set to `waiting`.
  var shown: StreamPlaceholder? {
    switch placeholder {
    case nil, .waiting: hasFrame == false ? .waiting : nil
    default: placeholder
    }
  }

  var standing: Standing {
    switch shown {
    case nil: .live
    case .waiting: .expected
    case .reconnecting: hasFrame == false ? .none : .interrupted
    case .cameraOff, .audioOnly, .inPictureInPicture, .ended, .failed: .none
    }
  }

  /// Whether it has ended or failed.
  var isOver: Bool {
    switch placeholder {
    case .ended, .failed: true
    default: false
    }
  }
}
