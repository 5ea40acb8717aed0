import Foundation
import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport

/// Tests that no Wayland surface is made while an X11 window appears, with a real compositor and a real X server.
@Suite(.enabled(if: WaylandServer.isInstalled(.sway), "sway, grim and root are needed"), .timeLimit(.minutes(2)))
struct SurfaceGateTests {
  /// A gate that an X11 window has closed, with a connection to each of the two servers.
  private final class ClosedGate {
    let gate: SurfaceGate
    let window: X11Connection
    private let wayland: WaylandServer
    private let x11: XServer
    private let surfaces: WaylandConnection

    @MainActor
    init(patience: Duration) async throws {
      (wayland, x11) = (try await WaylandServer(.sway), try await XServer())
      surfaces = try WaylandConnection.shared(wayland.environment["WAYLAND_DISPLAY"])
      gate = SurfaceGate(patience: patience)
      gate.add(surfaces.loop)
      window = try #require(X11Connection(x11.display))
      gate.close(for: window)
    }

    deinit {
      wayland.stop()
      x11.stop()
    }
  }

  @Test @MainActor func surfacesWaitUntilTheWindowIsThere() async throws {
    let closed = try await ClosedGate(patience: .seconds(60))
    let (gate, isMade) = (closed.gate, Locked(false))
    let maker = Task.detached { gate.make { isMade.withLock { $0 = true } } }
    // A gate that is open would let the surface be made in this time.
    try await Task.sleep(for: .milliseconds(50))
    #expect(!isMade.withLock { $0 })
    gate.open(for: closed.window)
    await maker.value
    #expect(isMade.withLock { $0 })
    // An open gate stops nobody.
    gate.make { isMade.withLock { $0 = false } }
    #expect(!isMade.withLock { $0 })
  }

  @Test @MainActor func aWindowThatNeverAppearsStopsNobodyForLong() async throws {
    let closed = try await ClosedGate(patience: .milliseconds(200))
    let gate = closed.gate
    await Task.detached { gate.make {} }.value
    // The window may still appear later, which does no harm.
    gate.open(for: closed.window)
    gate.make {}
  }

  @Test func withoutAWaylandSessionThereIsNothingToWaitFor() async throws {
    let server = try await XServer()
    defer { server.stop() }
    let gate = SurfaceGate(patience: .seconds(60))
    gate.close(for: try #require(X11Connection(server.display)))
    #expect(gate.make { true })
  }
}
