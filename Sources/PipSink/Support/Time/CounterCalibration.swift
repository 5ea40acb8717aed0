/// What the processor's counter says of the time on the system's clock, learned from pairs of both.
///
/// The counter runs evenly; how fast, and how the system corrects its clock meanwhile, the pairs tell. Three of them
/// that agree on the speed make a ``Line``, good for a tenth of a second, and every pair after that begins the next one.
struct CounterCalibration {
  /// Time as a straight line over the counter.
  struct Line {
    let counter: UInt64
    let nanoseconds: UInt64
    /// Nanoseconds a tick, in parts of 2³².
    let speed: UInt64
    /// Ticks that it is good for; 0 where nothing is known.
    let length: UInt64

    /// Nil before the line and behind it.
    @inline(__always)
    func nanoseconds(at counter: UInt64) -> UInt64? {
      let ticks = counter &- self.counter
      guard ticks < length else { return nil }
      return nanoseconds &+ (ticks &* speed) >> 32
    }
  }

  private(set) var line: Line?

  private var last: (counter: UInt64, nanoseconds: UInt64)?
  /// Nanoseconds a tick, as the last two pairs had it.
  private var speed: Double?

  /// Nanoseconds that a line is good for.
  static let length = 100_000_000.0
  /// Between two pairs, nanoseconds: what is less measures no speed, and over more the machine may have slept.
  private static let spans: ClosedRange<UInt64> = 50_000_000...1_000_000_000
  /// How far two speeds may be apart, as a part of one. The system makes its clock faster or slower by up to 500
  /// millionths when it corrects it (adjtimex(2)).
  private static let tolerance = 0.001
  /// Nanoseconds a tick that a counter can have: of ten gigahertz to a hundred kilohertz.
  private static let speeds = 0.1...10_000.0

  /// When the next pair tells something, in nanoseconds of the system's clock.
  var nextPair: UInt64 { last.map { $0.nanoseconds + Self.spans.lowerBound } ?? 0 }

  /// Takes a pair: the counter, and the system's clock at the same moment.
  ///
  /// - Returns: false if it contradicts those before, which are then forgotten.
  mutating func note(counter: UInt64, nanoseconds: UInt64) -> Bool {
    guard let last else {
      last = (counter, nanoseconds)
      return true
    }
    guard counter > last.counter, nanoseconds >= last.nanoseconds else { return startAgain() }
    let span = nanoseconds - last.nanoseconds
    guard span >= Self.spans.lowerBound else { return true }
    let before = speed
    if span <= Self.spans.upperBound {
      let measured = Double(span) / Double(counter - last.counter)
      let agrees = before.map { abs(measured / $0 - 1) <= Self.tolerance } ?? true
      guard Self.speeds.contains(measured), agrees else { return startAgain() }
      speed = measured
    }
    self.last = (counter, nanoseconds)
    guard before != nil, let speed else { return true }
    return draw(counter, nanoseconds, speed)
  }

  /// The next line begins where the clock is, or where the last one has come to: it does not go back. What it is ahead
  /// it loses on its length.
  private mutating func draw(_ counter: UInt64, _ nanoseconds: UInt64, _ speed: Double) -> Bool {
    let reached = line.flatMap { $0.nanoseconds(at: min(counter, $0.counter &+ $0.length &- 1)) } ?? 0
    let ahead = reached > nanoseconds ? Double(reached - nanoseconds) : 0
    guard ahead <= Self.length * Self.tolerance else { return startAgain() }
    let corrected = speed * (1 - ahead / Self.length)
    line = Line(
      counter: counter, nanoseconds: max(reached, nanoseconds), speed: UInt64(corrected * 0x1p32),
      length: UInt64(Self.length / speed))
    return true
  }

  private mutating func startAgain() -> Bool {
    self = CounterCalibration()
    return false
  }
}
