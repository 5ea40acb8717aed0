import PipSink

/// The surfaces of one run: each stream's in the app, and the picture-in-picture one.
@MainActor
protocol Surfaces: AnyObject {
  /// For the report: "offscreen", "x11", "wayland" or "none".
  var kind: String { get }
  var pictureInPictureWindow: any PictureInPictureHost { get }

  /// A stream's layer in the app, made at the first call.
  func inAppLayer(for id: StreamID) throws(PipSinkError) -> SampleBufferDisplayLayer?

  /// Takes a stream's place in the app away, with its layer.
  func removeStream(_ id: StreamID)

  /// Which stream is in picture-in-picture now, for what its place in the app shows; nil for none.
  func pictureInPictureDidChange(to id: StreamID?)

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
  /// Its frames stay away, and are expected to come back.
  case reconnecting
  case ended
  case failed(String)
}

/// Frames are counted, and shown nowhere.
final class NoSurfaces: Surfaces {
  let kind = "none"
  let pictureInPictureWindow: any PictureInPictureHost = Window()

  func inAppLayer(for id: StreamID) -> SampleBufferDisplayLayer? { nil }
  func removeStream(_ id: StreamID) {}
  func pictureInPictureDidChange(to id: StreamID?) {}
  func streamDidChange(_ id: StreamID, to state: StreamState) {}
  func images(pipStream: StreamID?) -> [(name: String, image: BGRAImage)] { [] }

  /// A window that is not there.
  private final class Window: PictureInPictureHost {
    let renderer: any VideoRenderer = Renderer()
    let unsupportedReason: String? = nil
    var eventHandler: (@MainActor (PictureInPictureWindowEvent) -> Void)?

    func open(_ presentation: PictureInPicturePresentation) {}
    func update(_ presentation: PictureInPicturePresentation) {}
    func close() {}
  }

  private final class Renderer: VideoRenderer {
    func render(_ sampleBuffer: SampleBuffer, gravity: VideoGravity) {}
    func removeImage() {}
  }
}
