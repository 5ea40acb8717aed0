/// Chooses the stream that picture-in-picture shows.
///
/// A choice stays until the stream ends or its camera goes off. When no remote stream with a picture is left, the local
/// stream is chosen, and no stream when that one has no picture either.
public struct PictureInPictureStreamSelector: Sendable {
  /// A stream that can be chosen.
  public struct Stream: Equatable, Sendable {
    /// The stream's ID.
    public let id: StreamID
    /// Whether it is the user's own picture.
    public let isLocal: Bool
    /// Whether it has a picture, which it has while its camera is on.
    public var isEnabled: Bool
    /// How loud it was last, from 0 (silent) to 1.
    public var audioLevel: Double
  }

  /// How the stream is chosen.
  public enum Policy: Sendable {
    /// The first remote stream with a picture, in the order in which the streams were added. When it ends, the next one
    /// follows.
    case first
    /// The remote stream with a picture that was added last.
    case mostRecent
    /// This stream whenever it has a picture; otherwise as with `first`.
    case pinned(StreamID)
    /// The loudest remote stream. It replaces the chosen one when it has been one and a half times as loud for half a
    /// second.
    case activeSpeaker
    /// A function of the app. It gets all streams and the chosen one, and returns the one to choose.
    case custom(@Sendable ([Stream], StreamID?) -> StreamID?)
  }

  /// How the stream is chosen. A new policy applies at once.
  public var policy: Policy {
    didSet { choose() }
  }
  /// All streams, in the order in which they were added.
  public private(set) var streams: [Stream] = []
  /// The chosen stream; nil when no stream has a picture.
  public private(set) var selected: StreamID?

  /// The stream that is louder than the chosen one, and since when.
  private var challenger: (id: StreamID, since: MonotonicTime)?
  /// By what factor a speaker has to be louder than the chosen one.
  private static let speakerMargin = 1.5
  /// For how long a speaker has to be louder.
  private static let speakerTime = Duration.milliseconds(500)
  /// Levels up to this one do not count as speech.
  private static let silence = 0.05

  /// Makes a selector without streams.
  public init(policy: Policy = .first) {
    self.policy = policy
  }

  /// Adds a stream. One that has been added before stays as it is.
  public mutating func add(_ id: StreamID, isLocal: Bool = false, isEnabled: Bool = true) {
    guard !streams.contains(where: { $0.id == id }) else { return }
    streams.append(Stream(id: id, isLocal: isLocal, isEnabled: isEnabled, audioLevel: 0))
    choose()
  }

  /// Removes a stream. If it was the chosen one, the next one is chosen.
  public mutating func remove(_ id: StreamID) {
    let index = streams.firstIndex { $0.id == id }
    choose(leaving: index.map { streams.remove(at: $0).id == selected ? $0 : nil } ?? nil)
  }

  /// Notes that a stream's camera went on or off. If the chosen one has no picture any more, the next one is chosen.
  public mutating func setEnabled(_ id: StreamID, _ isEnabled: Bool) {
    guard let index = streams.firstIndex(where: { $0.id == id }) else { return }
    streams[index].isEnabled = isEnabled
    choose(leaving: id == selected && !isEnabled ? index + 1 : nil)
  }

  /// Notes how loud a stream is, which matters for ``Policy/activeSpeaker``.
  ///
  /// - Parameters:
  ///   - id: the stream. Unknown ones are ignored.
  ///   - level: from 0 (silent) to 1.
  ///   - time: when the level was measured.
  public mutating func setAudioLevel(_ id: StreamID, _ level: Double, at time: MonotonicTime = .now) {
    guard let index = streams.firstIndex(where: { $0.id == id }) else { return }
    streams[index].audioLevel = level.isFinite ? min(1, max(0, level)) : 0
    if case .activeSpeaker = policy { followSpeaker(at: time) }
  }

  /// Chooses a stream for the user. The choice stays until the stream has no picture any more, or the policy requires
  /// another one.
  ///
  /// - Returns: false when the stream is unknown or has no picture.
  @discardableResult
  public mutating func select(_ id: StreamID) -> Bool {
    guard streams.contains(where: { $0.id == id && $0.isEnabled }) else { return false }
    selected = id
    return true
  }

  /// The next stream with a picture after the chosen one, or the previous one, in a circle that includes the local
  /// stream; nil where there is no other.
  public func neighbour(forward: Bool) -> StreamID? { neighbour(forward: forward) { _ in true } }

  /// The neighbour among the streams that `isWanted` accepts.
  func neighbour(forward: Bool, where isWanted: (StreamID) -> Bool) -> StreamID? {
    let candidates = streams.filter { $0.isEnabled && isWanted($0.id) || $0.id == selected }
    guard let index = candidates.firstIndex(where: { $0.id == selected }) else { return candidates.first?.id }
    let next = candidates[(index + (forward ? 1 : candidates.count - 1)) % candidates.count].id
    return next == selected ? nil : next
  }

  // MARK: - Choosing

  private var remote: [Stream] { streams.filter { !$0.isLocal && $0.isEnabled } }
  private var canStay: Bool { streams.contains { $0.id == selected && $0.isEnabled } }

  /// Chooses again, as the policy requires.
  ///
  /// - Parameter index: the position of a stream that was the chosen one until now. The next stream after it takes
  ///   precedence.
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

  /// The first remote stream with a picture after a position, or else any remote stream, or else the local one.
  private func fallback(after index: Int?) -> StreamID? {
    let following = index.map { streams[min($0, streams.count)...] } ?? []
    return following.first { !$0.isLocal && $0.isEnabled }?.id ?? remote.first?.id
      ?? streams.first { $0.isLocal && $0.isEnabled }?.id
  }

  /// Chooses the loudest stream once it has been loud enough for long enough.
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
