/// Chooses the stream that picture-in-picture shows.
///
/// A choice stays until it can be kept no longer: its stream ended, or its camera went off. Where no remote stream is
/// left, the local one is chosen, and none when that has no picture either.
public struct PictureInPictureStreamSelector: Sendable {
  public struct Stream: Equatable, Sendable {
    public let id: StreamID
    public let isLocal: Bool
    /// Whether there is a picture: its camera is on.
    public var isEnabled: Bool
    /// From 0 (silent) to 1.
    public var audioLevel: Double
  }

  public enum Policy: Sendable {
    /// The first remote stream with a picture, in the order that they came; after it the next.
    case first
    /// The remote stream that came last.
    case mostRecent
    /// This one whenever it has a picture, and the first otherwise.
    case pinned(StreamID)
    /// The remote stream that is loudest, by half as much again, for half a second.
    case activeSpeaker
    /// The app's own: given all streams and the one that is chosen.
    case custom(@Sendable ([Stream], StreamID?) -> StreamID?)
  }

  public var policy: Policy {
    didSet { choose() }
  }
  /// In the order that they came.
  public private(set) var streams: [Stream] = []
  /// nil when no stream has a picture.
  public private(set) var selected: StreamID?

  /// Who is louder than the one that is chosen, and since when.
  private var challenger: (id: StreamID, since: MonotonicTime)?
  private static let speakerMargin = 1.5
  private static let speakerTime = Duration.milliseconds(500)
  /// Levels below it are no speech.
  private static let silence = 0.05

  public init(policy: Policy = .first) {
    self.policy = policy
  }

  /// A stream that is there already is left as it is.
  public mutating func add(_ id: StreamID, isLocal: Bool = false, isEnabled: Bool = true) {
    guard !streams.contains(where: { $0.id == id }) else { return }
    streams.append(Stream(id: id, isLocal: isLocal, isEnabled: isEnabled, audioLevel: 0))
    choose()
  }

  public mutating func remove(_ id: StreamID) {
    let index = streams.firstIndex { $0.id == id }
    choose(leaving: index.map { streams.remove(at: $0).id == selected ? $0 : nil } ?? nil)
  }

  /// Its camera went on or off.
  public mutating func setEnabled(_ id: StreamID, _ isEnabled: Bool) {
    guard let index = streams.firstIndex(where: { $0.id == id }) else { return }
    streams[index].isEnabled = isEnabled
    choose(leaving: id == selected && !isEnabled ? index + 1 : nil)
  }

  /// - Parameters:
  ///   - level: from 0 (silent) to 1.
  ///   - time: when it was measured.
  public mutating func setAudioLevel(_ id: StreamID, _ level: Double, at time: MonotonicTime = .now) {
    guard let index = streams.firstIndex(where: { $0.id == id }) else { return }
    streams[index].audioLevel = level.isFinite ? min(1, max(0, level)) : 0
    if case .activeSpeaker = policy { followSpeaker(at: time) }
  }

  /// The user's choice; it stays until it can be kept no longer, or the policy wants another.
  ///
  /// - Returns: false when there is no such stream, or it has no picture.
  @discardableResult
  public mutating func select(_ id: StreamID) -> Bool {
    guard streams.contains(where: { $0.id == id && $0.isEnabled }) else { return false }
    selected = id
    return true
  }

  /// The stream with a picture after the chosen one, round in a circle, or before it. The local one is among them.
  public func neighbour(forward: Bool) -> StreamID? { neighbour(forward: forward) { _ in true } }

  func neighbour(forward: Bool, where isWanted: (StreamID) -> Bool) -> StreamID? {
    let candidates = streams.filter { $0.isEnabled && isWanted($0.id) || $0.id == selected }
    guard let index = candidates.firstIndex(where: { $0.id == selected }) else { return candidates.first?.id }
    let next = candidates[(index + (forward ? 1 : candidates.count - 1)) % candidates.count].id
    return next == selected ? nil : next
  }

  // MARK: - Choosing

  private var remote: [Stream] { streams.filter { !$0.isLocal && $0.isEnabled } }
  private var canStay: Bool { streams.contains { $0.id == selected && $0.isEnabled } }

  /// - Parameter index: where the stream was that is chosen no longer: the next one after it comes first.
  private mutating func choose(leaving index: Int? = nil) {
    switch policy {
    case .custom(let choice):
      let wish = choice(streams, selected)
      selected = streams.contains { $0.id == wish && $0.isEnabled } ? wish : fallback(after: index)
    case .pinned(let id) where streams.contains(where: { $0.id == id && $0.isEnabled }):
      selected = id
    case .mostRecent:
      selected = remote.last?.id ?? fallback(after: index)
    case .first, .pinned, .activeSpeaker:
      let isLocal = streams.first { $0.id == selected }?.isLocal ?? true
      if !canStay || (isLocal && !remote.isEmpty) { selected = fallback(after: index) }
    }
  }

  private func fallback(after index: Int?) -> StreamID? {
    let following = index.map { streams[min($0, streams.count)...] } ?? []
    return following.first { !$0.isLocal && $0.isEnabled }?.id ?? remote.first?.id
      ?? streams.first { $0.isLocal && $0.isEnabled }?.id
  }

  private mutating func followSpeaker(at time: MonotonicTime) {
    let current = streams.first { $0.id == selected }?.audioLevel ?? 0
    guard let loudest = remote.max(by: { $0.audioLevel < $1.audioLevel }), loudest.id != selected,
      loudest.audioLevel > Self.silence, loudest.audioLevel > current * Self.speakerMargin
    else {
      challenger = nil
      return
    }
    if challenger?.id != loudest.id { challenger = (loudest.id, time) }
    guard let challenger, challenger.since.duration(to: time) >= Self.speakerTime else { return }
    selected = loudest.id
    self.challenger = nil
  }
}
