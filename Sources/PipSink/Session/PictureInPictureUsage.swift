/// The resources that the process has used while a session's picture-in-picture was active.
public struct PictureInPictureUsage: Equatable, Sendable {
  /// How long picture-in-picture has been active in total.
  public var duration = Duration.zero
  /// The processor time of all threads during that time, in the program and in the kernel on its behalf.
  public var cpuTime = Duration.zero
  /// The largest resident set during that time, in bytes. It is sampled once a second.
  public var residentBytes = 0

  /// How many processors were busy on average; 0 where picture-in-picture was never active.
  package var processorShare: Double { duration > .zero ? cpuTime / duration : 0 }
}

/// Measures what the process uses while picture-in-picture is active.
@MainActor
final class PictureInPictureMeter {
  /// The usage in the times that are over.
  private var finished = PictureInPictureUsage()
  private var start: (time: MonotonicTime, cpuTime: Duration)?
  private var timer: Task<Void, Never>?

  /// The usage up to now.
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
      while (try? await Task.sleep(for: .seconds(1))) != nil, !Task.isCancelled { self?.look() }
    }
  }

  func end() {
    finished = usage
    start = nil
    timer?.cancel()
    timer = nil
  }

  /// Samples the resident set.
  private func look() { finished.residentBytes = usage.residentBytes }

  isolated deinit { timer?.cancel() }
}
