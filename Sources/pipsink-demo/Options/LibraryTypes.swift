import ArgumentParser
import PipSink
import PipSinkWindows

// The library's types that options take as their values.

extension StreamID: ExpressibleByArgument {}
extension WindowCorner: ExpressibleByArgument {}
extension PictureInPictureEndAction: ExpressibleByArgument {}
extension PictureInPictureLayout: ExpressibleByArgument {}
extension HardwareDecoders.Preference: ExpressibleByArgument {}
extension VideoGravity: ExpressibleByArgument {}

extension FrameFormatSeries: ExpressibleByArgument {
  public init?(argument: String) { self.init(name: argument) }
}
