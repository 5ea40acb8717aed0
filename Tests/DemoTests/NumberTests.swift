import ArgumentParser
import Foundation
import Testing

@testable import PipSink
@testable import PipSinkCommandLine
@testable import TestSupport
@testable import pipsink_demo

/// Tests of numbers from outside, and of the system's limits.
@Suite struct NumberTests {
  /// The numeric options of each command, with the range that each accepts.
  private static let options: [(command: [String], option: String, range: String)] = [
    (["play", "videotestsrc ! appsink name=a", "--surface", "none"], "--duration", "0.001 to 1000000000 seconds"),
    (["play", "videotestsrc ! appsink name=a", "--surface", "none"], "--retries", "0 to 1000000000 retries"),
    (["play", "videotestsrc ! appsink name=a", "--surface", "none"], "--stop-timeout", "0.1 to 3600 seconds"),
  ]

  /// Parses arguments as the program does. It runs in this process because there are many arguments to try.
  ///
  /// - Returns: the message and the exit code; nil when the arguments are accepted.
  private static func refusal(of arguments: [String]) -> (message: String, status: Int32)? {
    do {
      _ = try PipSinkDemo.parseAsRoot(arguments)
      return nil
    } catch {
      return (PipSinkDemo.fullMessage(for: error), PipSinkDemo.exitCode(for: error).rawValue)
    }
  }

  @Test(arguments: options.indices) func everyNumberHasARangeThatItsErrorNames(index: Int) throws {
    let (command, option, range) = Self.options[index]
    let numbers = ["9223372036854775807", "1e300", "-1", "99999999999999999999", "1e400", "nan", "inf", "-inf", "x"]
    for number in numbers + (option == "--duration" ? ["0", "-0"] : []) {
      let refusal = try #require(Self.refusal(of: command + ["\(option)=\(number)"]), "\(option)=\(number)")
      #expect(refusal.status == 64)
      let isNamed =
        refusal.message.contains("\(option) takes \(range)")
        || refusal.message.contains("'\(number)' is invalid for '\(option)")
      #expect(isNamed, "\(option)=\(number): \(refusal.message)")
    }
  }

  private static let play = [
    "play", "videotestsrc num-buffers=3 ! appsink name=a sync=false", "--surface", "offscreen",
  ]

  @Test(
    arguments: [
      (
        "--at",
        [
          "1e19=quit", "1e300=quit", "1e10=quit", "nan=quit", "inf=quit", "-1=quit", "1e400=quit", "=quit",
          "1=volume:nan", "1=volume:2",
        ]
      ),
      ("--window-size", ["100000x100000", "32768x1", "0x0", "-1x5", "99999999999999999999x1", "1x", "nanx1", "1e3x1"]),
      ("--pip-size", ["100000x100000", "1x32768", "9223372036854775807x9223372036854775807"]),
      ("--volume", ["nan", "inf", "-1", "2", "1e400"]),
      ("--when-interrupted", ["duck:nan", "duck:2", "duck:-1", "duck:"]),
    ] as [(String, [String])])
  func everyPartOfAnOptionThatIsANumberIsChecked(option: String, values: [String]) throws {
    for value in values {
      let refusal = try #require(Self.refusal(of: Self.play + ["\(option)=\(value)"]), "\(option)=\(value)")
      #expect(refusal.status == 64 && refusal.message.contains(option), "\(refusal)")
    }
  }

  @Test(
    arguments: [
      ("decimate", ["0", "-1", "99999999999999999999", "", "nan"]),
      ("limit-rate", ["nan", "inf", "-inf", "-0", "0", "1e400", "", "-1"]),
      ("rotate", ["-90", "0", "99999999999999999999", "", "nan"]),
    ] as [(String, [String])])
  func everyProcessorsNumberIsChecked(name: String, arguments: [String]) {
    for argument in arguments {
      #expect("\(argument)") {
        try FrameProcessorRegistry.shared.makeProcessor(named: name, argument: argument)
      } throws: {
        guard case PipSinkError.frame(.invalidProcessorArgument(name, argument, _))? = $0 as? PipSinkError else {
          return false
        }
        return true
      }
    }
  }

  @Test(arguments: [
    ["--duration=1e9", "--at=1e9=quit", "--at=-0=snapshot", "--process=a=decimate:9223372036854775807"],
    ["--process=a=limit-rate:5e-324", "--process=a=limit-rate:1e308"],
  ])
  func theLargestAndTheSmallestAreTaken(arguments: [String]) async throws {
    let result = try await Demo.start(Self.play + arguments).result()
    #expect(result.status == 0, "\(result.errors)")
  }

  @Test(arguments: [
    "framerate=2147483647/1", "pixel-aspect-ratio=2147483647/1",
    "pixel-aspect-ratio=1/2147483647",
    "width=2147483647,height=2147483647", "width=32767,height=32767",
  ])
  func absurdCapsAreShownOrRefused(fields: String) async throws {
    for sink in ["appsink name=a sync=false", "pipsink stream-id=a sync=false"] {
      let source =
        "videotestsrc num-buffers=3 ! video/x-raw,format=BGRA,width=64,height=36 ! capssetter caps=video/x-raw,\(fields)"
      let result = try await Demo.start([
        "play", "\(source) ! \(sink)", "--surface", "offscreen", "--mode", "pip", "--gravity", "resizeAspectFill",
        "--duration",
        "5",
      ]).result()
      #expect([0, 65, 74].contains(result.status) && !result.wasKilled, "\(result.errors)")
    }
  }

  @Test func numbersAreWrittenAsPrintfDoesIt() {
    for value in [0, -0.0, 1.5, -1.25, 0.125, 0.05, 2.5, 1e300, -12345.678, .infinity, -.infinity, .ulpOfOne] {
      for places in 0...6 {
        #expect(value.text(places: places) == String(format: "%.\(places)f", value))
        #expect(value.text(places: places, hasSign: true) == String(format: "%+.\(places)f", value))
      }
      #expect(value.text(places: 1).alignedRight(in: 7) == String(format: "%7.1f", value))
    }
    for value in [0, 7, 10, 255, 65535] {
      #expect(value.text(digits: 3) == String(format: "%03d", value))
      #expect(value.text(digits: 4, radix: 16) == String(format: "%04x", value))
    }
    #expect("ab".padded(to: 4) + "|" == "ab  |" && "abc".padded(to: 2) == "abc")
  }

  /// GTK sets the user's locale when there is a display.
  @Test(.enabled(if: XServer.isInstalled)) func theDecimalPointIsOneInEveryLocale() async throws {
    let folder = try TemporaryFolder()
    let definition = try await RunningProgram(
      "/usr/bin/localedef", ["-f", "UTF-8", "-i", "de_DE", folder.path("de_DE.UTF-8")]
    ).result()
    try #require(definition.status == 0, "\(definition.errors)")
    let server = try await XServer()
    let environment = ["LOCPATH": folder.url.path, "LC_ALL": "de_DE.UTF-8"].merging(server.environment) { $1 }
    let result = try await Demo.start(
      ["play", "videotestsrc is-live=true ! appsink name=a", "--surface", "window", "--duration", "1.5"],
      environment: environment
    ).result()
    #expect(result.status == 0, "\(result.errors)")
    let text = result.output + result.errors
    #expect(text.contains(/Outcome: duration after \d\.\d s/) && text.contains(/\d\.\d fps/), "\(text)")
    #expect(!text.contains(/\d,\d/), "\(text)")
  }

  @Test(
    .enabled(if: Plugin.isUsable, "a sanitizer needs more memory and files"),
    arguments: [
      ("-n 4", "ulimit -n"), ("-n 8", "ulimit -n"), ("-n 16", "ulimit -n"), ("-n 32", "ulimit -n"),
      ("-v 300000", "ulimit -v"),
      ("-v 500000", "ulimit -v"), ("-v 1000000", "ulimit -v"),
    ])
  func aLimitThatIsTooTightIsNamed(limit: String, name: String) async throws {
    let script = "ulimit \(limit); exec '\(Demo.path)' play 'videotestsrc ! appsink name=a' --surface none --duration 1"
    let result = try await RunningProgram("/bin/bash", ["-c", script]).result()
    #expect(result.status == 71 && !result.wasKilled, "\(result.errors)")
    #expect(result.errors.contains(name) && result.errors.split(separator: "\n").count == 1, "\(result.errors)")
  }
}
