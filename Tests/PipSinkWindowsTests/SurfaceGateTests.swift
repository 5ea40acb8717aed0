import Foundation
import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport

/// Tests that no Wayland surface is made while an X11 window appears, with a real compositor and a real X server.
@Suite(.enabled(if: WaylandServer.isInstalled(.sway), "sway, grim and root are needed"), .timeLimit(.minutes(2)))
struct SurfaceGateTests {
  @Test @MainActor func surfacesWaitUntilTheWindowIsThere() async throws {
    let (wayland, x11) = (try await WaylandServer(.sway), try await XServer())
    defer {
      wayland.stop()
      x11.stop()
    }
    let surfaces = try WaylandConnection.shared(wayland.environment["WAYLAND_DISPLAY"])
    let gate = SurfaceGate()
    gate.add(surfaces.loop)
    let connection = try #require(X11Connection(x11.display))
    gate.close(for: connection)
    let isMade = Locked(false)
    let maker = Task.detached { gate.make { isMade.withLock { $0 = true } } }
    // It would be made at once otherwise.
    try await Task.sleep(for: .milliseconds(50))
    #expect(!isMade.withLock { $0 })
    gate.open(for: connection)
    await maker.value
    #expect(isMade.withLock { $0 })
    // An open gate stops nobody.
    gate.make { isMade.withLock { $0 = false } }
    #expect(!isMade.withLock { $0 })
  }

  @Test @MainActor func aWindowThatNeverAppearsStopsNobodyForLong() async throws {
    let (wayland, x11) = (try await WaylandServer(.sway), try await XServer())
    defer {
      wayland.stop()
      x11.stop()
    }
    let surfaces = try WaylandConnection.shared(wayland.environment["WAYLAND_DISPLAY"])
    let gate = SurfaceGate()
    gate.add(surfaces.loop)
    let connection = try #require(X11Connection(x11.display))
    gate.close(for: connection)
    await Task.detached { gate.make {} }.value
    // Events of the window that come later do no harm.
    gate.open(for: connection)
    gate.make {}
  }

  @Test func withoutAWaylandSessionThereIsNothingToWaitFor() async throws {
    let server = try await XServer()
    defer { server.stop() }
    let gate = SurfaceGate()
    let connection = try #require(X11Connection(server.display))
    gate.close(for: connection)
    #expect(gate.make { true })
  }
}
