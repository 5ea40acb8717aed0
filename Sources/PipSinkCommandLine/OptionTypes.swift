import ArgumentParser
import PipSink
import PipSinkWindows

// The library's types that options of both programs take as their values.

extension PixelFormat: ExpressibleByArgument {}
extension WindowRenderer: ExpressibleByArgument {}

/// `WIDTHxHEIGHT` on the command line, in pixels.
extension PictureSize: ExpressibleByArgument {
  public init?(argument: String) {
    let parts = argument.parts(between: "x").map { Int($0) }
    guard parts.count == 2, let width = parts[0], let height = parts[1] else { return nil }
    self.init(width: width, height: height)
    guard isValid else { return nil }
  }

  public var defaultValueDescription: String { description }
}
