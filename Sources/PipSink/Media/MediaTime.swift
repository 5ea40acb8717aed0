import CGStreamer

/// A time or duration of `value / timescale` seconds, with the meaning of Core Media's CMTime.
///
/// Arithmetic is exact as long as the result fits in 64 bits at the common timescale. If the common timescale is too
/// large, the result is rounded to the nearest tick of the finer one; if even that overflows, it is an infinity.
public struct MediaTime: Sendable {
  /// The kinds of times, in the order in which times of different kinds are sorted.
  package enum Kind: UInt8, Sendable {
    /// A time before all others.
    case negativeInfinity
    /// A number of ticks.
    case numeric
    /// A time after all numeric times.
    case positiveInfinity
    /// No time.
    case invalid
  }

  /// The number of ticks; 0 for an infinity and for an invalid time.
  public let value: Int64
  /// The number of ticks per second, above zero; 0 for an infinity and for an invalid time.
  public let timescale: Int32
  /// Whether the time is a number, an infinity or invalid.
  package let kind: Kind

  /// No time, for instance that of a frame without a time stamp.
  public static let invalid = MediaTime(kind: .invalid)
  /// A time after all numeric times.
  package static let positiveInfinity = MediaTime(kind: .positiveInfinity)
  /// A time before all numeric times.
  package static let negativeInfinity = MediaTime(kind: .negativeInfinity)
  /// Zero seconds.
  public static let zero = MediaTime(value: 0, timescale: 1)

  /// The timescale of GStreamer's clock times: 1,000,000,000 ticks per second.
  package static let nanosecondTimescale: Int32 = 1_000_000_000

  /// Makes a time of `value / timescale` seconds; ``invalid`` if `timescale` is not above zero.
  public init(value: Int64, timescale: Int32) {
    self.value = timescale > 0 ? value : 0
    self.timescale = timescale > 0 ? timescale : 0
    kind = timescale > 0 ? .numeric : .invalid
  }

  /// Makes a time from a GstClockTime in nanoseconds. `GST_CLOCK_TIME_NONE` (all bits set) becomes ``invalid``, and a
  /// value that does not fit in a signed 64-bit number (beyond 292 years) becomes an infinity.
  public init(clockTime: UInt64) {
    if clockTime == PIPSINK_CLOCK_TIME_NONE {
      self = .invalid
    } else if let value = Int64(exactly: clockTime) {
      self.init(value: value, timescale: Self.nanosecondTimescale)
    } else {
      self = .positiveInfinity
    }
  }

  /// Makes the time at the tick of `timescale` that is nearest to `seconds`.
  ///
  /// It is ``invalid`` if `seconds` is not a number or `timescale` is not above zero, and an infinity if the number of
  /// ticks does not fit in 64 bits.
  public init(seconds: Double, timescale: Int32 = 1_000_000_000) {
    if seconds.isNaN || timescale <= 0 {
      self = .invalid
    } else if let value = Int64(exactly: (seconds * Double(timescale)).rounded()) {
      self.init(value: value, timescale: timescale)
    } else {
      self = seconds > 0 ? .positiveInfinity : .negativeInfinity
    }
  }

  private init(kind: Kind) {
    value = 0
    timescale = 0
    self.kind = kind
  }

  /// Whether the time is of any kind except invalid.
  public var isValid: Bool { kind != .invalid }
  /// Whether the time is a number rather than an infinity or invalid.
  package var isNumeric: Bool { kind == .numeric }

  /// The time in seconds; not a number for an invalid time.
  public var seconds: Double {
    switch kind {
    case .numeric: Double(value) / Double(timescale)
    case .positiveInfinity: .infinity
    case .negativeInfinity: -.infinity
    case .invalid: .nan
    }
  }

  /// The time as a GstClockTime in nanoseconds, rounded to the nearest; nil if the time is negative or not numeric.
  public var clockTime: UInt64? {
    guard isNumeric, value >= 0 else { return nil }
    let converted = converted(to: Self.nanosecondTimescale)
    return converted.isNumeric ? converted.value.magnitude : nil
  }

  /// The same time at another timescale, rounded to the nearest tick, with halves away from zero.
  ///
  /// - Parameter newTimescale: ticks per second. If it is not above zero, the result of a numeric time is ``invalid``.
  package func converted(to newTimescale: Int32) -> MediaTime {
    guard isNumeric, newTimescale != timescale else { return self }
    guard newTimescale > 0 else { return .invalid }
    return Self.rounded(Int128(value) * Int128(newTimescale), over: Int128(timescale), timescale: newTimescale)
  }

  private static func rounded(_ numerator: Int128, over denominator: Int128, timescale: Int32) -> MediaTime {
    let half = denominator / 2
    let quotient = (numerator >= 0 ? numerator + half : numerator - half) / denominator
    guard let value = Int64(exactly: quotient) else { return numerator > 0 ? .positiveInfinity : .negativeInfinity }
    return MediaTime(value: value, timescale: timescale)
  }
}

extension MediaTime {
  /// The sum of two times. It is invalid if one of them is, or if they are opposite infinities.
  public static func + (left: MediaTime, right: MediaTime) -> MediaTime { sum(left, right, sign: 1) }

  /// The difference of two times. It is invalid if one of them is, or if they are the same infinity.
  public static func - (left: MediaTime, right: MediaTime) -> MediaTime { sum(left, right, sign: -1) }

  private static func sum(_ left: MediaTime, _ right: MediaTime, sign: Int128) -> MediaTime {
    // An infinity or an invalid time follows the rules of floating-point numbers.
    guard left.isNumeric, right.isNumeric else {
      return MediaTime(seconds: left.seconds + Double(sign) * right.seconds)
    }
    let (a, b) = (Int128(left.timescale), Int128(right.timescale))
    let common = a / greatestCommonDivisor(a, b) * b
    let sum = Int128(left.value) * (common / a) + sign * Int128(right.value) * (common / b)
    if let timescale = Int32(exactly: common), let value = Int64(exactly: sum) {
      return MediaTime(value: value, timescale: timescale)
    }
    let finer = max(left.timescale, right.timescale)
    return rounded(sum * Int128(finer), over: common, timescale: finer)
  }

  private static func greatestCommonDivisor(_ left: Int128, _ right: Int128) -> Int128 {
    var (a, b) = (left, right)
    while b != 0 { (a, b) = (b, a % b) }
    return a
  }
}

/// Times are ordered as by CMTimeCompare: negative infinity, numbers, positive infinity, invalid.
extension MediaTime: Comparable, Hashable {
  /// Whether two times are equal. Numeric times are compared by their values in seconds: 1/2 equals 500/1000.
  public static func == (left: MediaTime, right: MediaTime) -> Bool {
    left.kind == right.kind
      && (!left.isNumeric
        || Int128(left.value) * Int128(right.timescale) == Int128(right.value) * Int128(left.timescale))
  }

  /// Whether a time comes before another. The order is: negative infinity, numbers, positive infinity, invalid.
  public static func < (left: MediaTime, right: MediaTime) -> Bool {
    guard left.isNumeric, right.isNumeric else { return left.kind.rawValue < right.kind.rawValue }
    return Int128(left.value) * Int128(right.timescale) < Int128(right.value) * Int128(left.timescale)
  }

  /// Feeds the time into a hasher. Equal times have equal hashes, whatever their timescales.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    guard isNumeric else { return }
    let divisor = Self.greatestCommonDivisor(Int128(value.magnitude), Int128(timescale))
    hasher.combine(Int128(value) / divisor)
    hasher.combine(Int128(timescale) / divisor)
  }
}

extension MediaTime: CustomStringConvertible {
  /// The time as text: "value/timescale", "invalid", "+infinity" or "-infinity".
  public var description: String {
    switch kind {
    case .numeric: "\(value)/\(timescale)"
    case .invalid: "invalid"
    case .positiveInfinity: "+infinity"
    case .negativeInfinity: "-infinity"
    }
  }
}
