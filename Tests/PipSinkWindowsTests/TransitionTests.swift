import Foundation
import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport

/// Tests from outside how a picture moves from the app to picture-in-picture and back. Each test runs in a process of
/// its own, since the environment selects the display.
@Suite(.enabled(if: XServer.isInstalled, "Xvfb, openbox or the X tools are not installed"))
struct TransitionTests {
  @Test func aPictureFadesIntoItsPlaceholderInPictureInPictureAndBack() async throws {
    let server = try await XServer(size: "480x320")
    await #expect(processExitsWith: .success) { [environment = server.environment as [String: String]] in
      try await Transitions.there(andBackIn: environment)
    }
    server.stop()
  }

  @Test func ofACameraThatIsSwitchedOffNothingIsSeenWhileItsPictureFades() async throws {
    let server = try await XServer(size: "480x320")
    await #expect(processExitsWith: .success) { [environment = server.environment as [String: String]] in
      try await Transitions.cameraOff(in: environment)
    }
    server.stop()
  }

  @Test func nothingFadesForAUserWhoWantsNoAnimations() async throws {
    let server = try await XServer(size: "480x320")
    let folder = try TemporaryFolder()
    let settings = folder.path("gtk-3.0")
    try FileManager.default.createDirectory(atPath: settings, withIntermediateDirectories: true)
    try "[Settings]\ngtk-enable-animations=0\n".write(
      toFile: "\(settings)/settings.ini", atomically: true, encoding: .utf8)
    let environment = server.environment.merging(["XDG_CONFIG_HOME": folder.url.path]) { $1 }
    await #expect(processExitsWith: .success) { [environment = environment as [String: String]] in
      try await Transitions.withoutAnimations(in: environment)
    }
    server.stop()
  }

  @Test func theTextOfThePictureInPictureWindowIsLaidOutForItsWidth() async throws {
    let server = try await XServer(managesWindows: false, size: "1024x768")
    await #expect(processExitsWith: .success) { [environment = server.environment as [String: String]] in
      try await Transitions.text(in: environment)
    }
    server.stop()
  }

  @Test func theWindowFadesInWhereTheScreenIsComposited() async throws {
    let server = try await XServer(size: "480x320")
    let compositor = try server.start("xcompmgr")
    await #expect(processExitsWith: .success) { [environment = server.environment as [String: String]] in
      try await Transitions.window(in: environment)
    }
    compositor.stop()
    server.stop()
  }
}

/// The transitions, in the process of a test. A failure in it is a failure of the test. Where a test looks at a
/// transition in progress, the transition takes longer than for users.
@MainActor
private enum Transitions {
  static func there(andBackIn environment: [String: String]) async throws {
    let place = try Place(environment)
    #expect(try await eventually { try await place.red() > 250 })
    Animation.duration = .seconds(20)
    place.view.placeholder = .inPictureInPicture
    #expect(try await eventually { try await (100..<220).contains(place.red()) })
    // The picture fades back in from its present opacity.
    place.view.placeholder = nil
    let turned = try await place.red()
    #expect(turned < 240)
    #expect(try await eventually { try await (turned + 5..<250).contains(place.red()) })

    Animation.duration = .milliseconds(150)
    place.view.placeholder = .inPictureInPicture
    #expect(try await eventually { try await place.red() == Place.coverRed })
    place.view.placeholder = nil
    #expect(try await eventually { try await place.red() > 250 })
  }

  static func cameraOff(in environment: [String: String]) async throws {
    let place = try Place(environment)
    #expect(try await eventually { try await place.red() > 250 })
    Animation.duration = .seconds(100)
    place.view.placeholder = .inPictureInPicture
    #expect(try await eventually { try await (Place.coverRed + 1..<250).contains(place.red()) })
    place.view.placeholder = .cameraOff
    #expect(try await eventually { try await place.red() == Place.coverRed })
    place.view.placeholder = .inPictureInPicture
    #expect(try await place.red() == Place.coverRed)
    place.view.placeholder = nil
    place.view.placeholder = .ended
    #expect(try await eventually { try await place.red() == Place.coverRed })
  }

  static func withoutAnimations(in environment: [String: String]) async throws {
    let place = try Place(environment)
    Animation.duration = .seconds(1000)
    #expect(try await eventually { try await place.red() > 250 })
    place.view.placeholder = .inPictureInPicture
    #expect(try await eventually { try await place.red() == Place.coverRed })
    place.view.placeholder = nil
    #expect(try await eventually { try await place.red() > 250 })
  }

  static func text(in environment: [String: String]) async throws {
    for (name, value) in environment { setenv(name, value, 1) }
    let window = try PictureInPictureWindow(placementPath: nil)
    try window.open(.plain(placeholder: .cameraOff))
    for width in [320, 200, 260] {
      window.resize(toWidth: width)
      #expect(await eventually { window.labels.images.values.map(\.size.width) == [width] })
    }
    window.close()
  }

  static func window(in environment: [String: String]) async throws {
    for (name, value) in environment { setenv(name, value, 1) }
    let connection = try #require(X11Connection(nil))
    let screen = try #require(X11Screen(connection, number: connection.screenNumber))
    try #require(await eventually { screen.isComposited })
    let window = try PictureInPictureWindow(placementPath: nil)
    let layer = SampleBufferDisplayLayer(name: "a", videoGravity: .resize)
    layer.attach(to: window.renderer)
    let presentation = PictureInPicturePresentation.plain()
    /// The largest excess of red over blue on the screen. Only the window is red; the screen behind it has no colour.
    func red() async throws -> Int {
      layer.enqueue(try PlainFrame.make(Place.color))
      let bytes = try await XServer.screenshot(environment: environment).bytes
      let differences = stride(from: 0, to: bytes.count, by: 4).lazy.map { Int(bytes[$0 + 2]) - Int(bytes[$0]) }
      return differences.max() ?? 0
    }
    Animation.duration = .seconds(20)
    try window.open(presentation)
    #expect(try await eventually { try await (20..<200).contains(red()) })
    window.close()
    #expect(try await eventually { try await red() == 0 })
    Animation.duration = .milliseconds(150)
    try window.open(presentation)
    #expect(try await eventually { try await red() > 240 })
    window.close()
  }
}

/// The place of a stream in an app's window. The stream's picture is red.
@MainActor
private final class Place {
  /// The picture's values of blue, green and red.
  static let color: [UInt8] = [0, 0, 255]
  /// The red value of the background behind a placeholder's text.
  static let coverRed = 28
  let view: RemoteVideoView
  private let window: VideoWindow
  private var corner: (x: Int, y: Int)?
  private let environment: [String: String]

  init(_ environment: [String: String]) throws {
    for (name, value) in environment { setenv(name, value, 1) }
    self.environment = environment
    view = RemoteVideoView(streamID: "a", videoGravity: .resize)
    view.placeholder = nil
    view.showsName = false
    let container = VideoContainer()
    try container.add(view)
    window = try VideoWindow(content: container, size: PictureSize(width: 320, height: 180))
    try window.show()
  }

  /// Sends a frame and returns the red value of the picture near its corner, where there is no text.
  func red() async throws -> Int {
    view.layer.enqueue(try PlainFrame.make(Self.color))
    let image = try await XServer.screenshot(environment: environment)
    if corner == nil {
      let index = (0..<image.bytes.count / 4).first { image.bytes[4 * $0] < 8 && image.bytes[4 * $0 + 2] > 250 }
      corner = index.map { ($0 % image.size.width, $0 / image.size.width) }
    }
    return corner.map { Int(image.pixel($0.x + 20, $0.y + 20)[2]) } ?? 0
  }
}
