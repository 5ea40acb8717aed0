import Foundation
import Testing

@testable import PipSink

extension Demo {
  /// The offscreen pictures of a pipeline's streams at a size. The streams must be test pictures that do not change.
  static func offscreenPictures(
    of pipeline: String, streams: [String], size: PictureSize, gravity: VideoGravity
  ) async throws -> [BGRAImage] {
    let key = "\(pipeline) \(size) \(gravity)"
    if let kept = offscreenPictures.withLock({ $0[key] }) { return kept }
    let folder = try TemporaryFolder()
    let run = try await play([
      pipeline, "--surface", "offscreen", "--window-size", "\(size)", "--gravity", gravity.rawValue, "--duration", "1",
      "--snapshots", folder.url.path,
    ])
    #expect(run.status == 0, "\(run.errors)")
    var pictures: [BGRAImage] = []
    for name in streams {
      let file = try #require(folder.files.first { $0.hasSuffix("inApp-\(name).png") })
      pictures.append(try await PictureFile.decoded(folder.path(file)))
    }
    offscreenPictures.withLock { [pictures] kept in kept[key] = pictures }
    return pictures
  }

  /// The pictures of earlier calls.
  private static let offscreenPictures = Locked<[String: [BGRAImage]]>([:])
}
