/// What the process has used while a session's picture-in-picture was active.
public struct PictureInPictureUsage: Equatable, Sendable {
  /// For how long it has been active, all times together.
  public var duration = Duration.zero
  /// The processor time of all threads meanwhile, in the program and in the kernel for it.
  public var cpuTime = Duration.zero
  /// The largest resident set that was seen meanwhile, in bytes; looked at once a second.
  public var residentBytes = 0

  /// How many processors were busy on average; 0 where there was no time.
  public var processorShare: Double { duration > .zero ? cpuTime / duration : 0 }
}

/// Measures it.
@MainActor
final class PictureInPictureMeter {
  /// Of the times that are over.
  private var finished = PictureInPictureUsage()
  private var start: (time: MonotonicTime, cpuTime: Duration)?
  private var timer: Task<Void, Never>?

  /// Up to now.
  var usage: PictureInPictureUsage {
    guard let start else { return finished }
    let now = ResourceUsage.current
    var usage = finished
    usage.duration += start.time.duration(to: .now)
    usage.cpuTime += now.cpuTime - start.cpuTime
    usage.residentBytes = max(usage.residentBytes, now.residentBytes)
    return usage
  }

  func begin() {
    guard start == nil else { return }
    start = (.now, ResourceUsage.current.cpuTime)
    look()
    timer = Task { [weak self] in
      while (try? await Task.sleep(for: .seconds(1))) != nil { self?.look() }
    }
  }

  func end() {
    finished = usage
    start = nil
    timer?.cancel()
    timer = nil
  }

  private func look() { finished.residentBytes = usage.residentBytes }

  isolated deinit { timer?.cancel() }
}
