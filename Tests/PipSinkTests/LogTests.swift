import CGStreamer
import Glibc
import Logging
import Testing

@testable import PipSink
@testable import TestSupport

@Suite struct LogTests {
  @Test(arguments: [
    ("debug", "pipsink.engine", Logger.Level.debug),
    ("pipsink.engine:debug", "pipsink.engine", .debug),
    ("pipsink.engine:debug", "pipsink.engines", .notice),
    ("pipsink.*:info, pipsink.engine:trace", "pipsink.engine", .trace),
    ("pipsink.*:info, pipsink.engine:trace", "pipsink.gtk", .info),
    ("pipsink.engine:trace,pipsink.*:info", "pipsink.engine", .info),
    ("*.engine : ERROR ,,", "pipsink.engine", .error),
    ("critical,*gtk*:warning", "pipsink.gtk", .warning),
    ("", "pipsink.engine", .notice),
  ])
  func theLastPatternThatFitsALabelCounts(specification: String, label: String, level: Logger.Level) throws {
    #expect(try LogLevels(specification).level(of: label) == level)
  }

  @Test(arguments: ["loud", "pipsink.engine:", ":debug", "a:b:debug", "pipsink.engine=debug", "debug,pipsink:9"])
  func anEntryThatIsNoPatternWithALevelIsRefused(specification: String) {
    let entry = specification.split(separator: ",").last.map(String.init) ?? ""
    #expect {
      try LogLevels(specification)
    } throws: { error in
      guard case PipSinkError.system(.invalidArgument(entry, let reason)) = error else { return false }
      return reason.contains("trace, debug, info, notice, warning, error, critical")
    }
  }

  @Test func rulesAboutGStreamerAreTold() throws {
    #expect(try LogLevels("info,gstreamer.basesink:debug").namesGStreamer)
    #expect(try !LogLevels("debug").namesGStreamer)
  }

  @Test func whatSomebodyHasToDoSomethingAboutIsLoggedByDefault() {
    let record = RecordedLog()
    let log = SessionLog { record.makeLogger($0, level: .debug) }
    let lost = PipSinkError.pictureInPicture(.sourceNotReady("a"))
    let usage = PictureInPictureUsage(duration: .seconds(4), cpuTime: .seconds(1), residentBytes: 93_000_000)
    log.note(.streamAdded("a"))
    log.note(.engine(.streamStateChanged("a", .playing)))
    log.note(.engine(.streamStateChanged("a", .reconnecting(attempt: 2, pause: .seconds(1), after: lost))))
    log.note(.engine(.streamStateChanged("a", .failed(lost))))
    log.note(.engine(.audioFailed(lost)))
    log.note(.engine(.customVideoRenderChanged(isEnabled: true)))
    log.note(.refused(lost))
    log.note(.willStart, of: "a", usage)
    log.note(.failedToStart(lost), of: "a", usage)
    log.note(.failedToStart(.pictureInPicture(.cancelled)), of: "a", usage)
    log.note(.didStop(.failed(lost)), of: "a", usage)
    log.note(.didStop(.closed), of: "a", usage)
    let visible = record.entries.filter { $0.level >= .notice }
    #expect(
      visible.map { "\($0.label) \($0.level)" } == [
        "pipsink.session notice", "pipsink.session warning", "pipsink.audio warning", "pipsink.session warning",
        "pipsink.pip warning", "pipsink.pip warning",
      ])
    #expect(visible.allSatisfy { $0.message.contains(lost.description) })
    let others = record.entries.filter { $0.level < .notice }.map(\.message)
    #expect(others.contains("custom rendering is enabled") && others.contains("stream \"a\" has been added"))
    #expect(others.contains { $0.contains("4.0 s, with 25 % of a processor and 93 MB") }, "\(others)")
  }

  @Test func theEnvironmentIsRead() async {
    await #expect(processExitsWith: .success) {
      unsetenv(LogLevels.environmentVariable)
      let none = try LogLevels.ofEnvironment()
      #expect(none == nil)
      setenv(LogLevels.environmentVariable, "pipsink.pip:debug", 1)
      let levels = try LogLevels.ofEnvironment()
      #expect(levels?.level(of: "pipsink.pip") == .debug)
    }
  }

  @Test func gstreamersLogGoesToTheLoggersAndBack() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      unsetenv("GST_DEBUG")
      let log = RecordedLog()
      let levels = try LogLevels("gstreamer.*:warning,gstreamer.basesink:debug,gstreamer.GST_STATES:info")
      let makeLogger = { @Sendable (label: String) in log.makeLogger(label, level: levels.level(of: label)) }
      try GStreamerLog.install(levels: levels, makeLogger: makeLogger)
      // After a second call, there is still only one log function.
      try GStreamerLog.install(levels: levels, makeLogger: makeLogger)
      func play() async throws {
        let engine = try VideoEngine(
          "videotestsrc num-buffers=2 ! video/x-raw,width=16,height=16 ! appsink name=a sync=false")
        _ = try await engine.runToEnd { _ in CountingConsumer() }
      }
      try await play()
      GStreamerLog.remove()
      let entries = log.entries
      let changes = entries.filter { $0.label == "gstreamer.GST_STATES" && $0.level == .info }
      let sink = entries.filter { $0.label == "gstreamer.basesink" && $0.object == "<a>" && $0.level == .debug }
      #expect(!changes.isEmpty && !sink.isEmpty && entries.allSatisfy { $0.level >= levels.level(of: $0.label) })
      #expect(entries.count { $0.object == "<a>" && $0.message.contains("state-changed NULL to READY") } == 1)
      gst_debug_set_color_mode(GST_DEBUG_COLOR_MODE_OFF)
      try await play()
      #expect(log.entries.count == entries.count, "logged after it was removed")
    }
    let written = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(written.contains(" GST_STATES "), "GStreamer writes its own log again: \(written.prefix(500))")
  }
}
