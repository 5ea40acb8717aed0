/// Makes frame processors by their names, for instance for command-line options. Any thread may use it.
public final class FrameProcessorRegistry: Sendable {
  /// A kind of processor.
  public struct Entry: Sendable {
    /// The name of the processor.
    package let name: String
    /// A description of what the processor does, in one line.
    package let summary: String
    /// A description of its argument for users, for instance "N, a whole number above 0"; nil if it has none.
    package let argument: String?
    /// Makes a processor for one stream; returns nil for an invalid argument.
    package let make: @Sendable (_ argument: String?) -> (any FrameProcessor)?

    /// Makes an entry.
    ///
    /// - Parameters:
    ///   - name: the name of the processor.
    ///   - summary: a description of what the processor does, in one line.
    ///   - argument: a description of its argument for users; nil if it has none.
    ///   - make: makes a processor for one stream; returns nil for an invalid argument.
    public init(
      name: String, summary: String, argument: String? = nil,
      make: @escaping @Sendable (_ argument: String?) -> (any FrameProcessor)?
    ) {
      self.name = name
      self.summary = summary
      self.argument = argument
      self.make = make
    }
  }

  /// The shared registry, which the command line, the element and the bus use. An app may add its own processors to it.
  public static let shared = FrameProcessorRegistry()

  private let state: Locked<[Entry]>

  /// Makes a registry with the built-in processors.
  package init() {
    state = Locked(Self.builtIn)
  }

  /// All entries, sorted by name.
  package var entries: [Entry] { state.withLock { $0 }.sorted { $0.name < $1.name } }

  /// Adds an entry, which replaces an entry with the same name.
  public func register(_ entry: Entry) {
    state.withLock { entries in
      entries.removeAll { $0.name == entry.name }
      entries.append(entry)
    }
  }

  /// Makes a processor for one stream.
  ///
  /// - Parameters:
  ///   - name: the name of an entry.
  ///   - argument: the processor's argument; nil for none.
  /// - Throws: ``PipSinkError/Frame/unknownProcessor(_:known:)``,
  ///   ``PipSinkError/Frame/invalidProcessorArgument(processor:argument:expected:)``.
  package func makeProcessor(named name: String, argument: String? = nil) throws(PipSinkError) -> any FrameProcessor {
    guard let entry = entries.first(where: { $0.name == name }) else {
      throw .frame(.unknownProcessor(name, known: entries.map(\.name)))
    }
    let isUnwanted = entry.argument == nil && argument != nil
    guard !isUnwanted, let processor = entry.make(argument) else {
      throw .frame(
        .invalidProcessorArgument(
          processor: name, argument: argument, expected: entry.argument ?? "no argument"))
    }
    return processor
  }

  /// Makes the processors for one stream that a text names in order, for instance `grayscale,rotate:90`.
  ///
  /// - Parameter text: names separated by commas, each with an optional argument after a colon. If it is empty, there
  ///   are no processors.
  /// - Throws: ``PipSinkError/Frame/unknownProcessor(_:known:)``,
  ///   ``PipSinkError/Frame/invalidProcessorArgument(processor:argument:expected:)``.
  public func makeProcessors(_ text: String) throws(PipSinkError) -> [any FrameProcessor] {
    var processors: [any FrameProcessor] = []
    for call in text.parts(between: ",") where !call.isEmpty {
      let parts = call.divided(at: ":")
      let (name, argument) = (parts?.before ?? call, parts?.behind)
      let strip = { (text: String) in String(text.drop { $0 == " " }) }
      processors.append(try makeProcessor(named: strip(name), argument: argument.map(strip)))
    }
    return processors
  }

  private static let formatNames = PixelFormat.allCases.map(\.rawValue).joined(separator: ", ")

  private static let builtIn = [
    Entry(
      name: "decimate", summary: "passes every Nth frame and drops the others", argument: "N, a whole number above 0"
    ) {
      argument in
      argument.flatMap { Int($0) }.flatMap { $0 > 0 ? FrameDecimator(every: $0) : nil }
    },
    Entry(
      name: "limit-rate", summary: "limits the number of frames per second by dropping frames evenly",
      argument: "a number of frames per second above 0"
    ) { argument in
      argument.flatMap { Double($0) }.flatMap { FrameRateLimiter(maximumRate: $0) }
    },
    Entry(name: "grayscale", summary: "removes the colours") { _ in GrayscaleProcessor() },
    Entry(
      name: "rotate", summary: "rotates the pixels clockwise, or as the stream's tag and the frame's meta say",
      argument: "90, 180, 270 or auto"
    ) { argument in
      if argument == "auto" { return RotationProcessor(.automatic) }
      return argument.flatMap { Int($0) }.flatMap { VideoOrientation.Rotation(rawValue: $0) }
        .flatMap { $0 == .none ? nil : RotationProcessor(.fixed($0)) }
    },
    Entry(
      name: "mirror", summary: "exchanges left and right (horizontal) or top and bottom (vertical)",
      argument: "horizontal or vertical"
    ) { argument in
      argument.flatMap { MirrorProcessor.Direction(rawValue: $0) }.map { MirrorProcessor($0) }
    },
    Entry(name: "nv12", summary: "converts all frames to NV12") { _ in PixelFormatProcessor(.nv12) },
    Entry(name: "format", summary: "converts all frames to one pixel format", argument: formatNames) { argument in
      PixelFormat.allCases.first { $0.rawValue.lowercased() == argument?.lowercased() }.map { PixelFormatProcessor($0) }
    },
  ]
}
