import PipSink

/// The surfaces of one run: each stream's in the app, and the picture-in-picture one.
@MainActor
protocol Surfaces: AnyObject {
  /// For the report: "offscreen", "x11", "wayland" or "none".
  var kind: String { get }
  var pictureInPictureLayer: SampleBufferDisplayLayer? { get }

  /// A stream's layer in the app, made at the first call.
  func inAppLayer(for id: StreamID) throws(PipSinkError) -> SampleBufferDisplayLayer?

  /// Called before the first frame goes to picture-in-picture, when another stream takes its place, and after the last
  /// (with nil).
  func pictureInPictureWillShow(_ id: StreamID?, aspectRatio: Double?)

  /// What a stream does, for what its place shows when it has no picture.
  func streamDidChange(_ id: StreamID, to state: StreamState)

  /// Frames that were converted to be shown in windows; nil where there are none.
  var convertedFrameCount: UInt64? { get }

  /// What every surface shows now, by name. One that shows nothing has no picture.
  func images(pipStream: StreamID?) -> [(name: String, image: BGRAImage)]
}

extension Surfaces {
  var convertedFrameCount: UInt64? { nil }
}

/// What a stream does.
enum StreamState: Equatable {
  case waiting
  case playing
  case ended
  case failed(String)
}

/// Frames are counted, and shown nowhere.
final class NoSurfaces: Surfaces {
  let kind = "none"
  let pictureInPictureLayer: SampleBufferDisplayLayer? = nil

  func inAppLayer(for id: StreamID) -> SampleBufferDisplayLayer? { nil }
  func pictureInPictureWillShow(_ id: StreamID?, aspectRatio: Double?) {}
  func streamDidChange(_ id: StreamID, to state: StreamState) {}
  func images(pipStream: StreamID?) -> [(name: String, image: BGRAImage)] { [] }
}
