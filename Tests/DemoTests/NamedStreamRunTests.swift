import Foundation
import Testing

@testable import PipSink
@testable import TestSupport
@testable import pipsink_demo

/// Runs whose user names the stream for picture-in-picture, in the ways that the command line has.
@Suite struct NamedStreamRunTests {
  /// How the streams are given.
  enum Form: CaseIterable {
    case files, uris, streams, pipelineAndStreams
  }

  private static let live = "videotestsrc is-live=true ! video/x-raw,width=64,height=36,framerate=60/1 ! appsink"
  private static let ids = ["film", "guest", "talk"]

  /// Two films, which are made once for all tests.
  private static let films = Task {
    let folder = try TemporaryFolder()
    func make(_ frames: Int) async throws -> Data {
      let path = folder.path("film.mkv")
      try await Tool.gstLaunch(
        "videotestsrc num-buffers=\(frames) ! video/x-raw,width=64,height=36,framerate=60/1 ! jpegenc ! matroskamux "
          + "! filesink location=\(path)")
      return try Data(contentsOf: URL(fileURLWithPath: path))
    }
    return (short: try await make(40), long: try await make(150))
  }

  /// The arguments for the three streams, of which one is longer than the others.
  private func arguments(_ form: Form, long: String, in folder: TemporaryFolder) async throws -> [String] {
    let films = try await Self.films.value
    let media = try Self.ids.map { id in
      let path = folder.path("\(id).mkv")
      try (id == long ? films.long : films.short).write(to: URL(fileURLWithPath: path))
      return path
    }
    let streams = Self.ids.flatMap { ["--stream", "\($0)=\(Self.live)"] }
    switch form {
    case .files: return media
    case .uris: return media.map { "file://\($0)" }
    case .streams: return streams + ["--duration", "3"]
    case .pipelineAndStreams:
      return ["\(Self.live) name=\(Self.ids[0])"] + streams.dropFirst(2) + ["--duration", "3"]
    }
  }

  @Test(arguments: Form.allCases)
  func allFramesOfTheNamedStreamAreInPictureInPictureAndNoneOfTheOthers(form: Form) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for named in Self.ids {
        group.addTask {
          let streams = try await report(form, named, ["--mode", "pip"]).streams
          #expect(streams.keys.sorted() == Self.ids)
          for (id, stream) in streams {
            #expect(stream.received > 10 && stream.pip == (id == named ? stream.received : 0), "\(id), not \(named)")
          }
        }
        group.addTask {
          let report = try await report(form, named, ["--auto-pip", "--at", "0.2=background"])
          // Another stream may have its first picture earlier.
          #expect(report.modeChanges.last { $0.to == "pip" }?.stream == named)
        }
      }
      try await group.waitForAll()
    }
  }

  private func report(_ form: Form, _ named: String, _ options: [String]) async throws -> Report {
    let folder = try TemporaryFolder()
    let streams = try await arguments(form, long: named, in: folder)
    let result = try await Demo.play(
      streams + ["--pip-stream", named, "--surface", "offscreen", "--report", "-"] + options)
    #expect(result.status == 0, "\(result.errors)")
    return try result.report()
  }

  @Test func aNamedStreamTakesTheWindowWheneverItIsThereUntilTheNameIsWithdrawn() async throws {
    let streams = ["film", "guest", "talk"].flatMap { ["--stream", "\($0)=\(Self.live)"] }
    let actions = [
      "1=start:talk", "2=stop:talk", "3=start:talk", "4=camera-off:talk", "5=camera-on:talk", "6=any",
      "6=camera-off:talk", "7=camera-on:talk",
    ]
    let result = try await Demo.play(
      streams + actions.flatMap { ["--at", $0] } + [
        "--mode", "pip", "--pip-stream", "talk", "--surface", "offscreen", "--report", "-", "--duration", "8",
      ])
    #expect(result.status == 0, "\(result.errors)")
    let report = try result.report()
    let moves = { (id: String) in report.modeChanges.filter { $0.stream == id }.map(\.to) }
    #expect(moves("talk") == ["pip", "inApp", "pip", "inApp", "pip", "inApp"])
    #expect(moves("film") == ["pip", "inApp", "pip", "inApp", "pip", "inApp", "pip"])
    #expect(moves("guest") == [])
    #expect(report.modeChanges.allSatisfy { $0.framesLost == 0 && $0.framesRepeated == 0 })
  }

  @Test func bothNamedStreamsHaveTheirHalvesInEveryOrderOfTheOptions() async throws {
    let options = [["--pip-second", "cam"], ["--pip-stream", "r1"], ["--mode", "pip"], ["--local", "cam"]]
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (order, options) in [
        (["cam", "r1"], options), (["r1", "cam"], options.reversed()), (["cam", "r1"], options.reversed()),
        (["r1", "cam"], options),
      ] {
        group.addTask {
          let result = try await Demo.play(
            options.flatMap(\.self) + order.flatMap { ["--stream", "\($0)=\(Self.live)"] } + [
              "--surface", "offscreen", "--duration", "2", "--report", "-",
            ])
          #expect(result.status == 0, "\(result.errors)")
          let report = try result.report()
          #expect(report.errors == [])
          let (cam, r1) = (try #require(report.streams["cam"]), try #require(report.streams["r1"]))
          #expect(r1.pip == r1.received && cam.pip > 5)
          #expect(report.modeChanges.map { "\($0.stream) \($0.to)" } == ["cam pip"])
        }
      }
      try await group.waitForAll()
    }
  }

  @Test func aSharedScreenIsPreferredToOthers() async throws {
    let result = try await Demo.play([
      "--stream", "a=\(Self.live)", "--stream", "screen=\(Self.live)", "--screen-share", "screen", "--mode", "pip",
      "--surface", "offscreen", "--duration", "2", "--report", "-",
    ])
    #expect(result.status == 0, "\(result.errors)")
    let streams = try result.report().streams
    #expect(streams["screen"]?.pip == streams["screen"]?.received && streams["a"]?.pip == 0)
    let unknown = try await Demo.play(["videotestsrc ! appsink name=a", "--screen-share", "nobody"])
    #expect(unknown.status == 64 && unknown.errors.contains("nobody"))
  }

  @Test func aStreamIsKeptOutOfPictureInPicture() async throws {
    let result = try await Demo.play([
      "--stream", "a=\(Self.live)", "--stream", "b=\(Self.live)", "--pip-exclude", "a", "--mode", "pip",
      "--surface", "offscreen", "--duration", "2", "--report", "-", "--at", "1=pip:a",
    ])
    // An action that was refused is something that could not be shown.
    #expect(result.status == 74, "\(result.errors)")
    #expect(result.errors.contains("\"a\" may not be in picture-in-picture"), "\(result.errors)")
    let streams = try result.report().streams
    #expect(streams["b"]?.pip == streams["b"]?.received && streams["a"]?.pip == 0)
    let unknown = try await Demo.play(["videotestsrc ! appsink name=a", "--pip-exclude", "nobody"])
    #expect(unknown.status == 64 && unknown.errors.contains("nobody"))
  }
}
