import Synchronization

/// What all layers that show a stream do with its frames: how they adjust its colours, whether they mirror them, and the
/// conversions for renderers that do not take frames as they are. Layers that show the same frame in the same format
/// share one conversion. It runs on their presenting threads, where the others wait for its result.
final class FrameConversions: Sendable {
  private struct Conversion {
    let converter = PixelConverter()
    weak var source: PixelBuffer?
    var result: PixelBuffer?
  }

  /// One conversion for each format that a renderer has asked for; its lock is held while a frame is converted.
  private let conversions = Locked<[PixelFormat: Locked<Conversion>]>([:])
  private let mirroring = Atomic(false)
  private let balance = Atomic<UInt64>(ColorBalance.neutral.word)

  /// How the stream's colours are adjusted when its frames are shown.
  var colorBalance: ColorBalance {
    get { ColorBalance(word: balance.load(ordering: .relaxed)) }
    set { balance.store(newValue.word, ordering: .relaxed) }
  }

  /// Whether the stream's frames are mirrored when they are shown, after they have been turned upright.
  var isMirrored: Bool {
    get { mirroring.load(ordering: .relaxed) }
    set { mirroring.store(newValue, ordering: .relaxed) }
  }

  /// Converts a frame. Its size, its times and the pictures over it stay the same.
  ///
  /// - Throws: the errors of ``PixelConverter/convert(_:to:)-(PixelBuffer,_)``.
  func convert(_ sampleBuffer: SampleBuffer, to pixelFormat: PixelFormat) throws(PipSinkError) -> SampleBuffer {
    let conversion = conversions.withLock { conversions in
      let known = conversions[pixelFormat] ?? Locked(Conversion())
      conversions[pixelFormat] = known
      return known
    }
    let source = sampleBuffer.pixelBuffer
    let result = try conversion.withLock { conversion throws(PipSinkError) in
      if conversion.source === source, let result = conversion.result { return result }
      // Its memory is free for the new picture, if no renderer has kept it.
      conversion.result = nil
      var picture = try conversion.converter.mutableCopy(of: source, as: pixelFormat)
      picture.copyMetadata(of: source)
      let result = picture.finish()
      (conversion.source, conversion.result) = (source, result)
      return result
    }
    return sampleBuffer.replacing(result)
  }

  /// Frees the memory of all formats. The next frame that is converted takes it again.
  func forget() {
    let forgotten = conversions.exchange([:])
    _ = forgotten
  }
}
