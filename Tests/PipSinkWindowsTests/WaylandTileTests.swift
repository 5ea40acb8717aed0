import Foundation
import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport

/// Tests of a tile whose compositor does what those that can be installed do not.
struct WaylandTileTests {
  @MainActor @Test func aTileWithoutAFreeImageAsksForItsPictureWhenTheCompositorReturnsOne() async throws {
    let folder = try TemporaryFolder()
    let (socket, permission) = (folder.path("socket"), folder.path("released"))
    let script = Demo.root.appendingPathComponent("Tests/PipSinkWindowsTests/holding-compositor.py").path
    let compositor = try RunningProgram("/usr/bin/python3", [script, socket, permission])
    try #require(await compositor.wait(forText: "ready"), "\(compositor.errors)")
    let connection = try WaylandConnection.shared(socket)
    let parent = try #require(connection.globals.compositor?.make(.surface, 0, .new))
    let tile = WaylandTile(try #require(WaylandTile.Globals(connection.globals)), connection.loop, decoration: nil)
    let requests = Locked(0)
    tile.attach(to: parent.pointer)
    tile.rectangle = PictureRect(x: 0, y: 0, width: 64, height: 36)
    tile.setNeedsDisplayHandler { requests.withLock { $0 += 1 } }
    let frame = try PlainFrame.make([0, 0, 255])
    // The compositor reads four images, which are as many as there may be.
    for number: UInt64 in 1...6 {
      try tile.render(frame, gravity: .resize)
      #expect(tile.convertedFrameCount == min(number, 4))
      #expect(await eventually { !tile.isWaiting })
    }
    #expect(requests.withLock { $0 } == 0)
    try Data().write(to: URL(fileURLWithPath: permission))
    #expect(await eventually { requests.withLock { $0 } > 0 }, "\(compositor.errors)")
    try tile.render(frame, gravity: .resize)
    #expect(tile.convertedFrameCount == 5)
    tile.detach()
    parent.destroy()
  }
}
