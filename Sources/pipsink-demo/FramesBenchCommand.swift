import ArgumentParser
import CGStreamer
import Foundation
import GstPipSink
import PipSink

/// Frames a second through a pipeline that ends in fakesink, and through the same one that ends in PipSink.
struct FramesBenchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "frames",
    abstract: "Measures PipSink's way of a frame (wrap, route, mailbox) beside GStreamer's fakesink, in one run.")

  @Option(help: "Frames a round and variant.")
  var frames = 200_000

  @Option(help: "Rounds; the median counts.")
  var rounds = 5

  @Option(help: ArgumentHelp("The frames' size, in pixels.", valueName: "WxH"))
  var size = PictureSize(width: 1920, height: 1080)

  private enum Variant: String, CaseIterable {
    case fakesink = "fakesink"
    case wrap = "PipSink, wrapping only"
    case route = "PipSink, wrapping, routing and the mailbox of a display layer"
    case fakevideosink = "fakevideosink"
    case element = "the element pipsink surface=none"
  }

  func validate() throws {
    guard frames > 0, rounds > 0 else { throw ValidationError("--frames and --rounds take numbers above 0.") }
  }

  func run() async throws {
    try PipSinkPlugin.register()
    var rates: [Variant: [Double]] = [:]
    // In turn, so that a machine that gets slower or faster does so for all.
    for _ in 0..<rounds {
      for variant in Variant.allCases { rates[variant, default: []].append(try await framesPerSecond(variant)) }
    }
    let medians = rates.mapValues { $0.sorted()[$0.count / 2] }
    print("\(size) I420, \(frames) frames, median of \(rounds) rounds (slowest to fastest); ratio to fakesink")
    for variant in Variant.allCases {
      guard let median = medians[variant], let base = medians[.fakesink], let all = rates[variant]?.sorted() else {
        continue
      }
      let numbers = String(
        format: "%.2f  %9.0f frames/s (%.0f to %.0f)  ", median / base, median, all.first ?? 0, all.last ?? 0)
      print(numbers + variant.rawValue)
    }
    printElementRatio(medians)
  }

  /// What the element costs a frame, beside another video sink and what the library takes for wrapping.
  private func printElementRatio(_ medians: [Variant: Double]) {
    let costs = medians.mapValues { 1 / $0 }
    guard let element = costs[.element], let other = costs[.fakevideosink], let wrapped = costs[.wrap],
      let bare = costs[.fakesink]
    else { return }
    let ratio = element / (other + wrapped - bare)
    print(String(format: "%.2f  a frame's cost in pipsink to that in fakevideosink with PipSink's wrapping", ratio))
  }

  private func framesPerSecond(_ variant: Variant) async throws -> Double {
    let seconds =
      switch variant {
      case .fakesink: try runBare("\(source) ! fakesink")
      case .wrap: try await run { _ in DiscardingConsumer() }
      case .route: try await run(through: FrameRouter())
      case .fakevideosink: try runBare("\(source) ! fakevideosink sync=false")
      case .element: try runBare("\(source) ! pipsink surface=none sync=false")
      }
    return Double(frames) / seconds
  }

  /// The frames are not filled: what is measured is the way of a frame, not its making.
  private var source: String {
    let bytes = size.width * size.height * 3 / 2
    return "fakesrc num-buffers=\(frames) sizetype=fixed sizemax=\(bytes) filltype=nothing "
      + "! video/x-raw,format=I420,width=\(size.width),height=\(size.height),framerate=30/1"
  }

  private func run(through router: FrameRouter) async throws -> Double {
    let layer = SampleBufferDisplayLayer(name: "bench")
    return try await run { router.addStream($0, inApp: layer) }
  }

  private func run(deliveringTo consumers: (StreamID) -> any SampleBufferConsumer) async throws -> Double {
    let engine = try VideoEngine(.text("\(source) ! appsink name=a sync=false"))
    let events = engine.events()
    let start = MonotonicTime.now
    try engine.start(deliveringTo: consumers)
    var failure: PipSinkError?
    for await event in events {
      if case .streamStateChanged(_, .failed(let error)) = event { failure = error }
      if case .finished = event { break }
    }
    let end = MonotonicTime.now
    engine.stop()
    if let failure { throw failure }
    return Double(end.nanoseconds(since: start)) / 1e9
  }

  /// The same without PipSink.
  private func runBare(_ description: String) throws -> Double {
    guard let pipeline = gst_parse_launch(description, nil) else { throw PipSinkError.emptyPipeline }
    gst_object_ref_sink(pipeline)
    let bus = gst_element_get_bus(pipeline)
    defer {
      gst_element_set_state(pipeline, GST_STATE_NULL)
      gst_object_unref(bus)
      gst_object_unref(pipeline)
    }
    let start = MonotonicTime.now
    gst_element_set_state(pipeline, GST_STATE_PLAYING)
    let wanted = GstMessageType(GST_MESSAGE_EOS.rawValue | GST_MESSAGE_ERROR.rawValue)
    guard let message = gst_bus_timed_pop_filtered(bus, PIPSINK_CLOCK_TIME_NONE, wanted) else {
      throw PipSinkError.stateChangeFailed(pipeline: description)
    }
    defer { gst_message_unref(message) }
    guard message.pointee.type == GST_MESSAGE_EOS else { throw PipSinkError.stateChangeFailed(pipeline: description) }
    return Double(MonotonicTime.now.nanoseconds(since: start)) / 1e9
  }
}

private final class DiscardingConsumer: SampleBufferConsumer {
  func consume(_ sampleBuffer: SampleBuffer) {}
}
