/// Frame processors by name, for options and settings that name them. May be used from every thread.
public final class FrameProcessorRegistry: Sendable {
  /// One kind of processor.
  public struct Entry: Sendable {
    public let name: String
    /// What it does, in a line.
    public let summary: String
    /// What its argument is, for people: "N, a whole number above 0"; nil when it takes none.
    public let argument: String?
    /// Makes one for one stream; nil when the argument does not fit.
    public let make: @Sendable (_ argument: String?) -> (any FrameProcessor)?

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

  /// The registry that the built-in processors are in; an app adds its own.
  public static let shared = FrameProcessorRegistry()

  private let state: Locked<[Entry]>

  public init() {
    state = Locked(Self.builtIn)
  }

  /// All entries, in the order of their names.
  public var entries: [Entry] { state.withLock { $0 }.sorted { $0.name < $1.name } }

  /// Adds an entry; one of the same name is replaced.
  public func register(_ entry: Entry) {
    state.withLock { entries in
      entries.removeAll { $0.name == entry.name }
      entries.append(entry)
    }
  }

  /// A new processor, for one stream.
  ///
  /// - Throws: ``PipSinkError/Frame/unknownProcessor(_:known:)``,
  ///   ``PipSinkError/Frame/invalidProcessorArgument(processor:argument:expected:)``.
  public func makeProcessor(named name: String, argument: String? = nil) throws(PipSinkError) -> any FrameProcessor {
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

  /// New processors for one stream, first to last, as text names them: `grayscale,rotate:90`; none where it is empty.
  ///
  /// - Throws: as ``makeProcessor(named:argument:)``.
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
    Entry(name: "decimate", summary: "lets every Nth frame through", argument: "N, a whole number above 0") {
      argument in
      argument.flatMap { Int($0) }.flatMap { $0 > 0 ? FrameDecimator(every: $0) : nil }
    },
    Entry(
      name: "limit-rate", summary: "lets at most so many frames a second through, evenly",
      argument: "a number of frames a second above 0"
    ) { argument in
      argument.flatMap { Double($0) }.flatMap { FrameRateLimiter(maximumRate: $0) }
    },
    Entry(name: "grayscale", summary: "takes the colour away") { _ in GrayscaleProcessor() },
    Entry(
      name: "rotate", summary: "turns the pixels clockwise, or as the stream's tag and the frame's meta say",
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
    Entry(name: "nv12", summary: "makes NV12 of every other format") { _ in PixelFormatProcessor(.nv12) },
    Entry(name: "format", summary: "makes one pixel format of every other", argument: formatNames) { argument in
      PixelFormat.allCases.first { $0.rawValue.lowercased() == argument?.lowercased() }.map { PixelFormatProcessor($0) }
    },
  ]
}
