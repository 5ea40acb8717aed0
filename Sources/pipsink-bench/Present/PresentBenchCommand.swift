import ArgumentParser
import PipSink
import PipSinkCommandLine
import PipSinkWindows

/// Measures the processor time for showing 1080p streams on surfaces of several sizes.
struct PresentBenchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "present",
    abstract: "Measures the processor time of a picture in memory and in windows beside GStreamer's sinks.",
    discussion: """
      A picture in memory is rendered with the linear filter, and compared with memcpy of the bytes that are read and \
      written. Each size is measured in a new process in every round. The time of a window is that of the program and \
      of the display server, without the time of the source. X11 windows are shown on DISPLAY, or on an Xvfb that is \
      started for this; Wayland windows are shown on WAYLAND_DISPLAY. The widget of GTK 4 is a GtkPicture with the \
      element's paintable in a Python program, also on DISPLAY or an Xvfb; GSK_RENDERER chooses GTK's renderer, which \
      is cairo by default.
      """)

  enum Surface: String, CaseIterable, ExpressibleByArgument {
    case offscreen, x11, wayland, gtk4

    /// The surfaces that are measured by default, which need no toolkit.
    static let usual: [Surface] = [.offscreen, .x11, .wayland]

    /// The sinks of GStreamer with which PipSink is compared, and the elements of their pipelines. `%` stands for caps
    /// with the window's size.
    var alternatives: [(sink: String, elements: String)] {
      switch self {
      case .offscreen: []
      case .x11:
        [
          ("ximagesink", "videoscale ! videoconvert ! % ! ximagesink"),
          ("ximagesink", "videoconvertscale ! % ! ximagesink"),
          ("glimagesink", "videoscale ! % ! glimagesink"),
          ("gtksink", "videoscale ! videoconvert ! % ! gtksink"),
        ]
      case .wayland:
        [
          ("waylandsink", "videoscale ! videoconvert ! % ! waylandsink"),
          ("glimagesink", "videoscale ! % ! glimagesink"),
        ]
      case .gtk4:
        [
          ("gtk4paintablesink", "videoconvertscale ! gtk4paintablesink"),
          ("gtk4paintablesink", "videoconvertscale ! % ! gtk4paintablesink"),
          ("gtksink", "videoconvertscale ! gtksink"), ("gtksink", "videoconvertscale ! % ! gtksink"),
        ]
      }
    }
  }

  @OptionGroup var options: BenchOptions

  @Option(help: "Measure only this surface. Repeatable; all but gtk4 by default.")
  var surface: [Surface] = []

  @Option(help: "The pixel format of the frames, as in caps. Repeatable; I420 and NV12 by default.")
  var format: [PixelFormat] = []

  @Option(help: ArgumentHelp("The sizes of the surfaces, in pixels.", valueName: "WxH,..."))
  var sizes = CommaList([
    PictureSize(width: 320, height: 180), PictureSize(width: 640, height: 360), PictureSize(width: 1280, height: 720),
    PictureSize(width: 1920, height: 1080),
  ])

  @Option(
    help: """
      Who draws PipSink's frames in windows of its own, as in "pipsink-demo play --renderer". Repeatable; by default \
      the demo decides.
      """)
  var renderer: [WindowRenderer] = []

  @Option(help: "The frames a second in windows.")
  var rate = 30

  @Option(help: "How many seconds to watch each window in a round.")
  var seconds = 3.0

  @Option(help: "The frames for each round in memory.")
  var frames = 60

  func validate() throws {
    try OptionRange.measurement.check(seconds, "--seconds")
    try OptionRange.frames.check(frames, "--frames")
    try OptionRange.rate.check(rate, "--rate")
  }

  func run() async throws {
    try await options.report {
      try PipSink.initialize()
      if options.isAlone { return try await measureAlone() }
      let processes = OwnProcesses()
      var samples = Samples()
      var remarks: [String] = []
      for surface in surface.isEmpty ? Surface.usual : surface {
        switch surface {
        case .offscreen: try await measureOffscreen(&samples, in: processes)
        case .x11, .wayland, .gtk4:
          do {
            let display = try surface == .wayland ? PresentDisplay.wayland() : PresentDisplay.x11()
            remarks += try await measureWindows(surface, on: display, &samples, in: processes)
          } catch let error as CommandError where error.status == .unavailable && self.surface.isEmpty {
            remarks.append("\(surface.rawValue) was not measured: \(error.message)")
          }
        }
      }
      return BenchResult("present", samples, processes: processes, remarks: remarks)
    }
  }

  private var formats: [PixelFormat] { format.isEmpty ? [.i420, .nv12] : format }
  private static let source = PictureSize(width: 1920, height: 1080)

  private func measureOffscreen(_ samples: inout Samples, in processes: OwnProcesses) async throws {
    let parts = formats.flatMap { format in
      sizes.values.map { size in
        BenchPart(
          name: Self.offscreenName(format, size),
          arguments: [
            "--surface", Surface.offscreen.rawValue, "--format", format.rawValue, "--sizes", "\(size)", "--frames",
            "\(frames)",
          ])
      }
    }
    try await processes.measure(parts, of: "present", rounds: options.rounds) { samples.add($0) }
  }

  /// Measures one size of a picture in memory, in this process.
  private func measureAlone() async throws -> BenchResult {
    guard try options.alone(surface) == .offscreen else {
      throw CommandError(.usage, "--alone is for pictures in memory; windows are always measured in other processes")
    }
    let (format, size) = (try options.alone(formats), try options.alone(sizes.values))
    let name = Self.offscreenName(format, size)
    let bench = try await OffscreenPresent(format, from: Self.source, to: size)
    let (ours, memcpy) = try bench.measure(frames)
    var samples = Samples()
    samples.add(ours / memcpy, name, "PipSink / memcpy", unit: "ratio")
    samples.add(ours * 1e3, name, "PipSink, ms", unit: "ms")
    samples.add(memcpy * 1e3, name, "memcpy, ms", unit: "ms", isReference: true)
    return BenchResult("present", samples)
  }

  private static func offscreenName(_ format: PixelFormat, _ size: PictureSize) -> String {
    "offscreen, \(format.rawValue) to \(size)"
  }

  /// - Returns: remarks on the display server, and on what could not be measured.
  private func measureWindows(
    _ surface: Surface, on display: PresentDisplay, _ samples: inout Samples, in processes: OwnProcesses
  ) async throws -> [String] {
    var (there, missing) = (
      surface.alternatives.filter { ElementInspection.exists($0.sink) },
      surface.alternatives.filter { !ElementInspection.exists($0.sink) }.map {
        "\($0.sink) was not measured: GStreamer does not have it here"
      }
    )
    let ways = surface == .gtk4 || renderer.isEmpty ? [nil] : renderer.map(Optional.some)
    let progress = BenchProgress(
      total: options.rounds * formats.count * (1 + sizes.values.count * (ways.count + there.count)))
    for _ in 0..<options.rounds {
      for format in formats {
        let source = StillSource(size: Self.source, format: format, rate: rate)
        func time(_ program: PresentProgram) async throws -> Double {
          try await progress.run("\(surface.rawValue), \(format.rawValue): \(program.title)") {
            try await program.measure(on: display, seconds: seconds, in: processes) / Double(rate)
          }
        }
        let base = try await time(.base(source))
        for size in sizes.values {
          let name = "\(surface.rawValue), \(format.rawValue) to \(size)"
          var ours: [(title: String, time: Double)] = []
          for way in ways {
            let program =
              surface == .gtk4
              ? PresentProgram.widget(source, window: size) : PresentProgram.pipSink(source, window: size, way)
            ours.append((program.title, try await time(program) - base))
          }
          var theirs: [(title: String, time: Double)] = []
          for alternative in there {
            let program =
              surface == .gtk4
              ? PresentProgram.widget(source, alternative.elements, window: size)
              : PresentProgram.gstreamer(source, alternative.elements, window: size)
            do {
              theirs.append((program.title, try await time(program) - base))
            } catch let error as CommandError where error.status == .failed {
              // A sink that does not work here must not prevent the numbers of the others.
              there.removeAll { $0.elements == alternative.elements }
              missing.append("\(alternative.sink) was not measured any more: \(error.message)")
            }
          }
          let best = theirs.map(\.time).min() ?? 0
          for own in ours {
            if best > 0 { samples.add(own.time / best, name, "\(own.title) / the best of GStreamer", unit: "ratio") }
            for (title, time) in theirs where surface == .gtk4 && time > 0 {
              samples.add(own.time / time, name, "\(own.title) / \(title)", unit: "ratio")
            }
          }
          for (title, time) in ours { samples.add(time, name, "\(title), ms", unit: "ms") }
          for (title, time) in theirs { samples.add(time, name, "\(title), ms", unit: "ms", isReference: true) }
        }
      }
    }
    let server = display.name.map { "on \($0), whose time is counted" } ?? "the display server's time could not be seen"
    return ["\(surface.rawValue): \(server)"] + missing
  }
}
