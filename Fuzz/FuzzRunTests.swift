import CGStreamer
import Glibc
import Testing

/// The name of the target to fuzz, and libFuzzer's arguments; nil where libFuzzer is not to run.
private let fuzzArguments = getenv("PIPSINK_FUZZ_ARGUMENTS").map {
  String(cString: $0).split(separator: " ").map(String.init)
}

/// Runs libFuzzer on one target until its time is over. `scripts/fuzz.sh` builds the tests with libFuzzer for this.
@MainActor
@Suite(.enabled(if: fuzzArguments != nil, "make fuzz runs it"))
struct FuzzRunTests {
  private typealias Callback = @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
  private typealias Arguments = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
  private typealias Driver =
    @convention(c) (UnsafeMutablePointer<Int32>, UnsafeMutablePointer<Arguments?>, Callback) -> Int32

  private static var target: @MainActor ([UInt8]) -> Void = { _ in }

  /// libFuzzer ends the process itself: with 0 when the time is over, and otherwise after it has written the input that
  /// a check has failed for to a file.
  @Test func noInputMakesACheckFail() throws {
    let arguments = try #require(fuzzArguments)
    Self.target = try #require(FuzzTargets.all[arguments.first ?? ""], "there is no such target")
    let driver = try #require(dlsym(nil, "LLVMFuzzerRunDriver"), "the tests were built without libFuzzer")
    // GStreamer reports input that it refuses. These messages are of no interest here.
    gst_debug_set_default_threshold(GST_LEVEL_NONE)
    var count = Int32(arguments.count)
    // libFuzzer takes the first argument as the program's path.
    var texts = arguments.map { strdup($0) } + [nil]
    _ = texts.withUnsafeMutableBufferPointer { texts in
      var pointer = texts.baseAddress
      return unsafeBitCast(driver, to: Driver.self)(&count, &pointer) { data, count in
        let bytes = [UInt8](UnsafeBufferPointer(start: data, count: count))
        MainActor.assumeIsolated { FuzzRunTests.target(bytes) }
        return 0
      }
    }
  }
}

/// Records a failed check of a target as an issue of the test. Under libFuzzer it ends the process, so that libFuzzer
/// saves the input.
func require(_ condition: Bool, _ message: @autoclosure () -> String) {
  guard !condition else { return }
  guard fuzzArguments != nil else {
    Issue.record("\(message())")
    return
  }
  let line = Array("oracle: \(message())\n".utf8)
  _ = write(STDERR_FILENO, line, line.count)
  abort()
}
