import Foundation
import Testing

@testable import TestSupport
@testable import pipsink_demo

@Suite struct BadInputTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let name: String
    let arguments: [String]
    let status: Int32
    /// Texts that the error message must contain.
    let mentions: [String]

    init(_ name: String, _ arguments: [String], _ status: Int32, _ mentions: [String]) {
      self.name = name
      self.arguments = arguments
      self.status = status
      self.mentions = mentions
    }

    var testDescription: String { name }
  }

  static let cases = [
    Case("no pipeline", [], 65, ["empty"]),
    Case("empty pipeline", [""], 65, ["empty"]),
    Case("unknown element", ["videotestsrc ! nosuchelement ! appsink name=a"], 69, ["nosuchelement"]),
    Case("element of a package", ["videotestsrc ! glupload2 ! appsink name=a"], 69, ["glupload2", "package"]),
    Case("unlinkable caps", ["videotestsrc ! audio/x-raw ! appsink name=a"], 65, ["videotestsrc0", "audio/x-raw"]),
    Case("no appsink", ["videotestsrc ! fakesink"], 65, ["appsink"]),
    Case("unnamed appsink", ["videotestsrc ! appsink videotestsrc ! appsink"], 65, ["name"]),
    Case(
      "two appsinks of one name", ["videotestsrc ! appsink name=a videotestsrc ! appsink name=a"], 65,
      ["\"a\"", "twice"]),
    Case("missing file", ["filesrc location=/nowhere/x.mkv ! decodebin ! appsink name=a"], 74, ["/nowhere/x.mkv"]),
    Case("text as video", ["filesrc location=/etc/passwd ! decodebin ! videoconvert ! appsink name=a"], 74, ["\"a\""]),
    Case("audio caps", ["audiotestsrc ! appsink name=a"], 65, ["\"a\"", "audio/x-raw"]),
    Case("audio found later", ["audiotestsrc ! decodebin ! appsink name=a"], 74, ["\"a\""]),
    Case("pip stream that is none", ["videotestsrc ! appsink name=a", "--pip-stream", "b"], 64, ["\"b\"", "a"]),
    Case("action on a stream that is none", ["videotestsrc ! appsink name=a", "--at", "1=pip:b"], 64, ["\"b\""]),
    Case("unwritable snapshots", ["videotestsrc ! appsink name=a", "--snapshots", "/proc/shots"], 64, ["/proc/shots"]),
    Case(
      "snapshot folder that is a file", ["videotestsrc ! appsink name=a", "--snapshots", "/etc/passwd"], 64,
      ["/etc/passwd"]),
    Case("windows", ["videotestsrc ! appsink name=a", "--surface", "window"], 69, ["window"]),
    Case("unknown processor", ["videotestsrc ! appsink name=a", "--process", "a=blur"], 64, ["blur", "grayscale"]),
    Case("processor of no stream", ["videotestsrc ! appsink name=a", "--process", "b=grayscale"], 64, ["\"b\""]),
    Case("processor's argument", ["videotestsrc ! appsink name=a", "--process", "a=decimate:none"], 64, ["decimate"]),
    Case("broken processor", ["videotestsrc ! appsink name=a", "--process", "grayscale"], 64, ["--process"]),
    Case(
      "processor's argument that makes no sense", ["videotestsrc ! appsink name=a", "--process", "a=rotate:45"], 64,
      ["rotate", "45", "90"]),
    Case("broken syntax", ["videotestsrc ! ("], 65, ["syntax"]),
    Case("unknown property", ["videotestsrc nosuch=1 ! appsink name=a"], 65, ["nosuch"]),
    Case("broken action", ["videotestsrc ! appsink name=a", "--at", "soon=pip:a"], 64, ["--at"]),
    Case("broken size", ["videotestsrc ! appsink name=a", "--pip-size", "0x0"], 64, ["--pip-size"]),
    Case("absurd size", ["videotestsrc ! appsink name=a", "--window-size", "100000x100000"], 64, ["--window-size"]),
    Case("negative duration", ["videotestsrc ! appsink name=a", "--duration=-1"], 64, ["--duration"]),
    Case("two pipelines", ["videotestsrc ! appsink name=a", "--pipeline", "/dev/null"], 64, ["--pipeline"]),
    Case("pipeline file that is missing", ["--pipeline", "/nowhere/x.launch"], 64, ["/nowhere/x.launch"]),
  ]

  @Test(arguments: cases)
  func badInputEndsWithItsCodeAndAMessageThatNamesIt(badInput: Case) async throws {
    let result = try await Demo.play(badInput.arguments + ["--duration", "20"].filter { _ in badInput.status == 74 })
    #expect(!result.wasKilled)
    #expect(result.status == badInput.status, "\(result.errors)")
    for mention in badInput.mentions {
      #expect(result.errors.contains(mention), "\"\(mention)\" is not in: \(result.errors)")
    }
  }

  @Test func aReportThatCannotBeWrittenIsSaidAndTheRunFails() async throws {
    let result = try await Demo.play([
      "videotestsrc num-buffers=3 ! appsink name=a", "--report", "/nowhere/report.json", "--surface", "none",
    ])
    #expect(result.status == 74)
    #expect(result.errors.contains("/nowhere/report.json"))
  }

  @Test(arguments: [0.2, 0.5, 0.9])
  func truncatedVideoIsShownAsFarAsItGoes(part: Double) async throws {
    let folder = try TemporaryFolder()
    let whole = folder.path("whole.mkv")
    let cut = folder.path("cut.mkv")
    try await Tool.makeVideo(whole, frames: 60)
    let data = try Data(contentsOf: URL(fileURLWithPath: whole))
    try data.prefix(Int(Double(data.count) * part)).write(to: URL(fileURLWithPath: cut))
    let result = try await Demo.play([
      "filesrc location=\(cut) ! decodebin ! videoconvert ! appsink name=a sync=false", "--surface", "none", "--report",
      "-", "--duration", "30",
    ])
    #expect(!result.wasKilled)
    #expect([0, 74].contains(result.status), "\(result.errors)")
    let report = try result.report()
    #expect(report.outcome != .duration, "it hung")
    #expect(report.streams["a"]!.received < 60)
  }

  @Test func rawH264ThatIsCutInsideAFrameDoesNotCrash() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("cut.h264")
    try await Tool.gstLaunch(
      "videotestsrc num-buffers=30 ! video/x-raw,width=320,height=240 ! x264enc ! video/x-h264,stream-format=byte-stream "
        + "! filesink location=\(path)")
    let data = try Data(contentsOf: URL(fileURLWithPath: path))
    try data.prefix(data.count * 2 / 3 + 1).write(to: URL(fileURLWithPath: path))
    let result = try await Demo.play([
      "filesrc location=\(path) ! h264parse ! avdec_h264 ! videoconvert ! appsink name=a sync=false", "--report", "-",
    ])
    #expect(!result.wasKilled)
    #expect([0, 74].contains(result.status))
    #expect(try result.report().streams["a"]!.received > 0)
  }

  /// A machine without any plugin has only the elements of GStreamer's core.
  @Test func doctorNamesThePackageOfEachMissingElement() async throws {
    let folder = try TemporaryFolder()
    let result = try await Demo.start(
      ["doctor"],
      environment: ["GST_PLUGIN_SYSTEM_PATH": folder.path("none"), "GST_REGISTRY": folder.path("registry")]
    ).result(seconds: 30)
    for (element, package) in [
      ("appsink: every stream", "plugins-base"), ("v4l2src: cameras", "plugins-good"),
      ("pngenc: snapshots", "plugins-good"), ("webrtcbin: WebRTC", "plugins-bad"), ("avdec_h264: H.264", "libav"),
    ] {
      #expect(result.output.contains("missing  element \(element); apt-get install gstreamer1.0-\(package)\n"))
    }
  }

  @Test(arguments: [
    ("plya", "Did you mean \"play\"?"), ("Docter", "Did you mean \"doctor\"?"),
    ("film", "The commands are play, call, doctor"),
    ("rtsp://192.0.2.7/door", "pipsink-demo play rtsp://192.0.2.7/door"),
    ("/etc/passwd", "pipsink-demo play /etc/passwd"),
  ])
  func aCommandThatThereIsNotGetsASuggestion(word: String, suggestion: String) async throws {
    let result = try await Demo.start([word, "--duration", "1"]).result(seconds: 30)
    #expect(result.status == 64)
    #expect(
      result.errors.contains("There is no command \"\(word)\"") && result.errors.contains(suggestion),
      "\(result.errors)")
    #expect(UnknownCommand.message(for: ["play", word], commands: ["play"]) == nil)
    #expect(UnknownCommand.message(for: ["--version"], commands: ["play"]) == nil)
  }
}
