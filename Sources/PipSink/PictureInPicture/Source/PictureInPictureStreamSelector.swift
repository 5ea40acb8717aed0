/// Chooses the streams that picture-in-picture shows: what is known of them, how they are chosen, and what the user
/// requests.
///
/// The choice is made again whenever one of these changes.
public struct PictureInPictureStreamSelector: Sendable {
  /// A stream that can be chosen.
  public struct Stream: Equatable, Sendable {
    /// The stream's ID.
    public let id: StreamID
    /// Whether it is the user's own picture.
    public internal(set) var isLocal: Bool
    /// Whether it shows somebody's screen, which is shown before all streams but the requested ones.
    public internal(set) var isScreenShare: Bool
    /// What stands in place of its picture; nil while it has one.
    public internal(set) var placeholder: StreamPlaceholder?
    /// How loud it was last, from 0 (silent) to 1.
    public internal(set) var audioLevel = 0.0
    /// Its position among all streams that were ever added.
    let number: Int
    /// Whether a frame has come; nil where nobody has looked, which counts as a frame.
    var hasFrame: Bool?
  }

  /// How the stream is chosen where the user has requested none.
  public enum Policy: Sendable {
    /// The first remote stream with a picture, in the order in which the streams were added. It stays until it ends or
    /// its camera goes off; then the next one follows.
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
  /// What the window's places show, in the order of the layout. It is empty while there are no streams.
  package private(set) var places: [PictureInPicturePlace] = []
  /// The chosen stream, which is in the first place; nil when there is none.
  package var selected: StreamID? { places.first?.streamID }

  /// The arrangement of the places.
  var layout = PictureInPictureLayout.single {
    didSet {
      guard layout != oldValue else { return }
      if layout == .single { requests = [requests[0]] }
      // The other places of one layout are not those of another.
      places.removeAll { $0.index > 0 }
      choose()
    }
  }
  /// How many streams have no place, because the grid is full.
  private(set) var overflowCount = 0

  /// The streams that the user wants in the first two places; nil for a place without a request.
  private(set) var requests: [StreamID?] = [nil]
  /// The stream that the user wants in the first place; nil without a request.
  package var request: StreamID? { requests[0] }
  /// What the window is doing.
  var situation = PictureInPictureRules.Situation() {
    didSet { if situation != oldValue { choose() } }
  }
  /// Whether the app tells about streams. Without that, the requested streams are shown.
  var isManaged = false {
    didSet { choose() }
  }
  /// Whether somebody looks for the frames of streams (``noteFrames(_:)``). A new stream has none then until it is looked
  /// at, so that it takes no place for a moment that it would keep.
  var looksForFrames = false
  /// The streams that were local when they were last known.
  private var localIDs: Set<StreamID> = []
  private var streamCount = 0
  /// How often something has changed that the choice may depend on.
  private(set) var choiceCount = 0
  /// The loudest stream, which ``Policy/activeSpeaker`` shows.
  private var speaker: StreamID?
  /// The stream that is louder than the chosen one, and since when.
  private var challenger: (id: StreamID, since: MonotonicTime)?
  /// By what factor a speaker has to be louder than the chosen one.
  private static let speakerMargin = 1.5
  /// For how long a speaker has to be louder.
  private static let speakerTime = Duration.milliseconds(500)
  /// Levels up to this one do not count as speech.
  static let silence = 0.05

  /// Makes a selector without streams.
  public init(policy: Policy = .first) {
    self.policy = policy
  }

  // MARK: - Streams

  /// Adds a stream, or changes one that was added before.
  ///
  /// - Parameters:
  ///   - id: the stream.
  ///   - isLocal: whether it is the user's own picture.
  ///   - isScreenShare: whether it shows somebody's screen.
  ///   - placeholder: what stands in place of its picture; nil while it has one.
  public mutating func set(
    _ id: StreamID, isLocal: Bool = false, isScreenShare: Bool = false, placeholder: StreamPlaceholder? = nil
  ) {
    var stream =
      self[id]
      ?? Stream(
        id: id, isLocal: isLocal, isScreenShare: isScreenShare, number: streamCount,
        hasFrame: looksForFrames ? false : nil)
    (stream.isLocal, stream.isScreenShare, stream.placeholder) = (isLocal, isScreenShare, placeholder)
    guard stream != self[id] else { return }
    if isLocal { localIDs.insert(id) } else { localIDs.remove(id) }
    self[id] = stream
    isManaged = true
  }

  /// Removes a stream. If it was the chosen one, another one is chosen. A request for it remains.
  public mutating func remove(_ id: StreamID) {
    guard self[id] != nil else { return }
    self[id] = nil
    choose()
  }

  /// Removes a stream that another window shows from now on. It leaves its place, too, which a stream that has ended may
  /// keep.
  mutating func giveAway(_ id: StreamID) {
    places.removeAll { $0.streamID == id }
    remove(id)
  }

  /// Notes how loud a stream is at the moment, which matters for ``Policy/activeSpeaker``.
  ///
  /// - Parameters:
  ///   - id: the stream. Unknown ones are ignored.
  ///   - level: from 0 (silent) to 1.
  public mutating func setAudioLevel(_ id: StreamID, _ level: Double) { setAudioLevel(id, level, at: .now) }

  /// Notes how loud a stream was at a time.
  package mutating func setAudioLevel(_ id: StreamID, _ level: Double, at time: MonotonicTime) {
    self[id]?.audioLevel = level.isFinite ? min(1, max(0, level)) : 0
    if case .activeSpeaker = policy { followSpeaker(at: time) }
  }

  /// Notes which streams have delivered a frame. A stream that has delivered one keeps it until it is removed.
  mutating func noteFrames(_ hasFrame: (StreamID) -> Bool) {
    let old = streams
    for (index, stream) in streams.enumerated() where stream.hasFrame != true {
      streams[index].hasFrame = hasFrame(stream.id)
    }
    if streams != old { choose() }
  }

  private subscript(id: StreamID) -> Stream? {
    get { streams.first { $0.id == id } }
    set {
      let index = streams.firstIndex { $0.id == id }
      switch (index, newValue) {
      case (let index?, let new?): streams[index] = new
      case (let index?, nil): streams.remove(at: index)
      case (nil, let new?):
        streams.append(new)
        streamCount += 1
      case (nil, nil): break
      }
    }
  }

  // MARK: - Requests

  /// Notes which stream the user wants to see. It is shown whenever it has a picture, until the user requests another
  /// one or withdraws the request with nil. The stream need not exist yet. If it is in the window's second place, the two
  /// streams change places.
  package mutating func select(_ id: StreamID?) {
    if requests.count > 1, id != nil, requests[1] == id { requests[1] = selected == id ? nil : selected }
    requests[0] = id
    choose()
  }

  /// Notes which stream the user wants to see in the second place. With nil there is none where the layout has none.
  mutating func selectSecond(_ id: StreamID?) {
    requests = [requests[0]] + (id.map { [$0] } ?? [])
    choose()
  }

  /// The stream that the window's next and previous buttons lead to: the one with a picture after or before the chosen
  /// one, in a circle that includes the local stream; nil where there is no other, and in a grid, which shows all.
  package func neighbour(forward: Bool) -> StreamID? {
    guard layout != .grid else { return nil }
    let others = streams.filter { $0.id != selected && situation.mayShow($0) }
    let number = places.first?.number ?? -1
    let next = forward ? others.first { $0.number > number } : others.last { $0.number < number }
    return (next ?? (forward ? others.first : others.last))?.id
  }

  /// Whether a stream has a picture that may be shown now.
  func mayShow(_ id: StreamID) -> Bool { self[id].map(situation.mayShow) ?? false }

  /// Whether a stream has ended, failed or been removed.
  func isOver(_ id: StreamID) -> Bool { isManaged && self[id]?.isOver ?? true }

  // MARK: - Choosing

  private mutating func choose() {
    choiceCount += 1
    guard isManaged else {
      places = requests.compactMap(\.self).enumerated().map { PictureInPicturePlace(streamID: $1, index: $0) }
      return
    }
    let rules = PictureInPictureRules(
      streams: streams, policy: policy, layout: layout, requests: requests, localIDs: localIDs, speaker: speaker,
      previous: places, situation: situation)
    (places, overflowCount) = (rules.places, rules.overflowCount)
  }

  /// Notes who speaks: the loudest stream once it has been loud enough for long enough.
  private mutating func followSpeaker(at time: MonotonicTime) {
    let current = selected.flatMap { self[$0] }?.audioLevel ?? 0
    let remote = streams.filter { !$0.isLocal && situation.mayShow($0) }
    guard let loudest = remote.max(by: { $0.audioLevel < $1.audioLevel }), loudest.id != selected,
      loudest.audioLevel > Self.silence, loudest.audioLevel > current * Self.speakerMargin
    else {
      challenger = nil
      return
    }
    if challenger?.id != loudest.id { challenger = (loudest.id, time) }
    guard let challenger, challenger.since.duration(to: time) >= Self.speakerTime else { return }
    speaker = loudest.id
    self.challenger = nil
    choose()
  }
}
