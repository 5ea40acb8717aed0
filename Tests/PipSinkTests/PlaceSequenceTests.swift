import Testing

@testable import PipSink
@testable import TestSupport

/// What the places of a picture-in-picture window show while people join, leave and switch their cameras, and the user
/// requests and switches. There are a thousand sequences at 60 frames a second, and each can be repeated by its seed.
@MainActor @Suite(.timeLimit(.minutes(10))) struct PlaceSequenceTests {
  /// Keeps the size of the frame that it shows; the streams' frames have different sizes.
  private final class SizeRenderer: VideoRenderer {
    let shown = Locked<PictureSize?>(nil)

    func render(_ sampleBuffer: SampleBuffer, gravity: VideoGravity) {
      shown.withLock { $0 = sampleBuffer.pixelBuffer.size }
      shown.wakeAll()
    }
    func removeImage() { shown.withLock { $0 = nil } }
  }

  private final class Window: PictureInPictureHost {
    let renderers = (0..<PictureInPictureLayout.maximumPlaceCount).map { _ in SizeRenderer() }
    var renderer: any VideoRenderer { renderers[0] }
    var otherRenderers: [any VideoRenderer] { Array(renderers.dropFirst()) }
    var unsupportedReason: String? { nil }
    var eventHandler: (@MainActor (PictureInPictureWindowEvent) -> Void)?
    private(set) var presentation: PictureInPicturePresentation?

    func open(_ presentation: PictureInPicturePresentation) { self.presentation = presentation }
    func update(_ presentation: PictureInPicturePresentation) {
      if self.presentation != nil { self.presentation = presentation }
    }
    func close() { presentation = nil }
  }

  /// The streams, each with a frame of its own size.
  private nonisolated static let pictures: [StreamID: PixelBuffer] = {
    let widths: [StreamID: Int] = ["a": 16, "b": 18, "c": 20, "me": 22]
    return widths.compactMapValues { try? PlainFrame.make([255, 255, 255], $0, 16).pixelBuffer }
  }()

  /// Pushes a frame of each stream whose camera is on, 60 times a second, on a thread of its own.
  private final class Cameras: Sendable {
    private let inputs = Locked<[ObjectIdentifier: [StreamID: StreamInput]]>([:])
    private let isRunning = Locked(true)
    /// How often all streams have had a frame.
    let rounds = Locked(0)

    func start() {
      let pictures = PlaceSequenceTests.pictures
      Task.detached { [self] in
        let clock = ContinuousClock()
        var next = clock.now
        while isRunning.withLock({ $0 }) {
          for input in inputs.withLock({ $0.values.flatMap(\.values) }) {
            if let picture = pictures[input.streamID] { input.push(picture) }
          }
          rounds.withLock { $0 += 1 }
          next = max(next + .seconds(1) / 60, clock.now)
          try? await Task.sleep(until: next, clock: clock)
        }
      }
    }

    func stop() { isRunning.withLock { $0 = false } }

    func set(_ input: StreamInput?, _ id: StreamID, of room: AnyObject) {
      inputs.withLock { $0[ObjectIdentifier(room), default: [:]][id] = input }
    }

    func remove(_ room: AnyObject) { inputs.withLock { $0[ObjectIdentifier(room)] = nil } }
  }

  @MainActor
  private final class Room {
    let session: PictureInPictureSession
    let window = Window()
    let cameras: Cameras
    private var random: SeededGenerator
    private var inputs: [StreamID: StreamInput] = [:]
    /// The streams that may not be in picture-in-picture.
    private var excluded: Set<StreamID> = []
    private(set) var steps: [String] = []
    /// The moves of streams that have left.
    private(set) var changes: [SurfaceChange] = []

    init(_ seed: UInt64, _ cameras: Cameras) throws {
      self.cameras = cameras
      random = SeededGenerator(seed: seed)
      var configuration = PictureInPictureSession.Configuration()
      configuration.localStreamIDs = ["me"]
      configuration.startsInPictureInPicture = Bool.random(using: &random)
      configuration.pictureInPictureStreamID = Bool.random(using: &random) ? "b" : nil
      configuration.streamSelectorPolicy = [.first, .mostRecent, .pinned("c")].randomElement(using: &random) ?? .first
      session = try PictureInPictureSession(
        display: LayerDisplay(pictureInPictureHost: window), configuration: configuration)
      session.observeEvents { [weak self] event in
        if case .streamRemoved(_, let summary?) = event { self?.changes += summary.changes }
      }
    }

    private func join(_ id: StreamID) throws {
      guard inputs[id] == nil else { return }
      inputs[id] = try session.addInput(id, stallTimeout: nil)
      cameras.set(inputs[id], id, of: self)
    }

    func begin() async throws {
      for id: StreamID in ["me", "a"] { try join(id) }
      try await session.start()
    }

    func step() throws {
      let id = PlaceSequenceTests.pictures.keys.sorted().randomElement(using: &random) ?? "a"
      let kind = Int.random(in: 0..<15, using: &random)
      steps.append("\(kind) \(id)")
      switch kind {
      case 0, 1: try join(id)
      case 2:
        guard inputs.removeValue(forKey: id) != nil else { return }
        cameras.set(nil, id, of: self)
        excluded.remove(id)
        try session.removeStream(id)
      case 3, 4:
        guard let input = inputs[id] else { return }
        let isOff = session.placeholder(of: id) != .cameraOff && Bool.random(using: &random)
        cameras.set(isOff ? nil : input, id, of: self)
        try session.setCameraState(isOff ? .off : .on, of: id)
      case 5: try? session.setPictureInPictureSource(id)
      case 6: try? session.setPictureInPictureSource(nil)
      case 7: try? session.setSecondPictureInPictureStream(id)
      case 8: try session.setSecondPictureInPictureStream(nil)
      case 9: try? session.perform(.nextStream)
      case 10: session.stopPictureInPicture()
      case 11, 12:
        let layout = PictureInPictureLayout.allCases.randomElement(using: &random) ?? .single
        steps.append(layout.rawValue)
        session.controller.configuration.layout = layout
      case 13:
        guard inputs[id] != nil else { return }
        if excluded.remove(id) == nil { excluded.insert(id) }
        try session.setPictureInPictureAllowed(!excluded.contains(id), of: id)
      default: try? session.startPictureInPicture()
      }
    }

    /// Describes a violation of a condition that must hold at any moment; nil if there is none.
    var contradiction: String? {
      let selector = session.controller.streamSelector
      let (places, streams) = (selector.places, selector.streams)
      let allowed = Set(inputs.keys).subtracting(excluded)
      if Set(streams.map(\.id)) != allowed { return "the selector has \(streams.map(\.id))" }
      if places.contains(where: { excluded.contains($0.streamID) }) { return "a stream is there that may not be" }
      if Set(places.map(\.streamID)).count < places.count { return "a stream is in two places" }
      for wish in selector.requests {
        guard let wish, selector.mayShow(wish), !places.contains(where: { $0.streamID == wish }) else { continue }
        return "the wish for \(wish) is not granted"
      }
      let pictures = streams.filter { $0.standing == .live }
      guard selector.situation.isOpen, let first = places.first else { return nil }
      if selector.layout == .grid {
        return places.count == streams.count ? nil : "somebody has no place in the grid"
      }
      if !selector.mayShow(first.streamID), !pictures.isEmpty { return "\(first.streamID) has no picture" }
      let isWanted = selector.requests.contains(first.streamID)
      if places.count == 1, first.streamID == "me", !isWanted, pictures.contains(where: { !$0.isLocal }) {
        return "the local stream is alone"
      }
      return nil
    }

    /// Whether each place shows the picture of its stream and no other, as soon as everything has settled.
    var showsWhatItSays: Bool {
      guard let presentation = window.presentation else {
        return window.renderers.allSatisfy { $0.shown.withLock { $0 == nil } }
      }
      guard presentation.places == Array(session.controller.streamSelector.places) else { return false }
      return window.renderers.enumerated().allSatisfy { slot, renderer in
        let place = presentation.places.first { $0.slot == slot }
        let hasPicture = place.map { $0.placeholder == nil } ?? false
        let expected = hasPicture ? place.flatMap { PlaceSequenceTests.pictures[$0.streamID]?.size } : nil
        return renderer.shown.withLock { $0 == expected }
      }
    }

    var isSettled: Bool {
      switch session.controller.phase {
      case .starting, .stopping: false
      default: showsWhatItSays
      }
    }

    func end() async {
      cameras.remove(self)
      await session.invalidate()
    }
  }

  private func perform(_ seed: UInt64, _ cameras: Cameras) async throws {
    let room = try Room(seed, cameras)
    try await room.begin()
    for _ in 0..<12 {
      try room.step()
      if let contradiction = room.contradiction {
        Issue.record("seed \(seed): \(contradiction), after \(room.steps)")
        break
      }
      let round = cameras.rounds.withLock { $0 }
      let isSettled = await eventually(within: 5) { cameras.rounds.withLock { $0 > round } && room.isSettled }
      let controller = room.session.controller
      if !isSettled {
        let shown = room.window.renderers.map { $0.shown.withLock { $0 } }
        Issue.record(
          "seed \(seed): \(controller.streamSelector.places) and \(shown) in \(controller.phase), after \(room.steps)")
        break
      }
    }
    let changes = room.changes + room.session.router.changes
    #expect(changes.allSatisfy { $0.framesLost == 0 && $0.framesRepeated == 0 }, "seed \(seed)")
    for statistics in room.session.summaries.map(\.statistics) {
      #expect(statistics.received == statistics.inApp + statistics.pictureInPicture, "seed \(seed)")
    }
    await room.end()
  }

  @Test(arguments: 0..<10) func aHundredSequencesShowWhatIsWishedForAndNobodyElse(series: Int) async throws {
    let cameras = Cameras()
    cameras.start()
    defer { cameras.stop() }
    for batch in 0..<5 {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<20 {
          group.addTask { try await perform(UInt64(series * 100 + batch * 20 + number), cameras) }
        }
        try await group.waitForAll()
      }
    }
  }
}
