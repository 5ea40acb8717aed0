import Foundation
import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport
@testable import pipsink_demo

/// When pictures were on the screen, as display servers tell it.
@Suite(.enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"), .timeLimit(.minutes(5)))
struct ScreenTimeTests {
  @Test(arguments: Desktop.allCases.filter(\.isInstalled))
  func theReportTellsWhenFramesWereOnTheScreen(on desktop: Desktop) async throws {
    let server = try await desktop.start()
    let video = "videotestsrc is-live=true ! video/x-raw,width=320,height=180,framerate=30/1 ! "
    let result = try await Demo.start(
      ["play", video + "appsink name=a", "--surface", "window", "--mode", "pip", "--duration", "4", "--report", "-"],
      environment: server.environment.merging(["WAYLAND_DEBUG": "1"]) { $1 }
    ).result(seconds: 60)
    let report = try result.report()
    let stream = try #require(report.streams["a"])
    // KWin 5 does not know the protocol.
    if report.surface == "wayland", !result.errors.contains("\"wp_presentation\"") {
      #expect(desktop == .kwin && stream.screenLatency == nil && stream.missedRefreshes == nil)
      return
    }
    // Not every version of Xwayland tells of the refresh after a picture.
    if desktop == .mutter, stream.screenLatency == nil { return }
    let (presenting, screen) = (try #require(stream.latency), try #require(stream.screenLatency))
    // A picture is on the screen after it was handed over. The percentiles have two digits.
    #expect(screen.p50 >= presenting.p50 * 0.98)
    #expect(stream.missedRefreshes != nil)
  }

  // MARK: - The refreshes of X11

  private static func moment(_ microseconds: UInt64) -> MonotonicTime {
    MonotonicTime(nanoseconds: 5_000_000_000 + microseconds * 1000)
  }

  @Test func theIntervalIsMeasuredOverManyRefreshes() {
    var meter = X11RefreshMeter()
    // A screen of 59.94 Hz, whose times are sometimes a millisecond late.
    for number in 0..<30 as Range<UInt64> {
      meter.note(100 + number, at: Self.moment(number * 16_683 + number % 3 * 500))
      #expect(meter.interval == 0)
    }
    meter.note(130, at: Self.moment(30 * 16_683))
    #expect(meter.interval == 16_683_000)
    // Two pictures in one refresh say nothing.
    meter.note(130, at: Self.moment(30 * 16_683 + 900))
    #expect(meter.interval == 16_683_000)
  }

  @Test func theMeasurementBeginsAnewOnAnotherScreen() {
    var meter = X11RefreshMeter()
    for number in 0..<40 as Range<UInt64> { meter.note(number, at: Self.moment(number * 16_667)) }
    #expect(meter.interval == 16_667_000)
    // The other one counts its own refreshes, which are more frequent.
    for number in 0..<30 as Range<UInt64> {
      meter.note(7000 + number, at: Self.moment(40 * 16_667 + number * 6_944))
      #expect(meter.interval == 0)
    }
    meter.note(7030, at: Self.moment(40 * 16_667 + 30 * 6_944))
    #expect(meter.interval == 6_944_000)
    // It comes back to the first one, whose numbers are smaller.
    meter.note(80, at: Self.moment(80 * 16_667))
    #expect(meter.interval == 0)
  }
}
