import Logging
import PipSink

/// A wl_buffer for the memory of a stream's frames.
final class WaylandFrameMemory: Sendable {
  /// What the compositor has said about the memory.
  enum Answer {
    /// It has not answered yet.
    case awaited
    /// It reads the memory.
    case accepted
    /// It cannot read the memory.
    case refused
  }

  private struct State {
    var answer = Answer.awaited
    /// The question whether the compositor can read the memory, until it has answered.
    var question: WaylandProxy?
    var buffer: WaylandObject<WLBuffer>?
    /// The frame that the compositor may be reading.
    var frame: SampleBuffer?
  }

  /// The format of the frames, for which the wl_buffer is made.
  let format: VideoFormatDescription
  let way: WaylandFrameWay
  private let layout: DMABufFrame
  private let state = Locked(State())

  /// Asks the compositor to read memory.
  ///
  /// - Parameters:
  ///   - pixelBuffer: a frame in the memory.
  ///   - way: how the compositor reads frames of this format.
  ///   - loop: the connection's event loop.
  ///   - factory: the compositor's object for such memory.
  ///   - answered: called on the connection's thread.
  /// - Returns: nil when the frame is not completely in DMABufs.
  init?(
    _ pixelBuffer: PixelBuffer, _ way: WaylandFrameWay, _ loop: WaylandEventLoop,
    _ factory: WaylandObject<ZWPLinuxDMABuf>, answered: @escaping @Sendable (WaylandFrameMemory) -> Void
  ) {
    guard let layout = DMABufFrame(pixelBuffer) else { return nil }
    (format, self.way, self.layout) = (pixelBuffer.formatDescription, way, layout)
    let question = factory.createParams { events in
      events.created { [weak self] new in
        let buffer = loop.adopt(new) { $0.release { [weak self] in self?.didRelease() } }
        guard let self else { return }
        note(buffer)
        answered(self)
      }
      events.failed { [weak self] in
        guard let self else { return }
        note(nil)
        answered(self)
      }
    }
    guard let question else { return nil }
    for (index, plane) in layout.planes.enumerated() {
      question.add(
        WaylandDescriptor(plane.descriptor), UInt32(index), UInt32(clamping: plane.offset),
        UInt32(clamping: plane.stride), UInt32(way.modifier >> 32), UInt32(truncatingIfNeeded: way.modifier))
    }
    question.create(layout.size.width, layout.size.height, way.code, 0)
    // The compositor may have answered already. Otherwise the question is kept until it does.
    state.withLock { if $0.answer == .awaited { $0.question = question } }
  }

  var answer: Answer { state.withLock { $0.answer } }

  /// The size of the full picture, in pixels.
  var size: PictureSize { layout.size }

  /// Whether the memory is used as it is in another frame.
  func isFit(for pixelBuffer: PixelBuffer) -> Bool {
    format === pixelBuffer.formatDescription && layout == DMABufFrame(pixelBuffer)
  }

  /// Attaches a frame in the memory to a surface, as ``WaylandFrame/attach(to:)`` does.
  func attach(to surface: WaylandObject<WLSurface>, _ frame: SampleBuffer) {
    let (buffer, old) = state.withLock { state in
      defer { state.frame = frame }
      return (state.buffer, state.frame)
    }
    withExtendedLifetime(old) {}
    // Without a wl_buffer the surface keeps what it shows.
    guard let buffer else { return }
    surface.attach(buffer.reference, 0, 0)
    surface.damage(0, 0, .max, .max)
  }

  /// Destroys the wl_buffer. Whoever has the memory may do with it what they like.
  func destroy() {
    let (question, buffer, frame) = state.withLock { state in
      defer { (state.question, state.buffer, state.frame, state.answer) = (nil, nil, nil, .refused) }
      return (state.question, state.buffer, state.frame)
    }
    question?.destroy()
    buffer?.destroy()
    withExtendedLifetime(frame) {}
  }

  private func note(_ buffer: WaylandObject<WLBuffer>?) {
    let question = state.withLock { state in
      defer { state.question = nil }
      // It may have been destroyed meanwhile.
      if state.answer == .awaited { (state.buffer, state.answer) = (buffer, buffer == nil ? .refused : .accepted) }
      return state.question
    }
    question?.destroy()
  }

  private func didRelease() {
    // The frame is released without the lock.
    let frame = state.exchange(\.frame, nil)
    withExtendedLifetime(frame) {}
  }
}

/// The wl_buffers of a tile for the memories of a stream's frames. A stream has the same few memories again and again.
final class WaylandFrameMemories: Sendable {
  private struct State {
    var memories: [DMABufMemory: WaylandFrameMemory] = [:]
    /// The memories whose end is awaited. They are a few more than those above.
    var watched: Set<DMABufMemory> = []
    /// The format whose frames the compositor has refused last.
    var refused: VideoFormatDescription?
    /// The format whose frames it has accepted last.
    var accepted: VideoFormatDescription?
  }

  private static let logger = Logger(label: "pipsink.windows")
  private let formats: WaylandFrameFormats
  private let loop: WaylandEventLoop
  /// Whether the compositor may compute colours from YUV as it likes.
  private let mayLookDifferent: Bool
  private let state = Locked(State())

  init(_ formats: WaylandFrameFormats, _ loop: WaylandEventLoop, mayLookDifferent: Bool) {
    (self.formats, self.loop, self.mayLookDifferent) = (formats, loop, mayLookDifferent)
  }

  /// Returns the wl_buffer for a frame's memory, or nil when the compositor cannot read it.
  ///
  /// - Parameters:
  ///   - sampleBuffer: the frame.
  ///   - answered: called on the connection's thread when the compositor has answered whether it reads the memory.
  func memory(
    of sampleBuffer: SampleBuffer, answered: @escaping @Sendable (WaylandFrameMemory) -> Void
  ) -> WaylandFrameMemory? {
    let pixelBuffer = sampleBuffer.pixelBuffer
    guard let key = pixelBuffer.dmabufMemory else { return nil }
    let (known, isRefused) = state.withLock { ($0.memories[key], $0.refused === pixelBuffer.formatDescription) }
    if isRefused { return nil }
    if let known, known.isFit(for: pixelBuffer) { return known }
    guard let factory = formats.factory,
      let way = formats.way(for: pixelBuffer.formatDescription, mayLookDifferent: mayLookDifferent)
    else { return nil }
    let new = WaylandFrameMemory(pixelBuffer, way, loop, factory) { [weak self] memory in
      self?.note(memory)
      answered(memory)
    }
    guard let new else { return nil }
    let (old, mustWatch) = state.withLock { state in
      (state.memories.updateValue(new, forKey: key), state.watched.insert(key).inserted)
    }
    old?.destroy()
    if mustWatch { key.whenFreed { [weak self] in self?.forget(key) } }
    return new
  }

  /// Destroys all wl_buffers, after the surface that showed them.
  func forget() {
    let old = state.withLock { state in
      defer { (state.memories, state.refused, state.accepted) = ([:], nil, nil) }
      return state.memories.values
    }
    for memory in old { memory.destroy() }
  }

  private func note(_ memory: WaylandFrameMemory) {
    let isNew = state.withLock { state in
      defer { if memory.answer == .refused { state.refused = memory.format } else { state.accepted = memory.format } }
      return memory.answer == .refused ? state.refused !== memory.format : state.accepted !== memory.format
    }
    guard isNew else { return }
    if memory.answer == .refused {
      Self.logger.notice(
        "the compositor refuses frames of \(memory.format) in DMABufs, which the processor draws instead")
    } else {
      Self.logger.info("the compositor reads frames of \(memory.format) where they are, in DMABufs")
    }
  }

  private func forget(_ key: DMABufMemory) {
    let old = state.withLock { state in
      state.watched.remove(key)
      return state.memories.removeValue(forKey: key)
    }
    old?.destroy()
  }
}
