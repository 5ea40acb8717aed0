import CGStreamer

/// When a frame should be shown, and for how long. Each of the times may be ``MediaTime/invalid``.
public struct SampleTiming: Hashable, Sendable {
  /// When the frame should be shown, in the time of its stream.
  public var presentationTimeStamp: MediaTime
  /// When the frame had to be decoded, in the time of its stream.
  public var decodeTimeStamp: MediaTime
  /// For how long the frame should be shown.
  public var duration: MediaTime

  /// Makes a timing. A time that is not given is invalid.
  public init(
    presentationTimeStamp: MediaTime = .invalid, decodeTimeStamp: MediaTime = .invalid, duration: MediaTime = .invalid
  ) {
    self.presentationTimeStamp = presentationTimeStamp
    self.decodeTimeStamp = decodeTimeStamp
    self.duration = duration
  }

  /// The timing without any times, with which a frame can only be shown at once.
  public static let invalid = SampleTiming()
}

/// A frame of a stream: its pixels with their format, its times, and how it should be shown. Copying this value copies
/// a reference to the pixels, not the pixels.
public struct SampleBuffer: Sendable {
  /// How a layer should treat the frame.
  public struct Attachments: Hashable, Sendable {
    /// Whether to show the frame as soon as it arrives, regardless of its times.
    public var displayImmediately: Bool

    /// Whether a processor must not drop the frame to lower the frame rate, because no other frame may follow: in a
    /// pause, and as the first one after a seek.
    public var mustNotBeDropped: Bool

    /// Makes attachments.
    public init(displayImmediately: Bool = false, mustNotBeDropped: Bool = false) {
      self.displayImmediately = displayImmediately
      self.mustNotBeDropped = mustNotBeDropped
    }
  }

  /// The frame's pixels.
  public let pixelBuffer: PixelBuffer
  /// When the frame should be shown, and for how long.
  public var timing: SampleTiming
  /// How a layer should treat the frame.
  public var attachments: Attachments
  /// How the picture has to be rotated and mirrored when it is shown. It combines the stream's `image-orientation` tag,
  /// the buffer's affine meta, and what the app adds. The pixels themselves are not changed until then.
  public var orientation: VideoOrientation = .upright
  /// How a renderer has to adjust the picture's colours. A display layer sets it when it presents the frame
  /// (``FrameRouter/setColorBalance(_:for:)``).
  package internal(set) var colorBalance = ColorBalance.neutral
  /// The frame's number in its stream, from 1, as the engine counts frames; 0 for a frame that no engine has delivered.
  package var sequenceNumber: UInt64
  /// When an engine or a ``StreamInput`` received the frame; nil for a frame of another origin.
  package var receivedAt: MonotonicTime?

  /// The format of the frame's pixels.
  public var formatDescription: VideoFormatDescription { pixelBuffer.formatDescription }

  /// The size of the visible part of the frame as it is to be shown: on square pixels, and rotated.
  package var displaySize: (width: Double, height: Double) {
    let display = formatDescription.displaySize(of: pixelBuffer.visibleRect.size)
    return orientation.swapsSides ? (display.height, display.width) : display
  }

  /// Width divided by height of the frame as it is to be shown: its visible part with square pixels, rotated.
  package var displayAspectRatio: Double { displaySize.width / displaySize.height }

  /// Makes a frame.
  ///
  /// - Parameters:
  ///   - pixelBuffer: the frame's pixels.
  ///   - timing: when the frame should be shown.
  ///   - attachments: how a layer should treat the frame. With nil, `displayImmediately` is set if `timing` has no
  ///     presentation time, since such a frame can only be shown at once.
  public init(pixelBuffer: PixelBuffer, timing: SampleTiming = .invalid, attachments: Attachments? = nil) {
    self.init(pixelBuffer: pixelBuffer, timing: timing, attachments: attachments, sequenceNumber: 0)
  }

  /// Makes a frame that has a number in its stream.
  package init(
    pixelBuffer: PixelBuffer, timing: SampleTiming = .invalid, attachments: Attachments? = nil, sequenceNumber: UInt64
  ) {
    self.pixelBuffer = pixelBuffer
    self.timing = timing
    self.attachments = attachments ?? Attachments(displayImmediately: !timing.presentationTimeStamp.isNumeric)
    self.sequenceNumber = sequenceNumber
  }

  /// The same frame with other pixels, which keeps the times, attachments and number. A ``FrameProcessor`` that has
  /// made a new picture returns such a frame.
  ///
  /// - Parameters:
  ///   - pixelBuffer: the new pixels.
  ///   - orientation: how the new picture has to be rotated and mirrored; nil to keep the orientation.
  public func replacing(_ pixelBuffer: PixelBuffer, orientation: VideoOrientation? = nil) -> SampleBuffer {
    var result = SampleBuffer(
      pixelBuffer: pixelBuffer, timing: timing, attachments: attachments, sequenceNumber: sequenceNumber)
    result.orientation = orientation ?? self.orientation
    result.colorBalance = colorBalance
    result.receivedAt = receivedAt
    return result
  }

  /// The same frame with a copy of its memory; nil when the memory cannot be read.
  var inMemoryOfItsOwn: SampleBuffer? {
    gst_buffer_copy_deep(pixelBuffer.buffer).map {
      replacing(PixelBuffer(owning: $0, formatDescription: formatDescription))
    }
  }
}
