import Foundation
import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport

/// A tile of 64x36 pixels in a compositor that reads all its pictures until it may release them.
@MainActor
struct HoldingCompositor {
  let tile: WaylandTile
  let compositor: RunningProgram
  private let connection: WaylandConnection
  private let parent: WaylandObject<WLSurface>
  private let folder: TemporaryFolder

  private init(
    _ decoration: any PictureDecoration, _ renderer: WindowRenderer, _ compositor: RunningProgram,
    _ folder: TemporaryFolder
  ) throws {
    (self.compositor, self.folder) = (compositor, folder)
    connection = try WaylandConnection.shared(folder.path("socket"))
    parent = try #require(connection.globals.compositor?.createSurface())
    let globals = try #require(WaylandTile.Globals(connection.globals, renderer))
    tile = WaylandTile(globals, connection.loop, decoration: decoration)
    tile.attach(to: parent.reference)
    tile.rectangle = PictureRect(x: 0, y: 0, width: 64, height: 36)
  }

  /// - Parameters:
  ///   - decoration: what is drawn over the tile.
  ///   - renderer: who draws frames.
  ///   - clock: the number of the clock by which the compositor tells times.
  ///   - globals: what the compositor has besides.
  ///   - formats: the DMABufs that it reads, as in `holding-compositor.py`.
  ///   - refuses: whether it refuses DMABufs nevertheless.
  static func start(
    _ decoration: any PictureDecoration = WindowOverlay(), renderer: WindowRenderer = .automatic,
    clock: clockid_t = CLOCK_MONOTONIC, globals: [String] = [], formats: String = "", refuses: Bool = false
  ) async throws -> HoldingCompositor {
    let folder = try TemporaryFolder()
    if refuses { try Data().write(to: URL(fileURLWithPath: folder.path("refused"))) }
    let script = Demo.root.appendingPathComponent("Tests/PipSinkWindowsTests/holding-compositor.py").path
    let compositor = try RunningProgram(
      "/usr/bin/python3", [script, folder.path("socket"), folder.path("released"), "\(clock)"] + globals,
      environment: ["DMABUF_FORMATS": formats, "DMABUF_REFUSED": folder.path("refused")])
    try #require(await compositor.wait(forText: "ready"), "\(compositor.errors)")
    return try HoldingCompositor(decoration, renderer, compositor, folder)
  }

  /// The pictures that the compositor has got, as it describes them.
  var shown: [String] { compositor.output.split(separator: "\n").map(String.init).filter { $0 != "ready" } }

  func release() throws { try Data().write(to: URL(fileURLWithPath: folder.path("released"))) }

  func end() {
    tile.detach()
    parent.destroy()
  }
}

/// A white square in the corner of the picture, for as long as it is there.
final class WhiteSquare: PictureDecoration {
  let isThere: Locked<Bool>
  /// Called, once, while it is drawn.
  let meanwhile = Locked<(@Sendable () -> Void)?>(nil)

  init(isThere: Bool) { self.isThere = Locked(isThere) }

  func isShown(in area: PictureRect) -> Bool { isThere.withLock { $0 } }
  func hides(_ area: PictureRect) -> Bool { false }
  var revision: UInt64 { isThere.withLock { $0 ? 1 : 0 } }
  func draw(
    on pixels: UnsafeMutablePointer<UInt8>, stride: Int, in area: PictureRect, willDraw: (PictureRect) -> Void
  ) {
    meanwhile.exchange(nil)?()
    guard isShown(in: area) else { return }
    willDraw(PictureRect(x: 0, y: 0, width: 8, height: 8))
    for row in 0..<8 { (pixels + row * stride).update(repeating: 255, count: 8 * 4) }
  }
}
