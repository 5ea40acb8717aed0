/// Checks `condition` until it holds: after a millisecond at first, and then less often, down to every 20 milliseconds.
///
/// - Returns: false when the condition does not hold within `seconds`, or when the test is cancelled.
func eventually(
  within seconds: Double = 60, isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Bool
) async rethrows -> Bool {
  let deadline = ContinuousClock.now + .seconds(seconds)
  var pause = 1
  while try await !condition() {
    if ContinuousClock.now > deadline || Task.isCancelled { return false }
    try? await Task.sleep(for: .milliseconds(pause))
    pause = min(2 * pause, 20)
  }
  return true
}
