import CGStreamer

/// When a frame is to be shown and for how long. Every part may be ``MediaTime/invalid``.
public struct SampleTiming: Hashable, Sendable {
  public var presentationTimeStamp: MediaTime
  public var decodeTimeStamp: MediaTime
  public var duration: MediaTime

  public init(
    presentationTimeStamp: MediaTime = .invalid, decodeTimeStamp: MediaTime = .invalid, duration: MediaTime = .invalid
  ) {
    self.presentationTimeStamp = presentationTimeStamp
    self.decodeTimeStamp = decodeTimeStamp
    self.duration = duration
  }

  /// No time at all: the frame can only be shown at once.
  public static let invalid = SampleTiming()
}

/// A frame on its way to a surface: its pixels, its format, its times, and how it is to be treated. A value; copying it
/// copies a reference to the pixels.
public struct SampleBuffer: Sendable {
  public struct Attachments: Hashable, Sendable {
    /// Show it as soon as it arrives, whatever its time stamps say.
    public var displayImmediately: Bool

    public init(displayImmediately: Bool = false) {
      self.displayImmediately = displayImmediately
    }
  }

  public let pixelBuffer: PixelBuffer
  public var timing: SampleTiming
  public var attachments: Attachments
  /// How the picture is to be turned when it is shown: what the stream's `image-orientation` tag and the buffer's
  /// affine meta say, and what the app adds. Turning it costs nothing until then.
  public var orientation: VideoOrientation = .upright
  /// How the picture's colours are to be changed by the surface that shows it. A display layer sets it when it presents
  /// the frame (``FrameRouter/setColorBalance(_:for:)``).
  public internal(set) var colorBalance = ColorBalance.neutral
  /// The frame's place among those of its stream, counted from 1 by the engine where it takes the frame over; 0 for a
  /// frame that no engine delivered.
  public var sequenceNumber: UInt64
  /// When the engine took the frame over; nil where no times are taken (``RenderStatistics/takesTimes``).
  public var receivedAt: MonotonicTime?

  public var formatDescription: VideoFormatDescription { pixelBuffer.formatDescription }

  /// A sample without valid times can only be shown at once, so `displayImmediately` is set for it, as the video-call
  /// engines that inspired this do.
  public init(
    pixelBuffer: PixelBuffer, timing: SampleTiming = .invalid, attachments: Attachments? = nil,
    sequenceNumber: UInt64 = 0
  ) {
    self.pixelBuffer = pixelBuffer
    self.timing = timing
    self.attachments = attachments ?? Attachments(displayImmediately: !timing.presentationTimeStamp.isNumeric)
    self.sequenceNumber = sequenceNumber
  }

  /// The same with the format description given, as CMSampleBuffer's constructor has it.
  ///
  /// - Throws: ``PipSinkError/Frame/invalidCaps(_:)`` when it is not the pixel buffer's own.
  public init(
    pixelBuffer: PixelBuffer, formatDescription: VideoFormatDescription, timing: SampleTiming,
    attachments: Attachments? = nil
  ) throws(PipSinkError) {
    guard formatDescription === pixelBuffer.formatDescription else {
      throw .frame(.invalidCaps(formatDescription.capsDescription))
    }
    self.init(pixelBuffer: pixelBuffer, timing: timing, attachments: attachments)
  }

  /// The same sample with other pixels: times, attachments and place are kept. What a ``FrameProcessor`` returns that
  /// has made a new picture.
  ///
  /// - Parameter orientation: how the new picture is to be turned; nil for as the old one.
  public func replacing(_ pixelBuffer: PixelBuffer, orientation: VideoOrientation? = nil) -> SampleBuffer {
    var result = SampleBuffer(
      pixelBuffer: pixelBuffer, timing: timing, attachments: attachments, sequenceNumber: sequenceNumber)
    result.orientation = orientation ?? self.orientation
    result.colorBalance = colorBalance
    result.receivedAt = receivedAt
    return result
  }
}
