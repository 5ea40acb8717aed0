import ArgumentParser

/// What receives the frames of `fakesrc`.
enum FramePathVariant: String, CaseIterable, ExpressibleByArgument {
  case fakesink
  /// The program in Benchmarks/c-appsink.
  case c
  /// The same program, which pulls frames in a loop on one thread for each appsink.
  case loop = "c-loop"
  /// The same as `c`, in Swift.
  case swift
  /// PipSink wraps the frames, and releases them.
  case wrapping
  case pipSink = "pipsink"
  case observer
  case processor
  case videoSink = "fakevideosink"
  case element

  /// The variants that `route` compares.
  static let ways = allCases.filter { $0 != .loop }

  /// Whether the program in Benchmarks/c-appsink runs the variant.
  var isInC: Bool { self == .c || self == .loop }

  /// Whether the variant has nothing of PipSink.
  var isReference: Bool { [.fakesink, .c, .loop, .swift, .videoSink].contains(self) }

  /// The name in results.
  var title: String {
    switch self {
    case .fakesink: "fakesink"
    case .c: "appsink in C (pull, map, unmap, unref)"
    case .loop: "appsink in C, the same in a loop"
    case .swift: "appsink in Swift, the same"
    case .wrapping: "PipSink (wrap)"
    case .pipSink: "PipSink (wrap, route, mailbox)"
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
    case .c, .loop, .swift, .wrapping, .pipSink, .observer, .processor: "appsink"
    }
  }
}
