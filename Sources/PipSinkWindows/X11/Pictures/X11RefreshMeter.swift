import PipSink

/// Measures the time from one refresh of the screen to the next, by the numbers and the times of refreshes that an X
/// server tells (Present).
struct X11RefreshMeter {
  /// A refresh by its number and its begin.
  private typealias Refresh = (number: UInt64, moment: MonotonicTime)

  private var first: Refresh?
  private var last: Refresh?

  /// For how many refreshes the measurement has to last before it counts, and after how many it begins anew.
  private static let (least, most) = (UInt64(30), UInt64(6000))

  /// The time in nanoseconds; 0 while it is not known.
  private(set) var interval: UInt64 = 0

  /// Notes a refresh.
  mutating func note(_ number: UInt64, at moment: MonotonicTime) {
    guard let first, let last else { return begin(number, moment) }
    guard number > last.number else {
      // Two pictures in one refresh have the same number. Another screen counts its own.
      if number < last.number { self = X11RefreshMeter() }
      return
    }
    let count = number - first.number
    let new = moment.nanoseconds(since: first.moment) / count
    // The window may be on another screen now, or the screen may have another mode.
    if interval > 0, max(new, interval) - min(new, interval) > interval / 50 {
      self = X11RefreshMeter()
      return begin(number, moment)
    }
    self.last = (number, moment)
    if count >= Self.least { interval = new }
    if count >= Self.most { (self.first, self.last) = ((number, moment), (number, moment)) }
  }

  private mutating func begin(_ number: UInt64, _ moment: MonotonicTime) {
    (first, last) = ((number, moment), (number, moment))
  }
}
