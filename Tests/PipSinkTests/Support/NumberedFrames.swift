@testable import PipSink
@testable import TestSupport

/// Makes frames that all show the same small picture and differ in their sequence numbers.
struct NumberedFrames: Sendable {
  let pixelBuffer: PixelBuffer

  init() throws {
    pixelBuffer = try TestFrame.keptPixelBuffer(TestFrame.testSource(.i420, 16, 16))
  }

  func callAsFunction(_ number: UInt64) -> SampleBuffer {
    SampleBuffer(pixelBuffer: pixelBuffer, sequenceNumber: number)
  }

  /// Makes a frame that is to be shown at the given time.
  func callAsFunction(_ number: UInt64, seconds: Double) -> SampleBuffer {
    SampleBuffer(
      pixelBuffer: pixelBuffer, timing: SampleTiming(presentationTimeStamp: MediaTime(seconds: seconds)),
      attachments: .init(displayImmediately: false), sequenceNumber: number)
  }
}
