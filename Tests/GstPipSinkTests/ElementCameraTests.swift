import CGStreamer
import Testing

@testable import GstPipSink
@testable import PipSink
@testable import TestSupport

/// What an application reports about the camera of an element's stream.
@Suite struct ElementCameraTests {
  private func placeholder(_ harness: ElementHarness) async throws -> StreamPlaceholder? {
    try await harness.onInterface { $0.session.placeholder(of: "a") }
  }

  private func eventually(
    _ harness: ElementHarness, _ wanted: StreamPlaceholder?
  ) async throws -> Bool {
    let deadline = ContinuousClock.now + .seconds(20)
    while try await placeholder(harness) != wanted {
      if ContinuousClock.now > deadline { return false }
      try await Task.sleep(for: .milliseconds(10))
    }
    return true
  }

  @Test func theElementSaysThatItsCameraIsOff() async throws {
    let harness = try ElementHarness("stream-id=a surface=offscreen sync=false session=camera")
    harness.setCaps()
    harness.push()
    #expect(try await eventually(harness, nil))
    harness.set("camera-off", "true")
    #expect(try await eventually(harness, .cameraOff))
    // Frames that still arrive are not shown.
    harness.push(milliseconds: 33)
    #expect(try await placeholder(harness) == .cameraOff)
    harness.set("camera-off", "false")
    #expect(try await eventually(harness, nil))
    // A state that was set by somebody else stays until the application sets the property again.
    try await harness.onInterface { $0.session.engine.setCameraState(.off, of: "a") }
    #expect(try await eventually(harness, .cameraOff))
    harness.set("gravity", "resize")
    #expect(try await placeholder(harness) == .cameraOff)
  }

  @Test func aCameraThatIsOffFromTheStartShowsNoPicture() async throws {
    let harness = try ElementHarness("stream-id=a surface=offscreen sync=false camera-off=true session=camera-start")
    harness.setCaps()
    harness.push()
    #expect(try await eventually(harness, .cameraOff))
    #expect(harness.value("camera-off") == "true")
  }
}
