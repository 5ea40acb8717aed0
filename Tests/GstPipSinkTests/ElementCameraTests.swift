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

  @Test func theElementSaysWhatIsShownOfItsPerson() async throws {
    let folder = try TemporaryFolder()
    let image = BGRAImage(size: PictureSize(width: 2, height: 2), bytes: [UInt8](repeating: 255, count: 16))
    try image.writePNG(to: folder.path("anna.png"))
    let harness = try ElementHarness(
      "stream-id=a surface=offscreen sync=false session=person microphone-off=true caption=Hello")
    harness.setCaps()
    harness.push()
    func eventually(_ change: (inout Participant) -> Void) async throws -> Bool {
      var wanted = Participant(name: "a")
      change(&wanted)
      let deadline = ContinuousClock.now + .seconds(20)
      while try await harness.onInterface({ $0.session.participant(of: "a") }) != wanted {
        if ContinuousClock.now > deadline { return false }
        try await Task.sleep(for: .milliseconds(10))
      }
      return true
    }
    #expect(
      try await eventually {
        $0.isMicrophoneOff = true
        $0.caption = "Hello"
      })
    harness.set("microphone-off", "false")
    harness.set("caption", "")
    harness.set("connection-quality", "poor")
    harness.set("image", folder.path("anna.png"))
    #expect(
      try await eventually {
        $0.connectionQuality = .poor
        $0.image = image
      })
    // What others have set stays until the application sets the same property again.
    try await harness.onInterface { try? $0.session.setCaption("by D-Bus", for: "a") }
    harness.set("image", "/nowhere.png")
    harness.set("connection-quality", "good")
    #expect(
      try await eventually {
        $0.connectionQuality = .good
        $0.image = image
        $0.caption = "by D-Bus"
      })
    let warning = harness.message(GST_MESSAGE_WARNING)
    #expect(warning?.contains("the picture \"/nowhere.png\" cannot be read") == true, "\(warning ?? "none")")
    harness.set("image", "")
    #expect(
      try await eventually {
        $0.connectionQuality = .good
        $0.caption = "by D-Bus"
      })
  }
}
