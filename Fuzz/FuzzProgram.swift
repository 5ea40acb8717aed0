import CGStreamer
import Glibc

/// `pipsink-fuzz TARGET [LIBFUZZER'S ARGUMENTS]`: fuzzes one group of functions that read untrusted input, with
/// libFuzzer.
///
/// A target ends the program when a check fails, and libFuzzer then writes the input to a file.
@main
enum FuzzProgram {
  private typealias Callback = @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32

  private static let targets: [(name: String, callback: Callback)] = [
    ("pipeline-file", { data, count in fuzz(data, count) { PipelineFileTarget.run($0) } }),
    ("options", { data, count in fuzz(data, count) { OptionsTarget.run($0) } }),
    ("dbus", { data, count in fuzz(data, count) { BusTarget.run($0) } }),
    ("caps", { data, count in fuzz(data, count) { CapsTarget.run($0) } }),
    ("output", { data, count in fuzz(data, count) { OutputTarget.run($0) } }),
  ]

  @MainActor
  static func main() {
    guard CommandLine.argc > 1, let target = targets.first(where: { $0.name == CommandLine.arguments[1] }) else {
      print("usage: pipsink-fuzz \(targets.map(\.name).joined(separator: "|")) [libFuzzer's arguments]")
      exit(64)
    }
    // GStreamer reports input that it refuses. These messages are of no interest here.
    gst_debug_set_default_threshold(GST_LEVEL_NONE)
    var count = CommandLine.argc - 1
    // libFuzzer takes the first argument as the program's path.
    var arguments: Arguments? = CommandLine.unsafeArgv + 1
    exit(run(&count, &arguments, target.callback))
  }

  private static func fuzz(
    _ data: UnsafePointer<UInt8>?, _ count: Int, _ body: @MainActor ([UInt8]) -> Void
  ) -> Int32 {
    let bytes = [UInt8](UnsafeBufferPointer(start: data, count: count))
    MainActor.assumeIsolated { body(bytes) }
    return 0
  }

  fileprivate typealias Arguments = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

  @_silgen_name("LLVMFuzzerRunDriver")
  private static func run(
    _ argc: UnsafeMutablePointer<Int32>, _ argv: UnsafeMutablePointer<Arguments?>, _ callback: Callback
  ) -> Int32
}

/// Ends the program if the condition is false, so that libFuzzer saves the input as a finding.
func require(_ condition: Bool, _ message: @autoclosure () -> String) {
  guard !condition else { return }
  let line = Array("oracle: \(message())\n".utf8)
  _ = write(STDERR_FILENO, line, line.count)
  abort()
}
