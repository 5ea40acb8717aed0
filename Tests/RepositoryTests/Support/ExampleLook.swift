import Testing

@testable import PipSink
@testable import TestSupport

/// Acts as a user who looks at an example's window and tries its controls. All examples show two streams: Anna's is a
/// test picture with coloured bars, and Ben's is a white ball on black.
struct ExampleLook {
  typealias Ability = ToolkitTests.Ability
  let toolkit: Toolkit
  let desktop: any DesktopServer
  let ear: Ear
  /// The number of the screen's pixels for each unit of the desktop.
  let scale: Int

  private enum Control: Int {
    case pictureInPicture, mute, camera

    var key: String { ["p", "m", "c"][rawValue] }
  }

  // MARK: - Where things are

  /// The rectangle of the app's window on the screen.
  private func windowRectangle() async throws -> PictureRect {
    guard let server = desktop as? XServer else {
      return PictureRect(x: 0, y: 0, width: desktop.size.width, height: desktop.size.height)
    }
    let window = try await server.window(toolkit.title)
    return PictureRect(x: window.x, y: window.y, width: window.width, height: window.height)
  }

  /// The places of the streams in the window. They are beside each other. In PipSink's windows they are one below the
  /// other where that makes the pictures larger.
  private func places(in window: PictureRect) -> (anna: PictureRect, ben: PictureRect) {
    let isStacked = toolkit.isPipSinks && window.width * 3 < window.height * 5
    let buttons = toolkit.hasButtons ? 30 * scale : 0
    let size = PictureSize(
      width: isStacked ? window.width : window.width / 2, height: (window.height - buttons) / (isStacked ? 2 : 1))
    let ben = (x: isStacked ? 0 : size.width, y: isStacked ? size.height : 0)
    return (
      PictureRect(x: window.x, y: window.y, width: size.width, height: size.height),
      PictureRect(x: window.x + ben.x, y: window.y + ben.y, width: size.width, height: size.height)
    )
  }

  /// The rectangle of a 16:9 picture that is fitted into a place.
  private func picture(in place: PictureRect) -> PictureRect {
    let width = min(place.width, place.height * 16 / 9)
    let height = width * 9 / 16
    return PictureRect(
      x: place.x + (place.width - width) / 2, y: place.y + (place.height - height) / 2, width: width, height: height)
  }

  private func pictureInPictureRectangle() async throws -> PictureRect? {
    guard let server = desktop as? XServer else {
      let margin = 16
      return PictureRect(
        x: desktop.size.width - margin - 320, y: desktop.size.height - margin - 180, width: 320, height: 180)
    }
    let window = try await server.windows().first { $0.iconName.hasPrefix("Picture-in-Picture: anna") }
    guard let window, try await server.properties(window, "_NET_WM_STATE").contains("_NET_WM_STATE_ABOVE") else {
      return nil
    }
    return PictureRect(x: window.x, y: window.y, width: window.width, height: window.height)
  }

  // MARK: - Looking

  /// Whether a rectangle shows Anna's picture, in which the second of seven bars is yellow.
  private func showsBars(_ screen: BGRAImage, in rectangle: PictureRect) -> Bool {
    var (left, right, top, bottom) = (Int.max, -1, Int.max, -1)
    for y in stride(from: rectangle.y, to: rectangle.y + rectangle.height, by: 2) {
      for x in stride(from: rectangle.x, to: rectangle.x + rectangle.width, by: 2) {
        let pixel = screen.pixel(x, y)
        guard pixel[2] > 180, pixel[1] > 180, pixel[0] < 60 else { continue }
        (left, right, top, bottom) = (min(left, x), max(right, x), min(top, y), max(bottom, y))
      }
    }
    let picture = picture(in: rectangle)
    let bar = picture.width / 7
    // The height of the buttons below the picture depends on the desktop's style.
    return abs(left - picture.x - bar) <= 4 && abs(right - picture.x - 2 * bar) <= 4 && abs(top - picture.y) <= 12
      && abs(bottom - picture.y - picture.height * 2 / 3) <= 12
  }

  private func showsBall(_ screen: BGRAImage, in rectangle: PictureRect) -> Bool {
    // A toolkit may show a background around the picture.
    let rectangle = picture(in: rectangle)
    var (white, black, all) = (0, 0, 0)
    for y in stride(from: rectangle.y + 12 * scale, to: rectangle.y + rectangle.height - 12 * scale, by: 2) {
      for x in stride(from: rectangle.x + 4, to: rectangle.x + rectangle.width - 4, by: 2) {
        let pixel = screen.pixel(x, y)
        all += 1
        if pixel[0..<3].allSatisfy({ $0 > 200 }) { white += 1 }
        if pixel[0..<3].allSatisfy({ $0 < 40 }) { black += 1 }
      }
    }
    return white > 10 && white < all / 10 && black > all * 8 / 10
  }

  /// Whether the rectangle shows a text on dark grey instead of a picture.
  private func showsPlaceholder(_ screen: BGRAImage, in rectangle: PictureRect) -> Bool {
    [(1, 4), (9, 4), (1, 6), (9, 6)].allSatisfy { x, y in
      screen.pixel(rectangle.x + rectangle.width * x / 10, rectangle.y + rectangle.height * y / 10)[0..<3].allSatisfy {
        (24...32).contains($0)
      }
    }
  }

  private func screen() async throws -> BGRAImage { try await desktop.screen.screenshot() }

  /// The window's rectangle, as soon as both streams' pictures are in their places. This may take long because
  /// GStreamer may scan all of its plugins first.
  private func windowWithPictures(_ program: RunningProgram) async throws -> PictureRect? {
    var found: PictureRect?
    _ = try await eventually(within: 90) {
      guard program.isRunning else { return true }
      let window = try await windowRectangle()
      let places = places(in: window)
      let screen = try await screen()
      if showsBars(screen, in: places.anna), showsBall(screen, in: places.ben) { found = window }
      return found != nil
    }
    return found
  }

  // MARK: - Trying

  private func click(_ x: Int, _ y: Int) async throws {
    // The pointer moves in two steps, so that the window receives an event of its motion.
    try await desktop.screen.tool("xdotool", "mousemove", "\(x)", "\(y - 3)")
    try await desktop.screen.tool("xdotool", "mousemove", "\(x)", "\(y)", "sleep", "0.3", "click", "1")
  }

  private func press(_ control: Control, in window: PictureRect) async throws {
    if toolkit.hasButtons {
      try await click(
        window.x + (2 * control.rawValue + 1) * window.width / 6, window.y + window.height - 12)
    } else if let server = desktop as? XServer {
      let app = try await server.window(toolkit.title)
      try await server.tool("xdotool", "windowactivate", "--sync", app.id, "key", control.key)
    } else {
      try await desktop.screen.tool("xdotool", "mousemove", "40", "40", "key", control.key)
    }
  }

  /// Repeats an action until it has worked. An action may be lost, such as a click in a window that is not ready for
  /// it.
  private func act(_ action: () async throws -> Void, until condition: () async throws -> Bool) async throws -> Bool {
    for _ in 0..<3 {
      try await action()
      if try await eventually(within: 20, condition) { return true }
    }
    return false
  }

  func abilities(of program: RunningProgram) async throws -> [Ability: Bool] {
    guard let window = try await windowWithPictures(program) else { return [.inApp: false] }
    let anna = places(in: window).anna
    let isInPictureInPicture = {
      guard let rectangle = try await pictureInPictureRectangle() else { return false }
      let screen = try await screen()
      return showsBars(screen, in: rectangle) && showsPlaceholder(screen, in: anna)
    }
    var found = [Ability.inApp: true]
    found[.pictureInPicture] = try await act(
      { try await press(.pictureInPicture, in: window) }, until: isInPictureInPicture)
    guard found[.pictureInPicture] == true, let rectangle = try await pictureInPictureRectangle() else { return found }
    // The button in the upper right corner moves the stream back to the app.
    let isBack = try await act(
      { try await click(rectangle.x + rectangle.width - 20, rectangle.y + 20) },
      until: {
        let screen = try await screen()
        return showsBars(screen, in: anna) && !showsBars(screen, in: rectangle)
      })
    let isHeard = await eventually { ear.amplitude > 0.05 }
    let mute = { try await press(.mute, in: window) }
    let isMuted = try await act(mute, until: { ear.amplitude < 0.001 })
    let isHeardAgain = try await act(mute, until: { ear.amplitude > 0.05 })
    let switchCamera = { try await press(.camera, in: window) }
    let isCameraOff = try await act(switchCamera, until: { try await showsPlaceholder(screen(), in: anna) })
    let isCameraOn = try await act(switchCamera, until: { try await showsBars(screen(), in: anna) })
    let seen = [isBack, isHeard, isMuted, isHeardAgain, isCameraOff, isCameraOn]
    #expect(!seen.contains(false), "\(toolkit.rawValue): \(seen)")
    found[.controls] = !seen.contains(false)
    return found
  }

  /// Tests whether every pixel of the screen has a pixel of the picture where the desktop has several pixels for each
  /// unit. The picture has snow in it. Neighbouring pixels of snow must not be more alike than pixels with one between
  /// them.
  func pixels(of program: RunningProgram) async throws -> [Ability: Bool] {
    guard let window = try await windowWithPictures(program) else { return [.inApp: false, .hiDPI: false] }
    let picture = picture(in: places(in: window).anna)
    // The first pictures may be shown before the compositor has announced its scale.
    let hasAll = try await eventually {
      let image = try await screen()
      var (next, afterNext) = (0, 0)
      for y in picture.y + picture.height * 85 / 100..<picture.y + picture.height * 95 / 100 {
        for x in picture.x + picture.width * 80 / 100..<picture.x + picture.width * 95 / 100 {
          let gray = (0...2).map { Int(image.pixel(x + $0, y)[1]) }
          next += abs(gray[0] - gray[1])
          afterNext += abs(gray[0] - gray[2])
        }
      }
      return afterNext > 0 && next * 4 > afterNext * 3
    }
    return [.inApp: true, .hiDPI: hasAll]
  }

  /// Closes the window as a user does, and expects the program to end.
  func close(_ program: RunningProgram) async throws {
    if let server = desktop as? XServer {
      try await server.tool("wmctrl", "-i", "-c", server.window(toolkit.title).id)
    } else if let server = desktop as? WaylandServer {
      try await server.swaymsg("[title=\(toolkit.title)]", "kill")
    }
    let result = try await program.result(seconds: 30)
    #expect(result.status == 0 && !result.wasKilled, "\(toolkit.rawValue): \(result.errors)")
    #expect(!result.errors.contains("CRITICAL"), "\(toolkit.rawValue): \(result.errors)")
  }
}
