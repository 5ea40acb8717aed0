import Foundation
import PipSink

/// The surfaces of one run: each stream's in the app, and the picture-in-picture one.
final class Surfaces {
  private struct Surface {
    let name: String
    let renderer: OffscreenRenderer
    let layer: SampleBufferDisplayLayer
  }

  private var inApp: [StreamID: Surface] = [:]
  private let pictureInPicture: Surface?
  private let snapshotFolder: String?
  private let inAppSize: PictureSize
  private let gravity: VideoGravity
  private let isOffscreen: Bool
  private var snapshotCount = 0
  private(set) var snapshots: [String] = []

  init(
    isOffscreen: Bool, inAppSize: PictureSize, pictureInPictureSize: PictureSize, gravity: VideoGravity,
    snapshotFolder: String?
  ) throws(PipSinkError) {
    self.isOffscreen = isOffscreen
    self.inAppSize = inAppSize
    self.gravity = gravity
    self.snapshotFolder = snapshotFolder
    pictureInPicture = isOffscreen ? try Self.offscreen("pip", pictureInPictureSize, gravity) : nil
  }

  var pictureInPictureLayer: SampleBufferDisplayLayer? { pictureInPicture?.layer }

  func inAppLayer(for id: StreamID) throws(PipSinkError) -> SampleBufferDisplayLayer? {
    guard isOffscreen else { return nil }
    let surface = try Self.offscreen("inApp-\(id)", inAppSize, gravity)
    inApp[id] = surface
    return surface.layer
  }

  private static func offscreen(
    _ name: String, _ size: PictureSize, _ gravity: VideoGravity
  ) throws(PipSinkError) -> Surface {
    let renderer = try OffscreenRenderer(size: size)
    return Surface(
      name: name, renderer: renderer,
      layer: SampleBufferDisplayLayer(name: name, renderer: renderer, videoGravity: gravity))
  }

  /// Writes what every surface shows now. A surface that shows nothing has no picture.
  ///
  /// - Parameter pipStream: whose frames the picture-in-picture surface shows, for the file's name.
  func writeSnapshots(at seconds: Double, pipStream: StreamID?) throws(PipSinkError) {
    guard let snapshotFolder else { return }
    snapshotCount += 1
    let shown = inApp.keys.sorted().compactMap { inApp[$0] } + [pictureInPicture].compactMap(\.self)
    for surface in shown {
      _ = surface.layer.waitUntilPresented(by: .now.advanced(bySeconds: 2))
      guard let image = surface.renderer.image() else { continue }
      let isPip = surface.layer === pictureInPicture?.layer
      let name = isPip ? "pip-\(pipStream ?? "none")" : surface.name
      let file = String(format: "%02d-%.1fs-", snapshotCount, seconds) + Self.fileName(name) + ".png"
      let path = (snapshotFolder as NSString).appendingPathComponent(file)
      try image.writePNG(to: path)
      snapshots.append(path)
    }
  }

  /// A stream ID may hold anything; a file name may not.
  private static func fileName(_ name: String) -> String {
    String(name.map { $0.isLetter || $0.isNumber || "-_.".contains($0) ? $0 : "_" })
  }

  /// Makes the folder if need be, and finds out whether a file can be written there.
  static func prepareSnapshotFolder(_ path: String) throws {
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      let probe = (path as NSString).appendingPathComponent(".pipsink-\(getpid())")
      try Data().write(to: URL(fileURLWithPath: probe))
      try FileManager.default.removeItem(atPath: probe)
    } catch {
      throw DemoError(
        .usage, "the snapshot folder \"\(path)\" cannot be written: \(reason(error)); name another with --snapshots")
    }
  }

  private static func reason(_ error: any Error) -> String {
    let underlying = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
    guard let posix = underlying, posix.domain == NSPOSIXErrorDomain else { return error.localizedDescription }
    return String(cString: strerror(Int32(posix.code)))
  }
}
