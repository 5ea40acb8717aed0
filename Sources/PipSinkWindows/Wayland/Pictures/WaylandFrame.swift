import PipSink

/// A frame that the compositor reads where the stream's elements have put it, in a DMABuf. Nobody copies or converts it.
final class WaylandFrame: Sendable {
  let sampleBuffer: SampleBuffer
  let memory: WaylandFrameMemory
  /// The part of the frame that is shown, in pixels of the full picture.
  let source: PictureRect
  /// What is drawn over it; nil for nothing.
  let decoration: DecorationLayer?

  init(
    _ sampleBuffer: SampleBuffer, _ memory: WaylandFrameMemory, source: PictureRect, under decoration: DecorationLayer?
  ) {
    (self.sampleBuffer, self.memory, self.source, self.decoration) = (sampleBuffer, memory, source, decoration)
  }

  /// Attaches the frame to a surface, whose next commit shows it. The stream's elements get the memory back when the
  /// compositor has released it, and this object does not exist any more.
  func attach(to surface: WaylandObject<WLSurface>) { memory.attach(to: surface, sampleBuffer) }
}

/// What a tile's surface shows.
enum WaylandPicture: Sendable {
  /// A picture that the program has drawn.
  case image(WaylandImage)
  /// A frame that nobody has drawn.
  case frame(WaylandFrame)
  /// What OpenGL has drawn on the surface.
  case drawn

  var image: WaylandImage? { if case .image(let image) = self { image } else { nil } }
  var frame: WaylandFrame? { if case .frame(let frame) = self { frame } else { nil } }
}
