/// Has each frame of a stream shown at the refresh of the screen that its time asks for, so that a film's pictures stay
/// for regular numbers of refreshes.
///
/// A server shows a picture at the first refresh that it can. While the frames' times drift past the refreshes, chance
/// decides for seconds whether that is one refresh or the next: some threads were faster, some slower, and a film of 30
/// frames a second is shown for 1, 3, 1 and 3 refreshes. So a frame goes to the first refresh after its own time and a
/// delay, in which frames can be drawn and reach the server. One that is ready sooner waits until it can only reach this
/// refresh. That takes less than the time of a refresh.
///
/// Nothing waits where refreshes are not known or not regular, while no frame has come so close to one that it is known
/// until when the server must have a picture, and where frames need longer than a refresh: those of a live stream with
/// much jitter are shown as they come.
struct RefreshCadence {
  /// A refresh, and the time from one to the next, in nanoseconds.
  private var refresh: (moment: Int64, interval: Int64)?
  /// How long before a refresh the server must have a picture, at least and at most.
  private var lead: (least: Int64, most: Int64) = (.min, .max)
  /// From a frame's time in its stream to its earliest arrival.
  private var arrival = RecentLeast()
  /// From a frame's time in its stream to the hand-over of its picture. It is negated, so that the longest is the least.
  private var preparation = RecentLeast()
  /// From a frame's time in its stream to the moment after which its refresh is the first one. It stays as it is for as
  /// long as possible, since with each change a picture may stay too long.
  private var delay: Int64?
  /// The frames that have waited, for which the time to their hand-over says nothing.
  private var waited: [MonotonicTime] = []
  /// From a frame's arrival to the refresh that has shown it.
  private var lag = RecentLeast()

  /// How many frames have to be known before one waits.
  private static let leastCount = 8
  /// The frames' times and arrivals differ by more after a seek.
  private static let longestJitter: Int64 = 500_000_000
  /// By how much less is known of the lead after each frame, in nanoseconds. A server may become quicker.
  private static let forgetting: Int64 = 20

  /// The times from one refresh to the next that screens have, in nanoseconds.
  private static let intervals: ClosedRange<Int64> = 1_000_000...1_000_000_000

  /// Notes when a frame was on the screen.
  ///
  /// - Parameter time: a plausible time.
  /// - Returns: the number of refreshes by which the frame came later than the quickest ones of the last seconds do,
  ///   without the one that a screen with fixed refreshes cannot avoid.
  mutating func note(_ time: ScreenTime) -> Int {
    let (received, shown) = (Int64(clamping: time.frame.receivedAt), Int64(clamping: time.shownAt))
    let handedOver = Int64(clamping: time.handedOverAt)
    let interval = Int64(clamping: time.refreshInterval)
    guard Self.intervals.contains(interval) else {
      self = RefreshCadence()
      return 0
    }
    noteRefresh(shown, interval)
    noteLead(shown - handedOver, interval)
    lag.record(shown - received)
    if let stamp = time.frame.stamp {
      if let arrival = arrival.value, abs(received - stamp - arrival) > Self.longestJitter {
        (self.arrival, preparation, delay) = (RecentLeast(), RecentLeast(), nil)
      }
      arrival.record(received - stamp)
      if let index = waited.firstIndex(of: time.frame.receivedAt) {
        waited.removeFirst(index + 1)
      } else {
        preparation.record(stamp - handedOver)
      }
    }
    return lag.value.map { Int((shown - received - $0) / interval) } ?? 0
  }

  /// Notes when a refresh was. A sixteenth of the difference from what was expected counts, because servers without a
  /// screen's own clock tell inexact times.
  private mutating func noteRefresh(_ moment: Int64, _ interval: Int64) {
    guard let refresh, abs(refresh.interval - interval) < interval / 50 else {
      if refresh != nil { self = RefreshCadence() }
      refresh = (moment, interval)
      return
    }
    let expected = refresh.moment + (moment - refresh.moment + interval / 2) / interval * interval
    let difference = moment - expected
    // The window may be on another screen.
    self.refresh = (abs(difference) > interval / 4 ? moment : expected + difference / 16, interval)
  }

  /// Notes how long before a refresh a picture was handed over that it has shown, and the refresh before has not.
  private mutating func noteLead(_ time: Int64, _ interval: Int64) {
    guard lead.most < .max else {
      lead = (time - interval, time)
      return
    }
    lead = (lead.least - Self.forgetting, lead.most + Self.forgetting)
    if time < lead.most { lead = (min(lead.least, time), time) }
    if time - interval > lead.least { lead = (time - interval, max(lead.most, time - interval)) }
  }

  /// Returns the moment from which a frame may be drawn, or nil when it may be drawn at once.
  mutating func moment(of frame: ScreenTime.Frame, at now: MonotonicTime) -> MonotonicTime? {
    guard let refresh, arrival.count >= Self.leastCount, let stamp = frame.stamp, let arrival = arrival.value,
      let longest = preparation.value.map({ -$0 })
    else { return nil }
    let interval = refresh.interval
    // A part of a refresh is for what was not seen yet.
    let margin = interval / 16
    let late = Int64(clamping: frame.receivedAt) - stamp - arrival
    guard lead.most - lead.least <= interval / (delay == nil ? 8 : 4), longest - arrival + margin < interval,
      abs(late) < interval
    else { return nil }
    let needed = longest + lead.most
    let delay = delay.flatMap { needed <= $0 && needed >= $0 - margin - interval / 8 ? $0 : nil } ?? needed + margin
    self.delay = delay
    // The refresh before the frame's own: a picture that is handed over later than this does not reach it.
    let number = Int64(ceil: stamp + delay - refresh.moment, by: interval)
    let before = refresh.moment + (number - 1) * interval - lead.least
    let moment = MonotonicTime(nanoseconds: UInt64(max(0, before)))
    guard now < moment else { return nil }
    if waited.last != frame.receivedAt { waited = waited.suffix(7) + [frame.receivedAt] }
    return moment
  }
}

/// The least of the last 64 to 128 numbers.
private struct RecentLeast {
  private var older: Int64?
  private var newer: Int64?
  private var newerCount = 0
  /// How many numbers there were.
  private(set) var count = 0

  /// The number; nil while there are none.
  var value: Int64? {
    guard let older, let newer else { return older ?? newer }
    return min(older, newer)
  }

  mutating func record(_ number: Int64) {
    if newerCount == 64 { (older, newer, newerCount) = (newer, nil, 0) }
    newer = min(newer ?? number, number)
    newerCount += 1
    count += 1
  }
}

extension ScreenTime.Frame {
  /// The presentation time in nanoseconds; nil for a frame without one. Times of more than a hundred years count as none,
  /// so that sums fit.
  fileprivate var stamp: Int64? { presentationTimeStamp.clockTime.flatMap { $0 < 1 << 62 ? Int64($0) : nil } }
}

extension Int64 {
  fileprivate init(clamping time: MonotonicTime) { self.init(clamping: time.nanoseconds) }

  /// The quotient of two numbers, the second of which is above zero, rounded up.
  fileprivate init(ceil dividend: Int64, by divisor: Int64) {
    let (quotient, remainder) = dividend.quotientAndRemainder(dividingBy: divisor)
    self = remainder > 0 ? quotient + 1 : quotient
  }
}
