/// Converts the processor's counter to the time of the system's clock. It learns the conversion from pairs of both.
///
/// The counter runs evenly. How fast it runs, and how the system corrects its clock meanwhile, follows from the pairs.
/// Three pairs that agree on the speed make a ``Line``, which is valid for a tenth of a second. Every pair after that
/// begins the next line.
struct CounterCalibration {
  /// The time as a linear function of the counter, over a limited length.
  struct Line {
    let counter: UInt64
    let nanoseconds: UInt64
    /// Nanoseconds for each tick, as a fixed-point number with 32 fractional bits.
    let speed: UInt64
    /// For how many ticks the line is valid; 0 while nothing is known.
    let length: UInt64

    /// The time at a counter value; nil outside of the line.
    @inline(__always)
    func nanoseconds(at counter: UInt64) -> UInt64? {
      let ticks = counter &- self.counter
      guard ticks < length else { return nil }
      return nanoseconds &+ (ticks &* speed) >> 32
    }
  }

  private(set) var line: Line?

  private var last: (counter: UInt64, nanoseconds: UInt64)?
  /// Nanoseconds for each tick, measured between the last two pairs.
  private var speed: Double?

  /// For how many nanoseconds a line is valid.
  static let length = 100_000_000.0
  /// The time between two pairs in nanoseconds. A shorter span measures no speed, and during a longer one the machine
  /// may have slept.
  private static let spans: ClosedRange<UInt64> = 50_000_000...1_000_000_000
  /// By how much two speeds may differ, as a fraction. The system speeds its clock up or slows it down by up to 500
  /// millionths when it corrects it (adjtimex(2)).
  private static let tolerance = 0.001
  /// The nanoseconds for each tick that a counter can have, from ten gigahertz down to a hundred kilohertz.
  private static let speeds = 0.1...10_000.0

  /// From when on another pair is useful, in nanoseconds of the system's clock.
  var nextPair: UInt64 { last.map { $0.nanoseconds + Self.spans.lowerBound } ?? 0 }

  /// Takes a pair: the counter, and the system's clock at the same moment.
  ///
  /// - Returns: false when the pair contradicts earlier ones, which are then forgotten.
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

  /// Begins the next line at the clock's time, or where the last line has arrived if that is later, so that time never
  /// goes back. A line that begins ahead of the clock runs slower, so that it has lost its lead at its end.
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
