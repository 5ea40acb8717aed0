import CGStreamer
import Testing

@testable import GstPipSink
@testable import PipSink

/// What an application says of the camera behind an element's stream.
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
    // Frames that come all the same are not seen.
    harness.push(milliseconds: 33)
    #expect(try await placeholder(harness) == .cameraOff)
    harness.set("camera-off", "false")
    #expect(try await eventually(harness, nil))
    // What somebody else says holds until the application says something.
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
