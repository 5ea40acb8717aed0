import Foundation
import Testing

@testable import PipSink
@testable import PipSinkDBus
@testable import TestSupport
@testable import pipsink_demo

/// What a screen reader learns of the picture-in-picture window, and does there.
@Suite(
  .enabled(if: SessionBus.isInstalled, "dbus-daemon, gdbus, playerctl or python3 is not installed"),
  .enabled(if: XServer.isInstalled, "the X servers and the tools for windows are not all installed"))
struct AccessibilityTests {
  private static let isInstalled = ["/usr/libexec/at-spi-bus-launcher", "/usr/libexec/at-spi2-registryd"].allSatisfy {
    FileManager.default.isExecutableFile(atPath: $0)
  }
  private static let source = "videotestsrc ! video/x-raw,width=640,height=360,framerate=8/1 ! appsink name=a"

  /// A bus, a screen, and a program whose window is in picture-in-picture.
  private struct Desktop {
    let (bus, server): (SessionBus, XServer)
    let demo: RunningProgram
    private let folder: TemporaryFolder

    /// - Parameter language: the user's language; nil for none.
    init(in language: String? = nil) async throws {
      folder = try TemporaryFolder()
      // The user's settings and the bus of assistive technology are in this folder.
      let path = folder.url.path
      var environment = [
        "HOME": path, "XDG_RUNTIME_DIR": path, "XDG_CONFIG_HOME": path, "XDG_CACHE_HOME": path,
      ]
      if let language { environment.merge(try await Self.install(language, in: folder)) { $1 } }
      bus = try await SessionBus(environment: environment)
      server = try await XServer()
      demo = try await bus.startSession(
        [AccessibilityTests.source, "--mode", "pip", "--pip-controls=call"], on: server)
      _ = try await server.window("Picture-in-Picture")
    }

    /// Makes the locale of a language, and all translations.
    ///
    /// - Returns: the environment that has them.
    private static func install(_ language: String, in folder: TemporaryFolder) async throws -> [String: String] {
      let locale = "\(language).UTF-8"
      var commands = [("localedef", ["-f", "UTF-8", "-i", language, folder.path(locale)])]
      for catalog in ["de", "zh_CN"] {
        let texts = folder.path("share/locale/\(catalog)/LC_MESSAGES")
        try FileManager.default.createDirectory(atPath: texts, withIntermediateDirectories: true)
        let source = Demo.root.appendingPathComponent("po/\(catalog).po").path
        commands.append(("msgfmt", ["-o", "\(texts)/pipsink.mo", source]))
      }
      for (tool, arguments) in commands {
        let result = try await RunningProgram("/usr/bin/\(tool)", arguments).result()
        try #require(result.status == 0, "\(result.errors)")
      }
      let folders = ProcessInfo.processInfo.environment["XDG_DATA_DIRS"] ?? "/usr/local/share:/usr/share"
      return ["LOCPATH": folder.url.path, "LC_ALL": locale, "XDG_DATA_DIRS": "\(folder.path("share")):\(folders)"]
    }

    /// Says that assistive technology runs, as a screen reader does.
    func enable() async throws {
      let result = try await bus.call(
        "org.freedesktop.DBus.Properties.Set", arguments: ["org.a11y.Status", "IsEnabled", "<true>"],
        path: "/org/a11y/bus", to: "org.a11y.Bus")
      #expect(result.status == 0, "\(result.errors)")
    }

    func tool(_ arguments: String...) async throws -> [String] {
      let script = Demo.root.appendingPathComponent("Tests/PipSinkDBusTests/accessible.py").path
      let result = try await bus.run("python3", [script] + arguments)
      #expect(result.status == 0, "\(result.errors)")
      return result.output.split(separator: "\n").map(String.init)
    }

    /// Waits until assistive technology knows these objects.
    func expect(_ lines: [String], _ location: SourceLocation = #_sourceLocation) async throws {
      var found: [String] = []
      let isRight = try await eventually {
        found = try await tool("show")
        return found == lines
      }
      #expect(isRight, "\(found.joined(separator: "\n"))", sourceLocation: location)
    }
  }

  @Test(.enabled(if: isInstalled, "at-spi2-core is not installed"))
  func everyControlHasANameAStateAndAPress() async throws {
    let desktop = try await Desktop()
    try await desktop.enable()
    #expect(try await desktop.bus.call("SetName", "a", "Anna").status == 0)
    let rest = [
      "    button | Hang up", "    toggle button | Fullscreen | checkable", "    button | Back to the app",
      "    button | Close",
    ]
    try await desktop.expect(
      [
        "application | PipSink", "  window | Picture-in-Picture: Anna", "    video | Anna",
        "    toggle button | Raise hand | checkable",
      ] + rest)
    #expect(try await desktop.tool("press", "Raise hand") == ["True"])
    #expect(await desktop.demo.wait(forText: "control \"raiseHand\" is on"), "\(desktop.demo.errors)")
    #expect(try await desktop.bus.call("SetMicrophoneState", "a", "off").status == 0)
    #expect(try await desktop.bus.call("SetCaption", "a", "Can you hear me?").status == 0)
    try await desktop.expect(
      [
        "application | PipSink", "  window | Picture-in-Picture: Anna",
        "    video | Anna | Microphone is off. Can you hear me?",
        "    toggle button | Raise hand | checked | checkable",
      ] + rest)
    #expect(try await desktop.bus.call("FocusPictureInPicture").status == 0)
    try await desktop.expect(
      [
        "application | PipSink", "  window | Picture-in-Picture: Anna | active",
        "    video | Anna | Microphone is off. Can you hear me?",
        "    toggle button | Raise hand | checked | focused | checkable",
      ] + rest)
    #expect(try await desktop.tool("press", "Vote") == ["False"])
    #expect(try await desktop.tool("press", "Hang up") == ["True"])
    let result = try await desktop.demo.result(seconds: 60)
    #expect(result.status == 0, "\(result.errors)")
    desktop.server.stop()
  }

  @Test(
    .enabled(if: isInstalled, "at-spi2-core is not installed"),
    arguments: [
      (
        "de_DE", "Kamera ist aus. Mikrofon ist aus", "Hand heben",
        ["button | Auflegen", "toggle button | Vollbild | checkable", "button | Zurück zur App", "button | Schließen"]
      ),
      (
        "zh_CN", "摄像头已关闭. 麦克风已关闭", "举手",
        ["button | 挂断", "toggle button | 全屏 | checkable", "button | 返回应用", "button | 关闭"]
      ),
      (
        "fr_FR", "Camera is off. Microphone is off", "Raise hand",
        ["button | Hang up", "toggle button | Fullscreen | checkable", "button | Back to the app", "button | Close"]
      ),
    ] as [(language: String, description: String, hand: String, controls: [String])])
  func whatPeopleReadAndHearIsInTheirLanguage(
    language: String, description: String, hand: String, controls: [String]
  ) async throws {
    let desktop = try await Desktop(in: language)
    try await desktop.enable()
    for method in ["SetCameraState", "SetMicrophoneState"] {
      #expect(try await desktop.bus.call(method, "a", "off").status == 0)
    }
    try await desktop.expect(
      [
        "application | PipSink", "  window | Picture-in-Picture: a", "    video | a | \(description)",
        "    toggle button | \(hand) | checkable",
      ] + controls.map { "    \($0)" })
    let result = try await desktop.bus.quit(desktop.demo)
    #expect(result.status == 0, "\(result.errors)")
    desktop.server.stop()
  }

  @Test(.enabled(if: isInstalled, "at-spi2-core is not installed"))
  func whereTheUserHasItOnItIsToldAsSoonAsItsServiceComes() async throws {
    let desktop = try await Desktop()
    // It says nothing when it begins with what the user's settings have.
    // The launcher has children. Waiting for the launcher itself has not ended while they ran.
    let script = """
      import subprocess
      subprocess.Popen(["/usr/libexec/at-spi-bus-launcher", "--a11y=1"], start_new_session=True,
          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
      """
    #expect(try await desktop.bus.run("python3", ["-c", script]).status == 0)
    #expect(try await desktop.tool("show").first == "application | PipSink")
    let result = try await desktop.bus.quit(desktop.demo)
    #expect(result.status == 0, "\(result.errors)")
    desktop.server.stop()
  }

  @Test func withoutAssistiveTechnologyNoBusIsStartedForIt() async throws {
    let desktop = try await Desktop()
    #expect(try await desktop.bus.call("FocusPictureInPicture").status == 0)
    let answer = try await desktop.bus.call(
      "org.freedesktop.DBus.NameHasOwner", arguments: ["org.a11y.Bus"], path: "/org/freedesktop/DBus",
      to: "org.freedesktop.DBus")
    #expect(answer.output == "(false,)\n")
    let result = try await desktop.bus.quit(desktop.demo)
    #expect(result.status == 0, "\(result.errors)")
    desktop.server.stop()
  }
}
