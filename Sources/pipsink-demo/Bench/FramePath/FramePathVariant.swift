import ArgumentParser

/// What the frames of `fakesrc` end in.
enum FramePathVariant: String, CaseIterable, ExpressibleByArgument {
  case fakesink
  /// The program in Benchmarks/c-appsink.
  case c
  /// The same program, which pulls frames in a loop on a thread of each appsink's own.
  case loop = "c-loop"
  /// The same in Swift.
  case swift
  /// Frames are wrapped and let go.
  case wrapping
  case pipSink = "pipsink"
  /// With and without the clock and the histograms of its statistics.
  case timesInTurn = "times-in-turn"
  case observer
  case processor
  case videoSink = "fakevideosink"
  case element

  /// Those that `route` compares.
  static let ways = allCases.filter { $0 != .timesInTurn && $0 != .loop }

  /// Whether it is the program in Benchmarks/c-appsink.
  var isInC: Bool { self == .c || self == .loop }

  /// In results.
  var title: String {
    switch self {
    case .fakesink: "fakesink"
    case .c: "appsink in C (pull, map, unmap, unref)"
    case .loop: "appsink in C, the same in a loop"
    case .swift: "appsink in Swift, the same"
    case .wrapping: "PipSink (wrap)"
    case .pipSink: "PipSink (wrap, route, mailbox)"
    case .timesInTurn: "PipSink with and without times in its statistics"
    case .observer: "PipSink with an observer of the bytes"
    case .processor: "PipSink with the grayscale processor"
    case .videoSink: "fakevideosink"
    case .element: "the element pipsink"
    }
  }

  var sink: String {
    switch self {
    case .fakesink, .videoSink: rawValue
    case .element: "pipsink surface=none"
    case .c, .loop, .swift, .wrapping, .pipSink, .timesInTurn, .observer, .processor: "appsink"
    }
  }
}
