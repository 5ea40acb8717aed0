import Glibc
import Logging
import Testing

@testable import PipSink
@testable import TestSupport

@Suite struct VisibleTextTests {
  @Test(arguments: [
    ("plain text, with ümläuts 日本 👩‍👩‍👧", "plain text, with ümläuts 日本 👩‍👩‍👧"),
    ("\u{1B}]0;title\u{07}", "\\u{1B}]0;title\\u{07}"),
    ("a\nb\r\nc\td", "a\\nb\\r\\nc\\td"),
    ("\u{0}\u{8}\u{7F}", "\\u{00}\\u{08}\\u{7F}"),
    ("C1: \u{80}\u{9B}31m\u{9F}", "C1: \\u{80}\\u{9B}31m\\u{9F}"),
    ("\u{202A}\u{202E}\u{2066}\u{2069}\u{2028}", "\\u{202A}\\u{202E}\\u{2066}\\u{2069}\\u{2028}"),
    // A combining mark forms one character with the character before it.
    ("\u{1B}\u{301}[2J\n\u{308}", "\\u{1B}\u{301}[2J\\n\u{308}"),
    ("", ""),
  ])
  func whatATerminalObeysIsWrittenOut(text: String, visible: String) {
    #expect(text.visible == visible)
    #expect(visible.visible == visible)
    #expect(text.visible.unicodeScalars.allSatisfy { !$0.isUnseen })
  }

  @Test func linesMayStay() {
    #expect("one\n\ttwo\r\u{1B}".visibleLines == "one\n\ttwo\\r\\u{1B}")
  }

  @Test func noErrorHasAnythingThatATerminalObeys() {
    let evil = "\u{1B}[31m\u{9B}\n\u{202E}"
    let errors: [PipSinkError] = [
      .pipeline(.elementFailed(element: evil, message: evil, detail: evil)),
      .stream(.unknown(StreamID(evil), known: [StreamID(evil)])),
      .pipeline(.invalid(reason: evil)), .pipeline(.missingElements([evil])),
      .system(.sessionBusUnavailable(reason: evil)),
      .frame(.unknownProcessor(evil, known: [evil])), .frame(.notWritten(path: evil, reason: evil)),
      .frame(.notRead(name: evil, reason: evil)),
      .frame(.invalidCaps(evil)),
    ]
    for error in errors {
      #expect("\(error)".unicodeScalars.allSatisfy { !$0.isUnseen }, "\(error)")
      #expect("\(error)".contains("\\u{1B}[31m\\u{9B}\\n\\u{202E}"))
    }
  }

  @Test func theLibrarysLogHasNothingThatATerminalObeys() {
    let log = Locked<[String]>([])
    let logger = Logger(visible: Logger(label: "a") { _ in Handler(log: log) })
    logger.warning("from a server: \u{1B}[2J\n", metadata: ["object": "<\u{9B}>", "list": ["\u{7}"]])
    #expect(log.withLock { $0 } == ["from a server: \\u{1B}[2J\\n", "list=[\"\\\\u{07}\"]", "object=<\\u{9B}>"])
  }

  private struct Handler: LogHandler {
    let log: Locked<[String]>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let details = (event.metadata ?? [:]).map { "\($0)=\($1)" }.sorted()
      log.withLock { $0 = ["\(event.message)"] + details }
    }
  }
}

@Suite struct ClampedNumberTests {
  @Test(arguments: [
    (0.4, 0), (0.5, 1), (-2.6, -3), (1e19, Int.max), (-1e300, Int.min), (.infinity, Int.max), (-.infinity, Int.min),
    (.nan, 0), (9_223_372_036_854_775_807.0, Int.max), (.leastNonzeroMagnitude, 0),
  ])
  func everyNumberHasANearestInt(value: Double, nearest: Int) {
    #expect(Int(nearest: value) == nearest)
  }

  @Test(arguments: [
    (1.5, Duration.milliseconds(1500)), (-1, .zero), (.nan, .zero), (1e300, .seconds(1_000_000_000)),
    (.infinity, .seconds(1_000_000_000)), (-.infinity, .zero),
  ])
  func everyNumberIsADuration(seconds: Double, duration: Duration) {
    #expect(Duration.seconds(clamping: seconds) == duration)
  }

  @Test(
    arguments: [
      (.zero, 5_000_000_000), (.seconds(2.9), 7_900_000_000), (.seconds(-2.9), 2_100_000_000),
      (.nanoseconds(7), 5_000_000_007), (.seconds(-2), 3_000_000_000), (.seconds(-6), 0),
      (.seconds(Int64.max), UInt64(Int64.max)), (.seconds(Int64.min), 0),
    ] as [(Duration, UInt64)])
  func everyDurationAdvancesATime(duration: Duration, nanoseconds: UInt64) {
    let five = MonotonicTime(nanoseconds: 5_000_000_000)
    let moved = five.advanced(by: duration)
    #expect(moved.nanoseconds == nanoseconds)
    #expect(five.advanced(by: five.duration(to: moved)) == moved)
  }

  @Test func aTimeThatNoClockTimeHoldsIsNone() {
    #expect(MediaTime(value: .max, timescale: 1).clockTime == nil)
    #expect(MediaTime(value: .min, timescale: 1).clockTime == nil)
  }

  @Test(arguments: [(1, Int(Int32.max)), (Int(Int32.max), 1), (1, 1)])
  func absurdPixelsAreStillPlaced(ratio: (Int, Int)) throws {
    let format = try VideoFormatDescription.make(
      .i420, size: PictureSize(width: 32767, height: 1), frameRate: (Int(Int32.max), 1), pixelAspectRatio: ratio)
    let surface = PictureSize(width: 320, height: 180)
    for gravity in VideoGravity.allCases {
      let placement = gravity.placement(of: format.size, displaySize: format.displaySize, in: surface)
      #expect(placement.target.width >= 1 && placement.target.width <= 320, "\(gravity)")
      #expect(placement.source.width >= 1 && placement.source.width <= 32767, "\(gravity)")
      for point in [0, 1e300, -.infinity, .nan] {
        _ = gravity.pixel(at: (point, point), of: surface, in: format, orientation: .upright)
      }
    }
  }

  @Test(.enabled(if: !ElementHarness.isSanitized, "a sanitizer ends a process that cannot allocate memory"))
  func aSurfaceWithoutMemoryForItIsAnError() async {
    await #expect(processExitsWith: .success) {
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
      limit.rlim_cur = 4 << 30
      try #require(setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0)
      let size = PictureSize(width: 32767, height: 32767)
      #expect(throws: PipSinkError.frame(.outOfMemory(byteCount: 32767 * 32767 * 4))) {
        try OffscreenRenderer(size: size)
      }
    }
  }

  @Test(.enabled(if: !ElementHarness.isSanitized, "a sanitizer ends a process that cannot allocate memory"))
  func aSurfaceThatFindsNoMemoryToBeRebuiltKeepsItsPictureAndIsRebuiltLater() async {
    await #expect(processExitsWith: .success) {
      let size = PictureSize(width: 4096, height: 4096)
      let (byteCount, surface) = (size.width * size.height * 4, try OffscreenRenderer(size: size))
      let frame = try TestFrame.sampleBuffer(TestFrame.testSource(.i420, 32, 32, pattern: "white"))
      func isWhite() throws -> Bool {
        try surface.render(frame, gravity: .resize)
        return surface.image()?.pixel(size.width - 1, size.height - 1).allSatisfy { $0 > 250 } == true
      }
      #expect(try isWhite())

      let resource = __rlimit_resource_t(RLIMIT_AS.rawValue)
      var old = rlimit()
      getrlimit(resource, &old)
      // The first number is the size of the process's address space in pages.
      let statm = try #require(firstLine(ofFile: "/proc/self/statm"))
      let pages = try #require(statm.split(separator: " ").first.flatMap { rlim_t($0) })
      var tight = rlimit(rlim_cur: pages * rlim_t(getpagesize()) + rlim_t(byteCount / 2), rlim_max: old.rlim_max)
      try #require(setrlimit(resource, &tight) == 0)
      let failure = #expect(throws: RenderingError.self) { try surface.rebuild() }
      #expect(failure == RenderingError(.frame(.outOfMemory(byteCount: byteCount))))
      #expect(failure?.code == .other(-1), "the reason is neither the frame's size nor its format")
      #expect(surface.hasImage)

      try #require(setrlimit(resource, &old) == 0)
      try surface.rebuild()
      #expect(!surface.hasImage)
      #expect(try isWhite())
    }
  }
}
