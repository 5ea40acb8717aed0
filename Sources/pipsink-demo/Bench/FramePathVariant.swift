import ArgumentParser

/// What the frames of `fakesrc` end in.
enum FramePathVariant: String, CaseIterable, ExpressibleByArgument {
  case fakesink
  /// The program in Benchmarks/c-appsink.
  case c
  /// The same in Swift.
  case swift
  case pipSink = "pipsink"
  case observer
  case processor

  /// In results.
  var title: String {
    switch self {
    case .fakesink: "fakesink"
    case .c: "appsink in C (pull, map, unmap, unref)"
    case .swift: "appsink in Swift, the same"
    case .pipSink: "PipSink (wrap, route, mailbox)"
    case .observer: "PipSink with an observer of the bytes"
    case .processor: "PipSink with the grayscale processor"
    }
  }

  var sink: String { self == .fakesink ? "fakesink" : "appsink" }
}
