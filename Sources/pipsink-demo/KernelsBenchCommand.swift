import ArgumentParser
import CGStreamer
import Foundation
import PipSink

/// The time that each operation on pixels takes, beside memcpy of the same bytes and GstVideoConverter's time for the
/// same.
struct KernelsBenchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "kernels",
    abstract: "Measures every operation on pixels beside memcpy of the frame's bytes and beside GstVideoConverter.",
    discussion: """
      Each side works on eight frames in turn, more than the processor's cache holds. Times are medians, on one thread; \
      "helped" is PipSink with its helper threads.
      """)

  @Option(help: "Frames a side and round.")
  var frames = 40

  @Option(help: "Rounds; the median counts.")
  var rounds = 7

  @Flag(help: "As a table in Markdown.")
  var markdown = false

  func validate() throws {
    guard frames > 0, rounds > 0 else { throw ValidationError("--frames and --rounds take numbers above 0.") }
  }

  func run() throws {
    let cells = [
      "operation", "PipSink", "helped", "memcpy", "GstVideoConverter", "PipSink / memcpy",
      "GstVideoConverter / PipSink",
    ]
    printRow(cells)
    if markdown { printRow(cells.map { _ in "---" }) }
    for operation in KernelOperation.all { printRow(try measure(operation)) }
  }

  private func measure(_ operation: KernelOperation) throws -> [String] {
    let bench = try KernelBench(operation)
    var times: [[Double]] = [[], [], [], []]
    // In turn, so that a machine that gets slower or faster does so for all.
    for _ in 0..<rounds {
      times[0].append(try bench.pipSink(frames: frames, helped: false))
      times[1].append(try bench.pipSink(frames: frames, helped: true))
      times[2].append(bench.memcpy(frames: frames))
      if operation.hasReference { times[3].append(bench.reference(frames: frames)) }
    }
    let medians = times.map { $0.isEmpty ? nil : $0.sorted()[$0.count / 2] }
    let cells = medians.map { $0.map { String(format: "%.1f us", $0 * 1e6) } ?? "–" }
    let ours = medians[0] ?? 0
    return [operation.name] + cells + [
      medians[2].map { String(format: "%.2f", ours / $0) } ?? "–",
      medians[3].map { String(format: "%.1f", $0 / ours) } ?? "–",
    ]
  }

  private func printRow(_ cells: [String]) {
    if markdown {
      print("| \(cells.joined(separator: " | ")) |")
    } else {
      let widths = [34, 10, 10, 10, 18, 17, 28]
      print(zip(cells, widths).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }.joined(separator: " "))
    }
  }
}

/// One row of the table.
struct KernelOperation {
  let name: String
  let format: PixelFormat
  let size: PictureSize
  let output: PixelConverter.Output
  var isGrayscale = false

  /// GstVideoConverter turns no pictures, and takes no colour away.
  var hasReference: Bool { output.orientation == .upright && !isGrayscale }

  private static let hd = PictureSize(width: 1920, height: 1080)
  private static let small = PictureSize(width: 320, height: 180)

  static let all = [
    KernelOperation(name: "I420 to NV12, 1080p", format: .i420, size: hd, output: .init(pixelFormat: .nv12)),
    KernelOperation(name: "NV12 to I420, 1080p", format: .nv12, size: hd, output: .init(pixelFormat: .i420)),
    KernelOperation(name: "I420 to BGRA, 1080p", format: .i420, size: hd, output: .init(pixelFormat: .bgra)),
    KernelOperation(name: "NV12 to BGRA, 1080p", format: .nv12, size: hd, output: .init(pixelFormat: .bgra)),
    KernelOperation(name: "YUY2 to BGRA, 1080p", format: .yuy2, size: hd, output: .init(pixelFormat: .bgra)),
    KernelOperation(name: "P010 to BGRA, 1080p", format: .p010, size: hd, output: .init(pixelFormat: .bgra)),
    KernelOperation(name: "BGRA to I420, 1080p", format: .bgra, size: hd, output: .init(pixelFormat: .i420)),
    KernelOperation(
      name: "1080p I420 to 320x180 BGRA", format: .i420, size: hd, output: .init(pixelFormat: .bgra, size: small)),
    KernelOperation(
      name: "1080p NV12 to 320x180 BGRA", format: .nv12, size: hd, output: .init(pixelFormat: .bgra, size: small)),
    KernelOperation(
      name: "1080p BGRA to 320x180 BGRA", format: .bgra, size: hd, output: .init(pixelFormat: .bgra, size: small)),
    KernelOperation(
      name: "1080p P010 to 320x180 BGRA", format: .p010, size: hd, output: .init(pixelFormat: .bgra, size: small)),
    KernelOperation(
      name: "1080p I420 to 1280x720 BGRA", format: .i420, size: hd,
      output: .init(pixelFormat: .bgra, size: .init(width: 1280, height: 720))),
    KernelOperation(
      name: "640x360 I420 to 1080p BGRA", format: .i420, size: .init(width: 640, height: 360),
      output: .init(pixelFormat: .bgra, size: hd)),
    KernelOperation(
      name: "turn by 90, 1080p I420", format: .i420, size: hd, output: .init(orientation: .init(rotation: .quarter))),
    KernelOperation(
      name: "turn by 180, 1080p I420", format: .i420, size: hd, output: .init(orientation: .init(rotation: .half))),
    KernelOperation(name: "mirror, 1080p I420", format: .i420, size: hd, output: .init(orientation: .mirrored)),
    KernelOperation(
      name: "turn by 90, 1080p NV12", format: .nv12, size: hd, output: .init(orientation: .init(rotation: .quarter))),
    KernelOperation(
      name: "turn, 1080p I420 to 180x320 BGRA", format: .i420, size: hd,
      output: .init(
        pixelFormat: .bgra, size: .init(width: 180, height: 320), orientation: .init(rotation: .quarter))),
    KernelOperation(name: "grayscale, 1080p I420", format: .i420, size: hd, output: .init(), isGrayscale: true),
    KernelOperation(name: "grayscale, 1080p NV12", format: .nv12, size: hd, output: .init(), isGrayscale: true),
  ]
}
