import PipSink

/// A picture-in-picture window that has keys, and tells what it shows.
@MainActor
package protocol KeyedPictureInPictureHost: PictureInPictureHost {
  var keyPressed: ((_ keysym: UInt32) -> Bool)? { get set }
  var otherKeyPressed: ((_ keysym: UInt32) -> Void)? { get set }
  func image() -> BGRAImage?
  var convertedFrameCount: UInt64 { get }
}

extension X11PictureInPictureWindow: KeyedPictureInPictureHost {}
