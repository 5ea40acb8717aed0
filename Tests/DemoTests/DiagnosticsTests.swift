import Foundation
import PipSink
import Testing

@testable import TestSupport
@testable import pipsink_demo

@Suite struct DiagnosticsTests {
  @Test func theReportTellsWhatBecameOfEveryFrame() async throws {
    let folder = try TemporaryFolder()
    let result = try await Demo.play(
      Demo.pipeline("two-streams") + [
        "--surface", "offscreen", "--duration", "2", "--at", "1=pip:remote-2", "--report", "-",
        // The last pictures are waited for.
        "--snapshots", folder.url.path,
      ])
    #expect(result.status == 0, "\(result.errors)")
    let report = try result.report()
    for stream in report.streams.values {
      #expect(stream.shown > 0)
      let ends = stream.shown + stream.replaced + stream.hidden + stream.refused
      #expect(ends == stream.received, "\(stream)")
      #expect((stream.frameRate ?? 0) > 1 && (stream.latency?.p99 ?? 0) > 0)
    }
    #expect(report.process.rssBytes > 1_000_000 && report.process.threads > 2 && report.process.openFiles > 2)
  }

  @Test func theReportCountsTheFramesThatWereLate() async throws {
    let late =
      "videotestsrc num-buffers=40 ! video/x-raw,width=16,height=16,framerate=100/1 ! identity sleep-time=40000"
    let result = try await Demo.play([
      "\(late) ! appsink name=a qos=true max-lateness=1000000", "--surface", "none", "--report", "-",
    ])
    let stream = try #require(try result.report().streams["a"])
    #expect(stream.late > 10 && stream.late + stream.received == 40, "\(stream)")
  }

  @Test func aSurfaceThatRefusesEveryFrameIsAnErrorOfTheRun() async throws {
    // The buffers are much too small for their caps.
    let frames = "fakesrc is-live=true do-timestamp=true sizetype=fixed sizemax=10 ! identity sleep-time=50000"
    let result = try await Demo.play([
      "\(frames) ! video/x-raw,format=I420,width=64,height=48,framerate=20/1 ! appsink name=a", "--surface",
      "offscreen",
      "--duration", "1", "--report", "-",
    ])
    #expect(result.status == 74, "\(result.errors)")
    let report = try result.report()
    #expect(report.outcome == .failed)
    #expect(report.errors.count == 1 && report.errors.first?.contains("stream \"a\" cannot be shown") == true)
  }

  @Test func prometheusReadsTheMetricsFileWhileItRuns() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("pipsink.prom")
    let demo = try Demo.start(["play"] + Demo.pipeline("two-streams") + ["--metrics", path])
    // The file is complete whenever it is read.
    #expect(await demo.wait { _ in Self.value("pipsink_frames_shown_total", of: path) > 0 })
    demo.interrupt()
    let status = try await demo.result().status
    #expect(status == 0)
    #expect(folder.files == ["pipsink.prom"])
    // The Prometheus client library checks the format.
    let script = """
      import sys
      from prometheus_client.parser import text_string_to_metric_families as parse
      families = list(parse(open(sys.argv[1]).read()))
      histograms = {f.name: f for f in families if f.type == 'histogram'}
      for sample in histograms['pipsink_frame_latency_seconds'].samples:
          if sample.name.endswith('_count'): assert sample.value > 0, sample
      print(*[f.name for f in families if f.type != 'unknown' and f.documentation])
      """
    let reader = try await RunningProgram("/usr/bin/python3", ["-c", script, path]).result()
    #expect(reader.status == 0, "\(reader.errors)")
    let names = Set(reader.output.split(separator: " ").map { String($0).trimmingCharacters(in: .newlines) })
    #expect(
      names.isSuperset(of: [
        "pipsink_frames_received", "pipsink_frames_dropped", "pipsink_frames_per_second",
        "pipsink_frame_interval_seconds", "pipsink_process_cpu_seconds",
      ]), "\(names)")
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(text.split(separator: "\n").count { $0.hasPrefix("# TYPE") } == names.count)
  }

  /// The largest value of a metric in the file; 0 when the file has none.
  private static func value(_ metric: String, of path: String) -> Double {
    let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    let values = text.split(separator: "\n").filter { $0.hasPrefix(metric) }.compactMap { line in
      line.split(separator: " ").last.flatMap { Double($0) }
    }
    return values.max() ?? 0
  }

  @Test func aMetricsFileThatCannotBeWrittenIsAnErrorBeforeAnythingRuns() async throws {
    let result = try await Demo.play(["videotestsrc ! appsink name=a", "--metrics", "/nowhere/pipsink.prom"])
    #expect(result.status == 74)
    #expect(result.errors.contains("the metrics file \"/nowhere/pipsink.prom\" cannot be written"))
  }

  private let source = ["videotestsrc num-buffers=3 ! appsink name=a sync=false", "--surface", "none"]

  @Test func messagesAreLoggedAsTheOptionOrTheEnvironmentSays() async throws {
    let state = "debug pipsink.engine: stream \"a\": playing\n"
    let quiet = try await Demo.play(source)
    #expect(!quiet.errors.contains("pipsink.engine"))
    let option = try await Demo.play(source + ["--log-level", "pipsink.engine:debug"])
    #expect(option.errors.contains(state))
    let environment = try await Demo.play(source, environment: ["PIPSINK_DEBUG": "debug"])
    #expect(environment.errors.contains(state))
    #expect(!environment.errors.contains("gstreamer."))
    let both = try await Demo.play(source + ["--log-level", "info"], environment: ["PIPSINK_DEBUG": "debug"])
    #expect(!both.errors.contains("pipsink.engine"))
  }

  @Test func gstreamersLogComesWithTheOthersOneMessageALine() async throws {
    let result = try await Demo.play(source + ["--log-level", "gstreamer.basesink:debug,gstreamer.GST_STATES:info"])
    let lines = result.errors.split(separator: "\n").filter { $0.contains("gstreamer.") }
    #expect(lines.count > 10)
    let form = /\d\d:\d\d:\d\d\.\d{3} (debug|info|notice|warning|error) gstreamer\.(basesink|GST_STATES): .+/
    #expect(lines.allSatisfy { $0.wholeMatch(of: form) != nil }, "\(lines)")
    #expect(lines.contains { $0.hasSuffix(" object=<a>") })
    #expect(!result.errors.contains(" GST_STATES "), "GStreamer writes no log itself")
  }

  @Test(arguments: ["--log-level", ""]) func aMistakeInTheLevelsIsNamed(option: String) async throws {
    let result = try await Demo.play(
      source + (option.isEmpty ? [] : [option, "loud"]), environment: option.isEmpty ? ["PIPSINK_DEBUG": "loud"] : [:])
    #expect(result.status == 64)
    #expect(result.errors.contains("trace, debug, info, notice, warning, error, critical"), "\(result.errors)")
  }
}
