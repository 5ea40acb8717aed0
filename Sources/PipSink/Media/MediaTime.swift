import CGStreamer

/// A time or duration as a fraction of a second, with CMTime's meaning: `value / timescale` seconds.
///
/// Arithmetic is exact as long as the result fits in 64 bits over the common timescale; it rounds to the nearest tick
/// of the finer timescale where the common one would be too large, and goes to an infinity where even that overflows.
public struct MediaTime: Sendable {
  /// The kinds are in the order of their times.
  public enum Kind: UInt8, Sendable { case negativeInfinity, numeric, positiveInfinity, indefinite, invalid }

  /// Ticks. Meaningless unless ``kind`` is numeric.
  public let value: Int64
  /// Ticks a second, above zero. Meaningless unless ``kind`` is numeric.
  public let timescale: Int32
  public let kind: Kind

  /// No time at all, as of a frame without a time stamp.
  public static let invalid = MediaTime(kind: .invalid)
  /// A time that exists but is not known, such as a live stream's duration.
  public static let indefinite = MediaTime(kind: .indefinite)
  public static let positiveInfinity = MediaTime(kind: .positiveInfinity)
  public static let negativeInfinity = MediaTime(kind: .negativeInfinity)
  public static let zero = MediaTime(value: 0, timescale: 1)

  /// The timescale of GStreamer's clock times.
  public static let nanosecondTimescale: Int32 = 1_000_000_000

  /// `value / timescale` seconds; ``invalid`` when `timescale` is not above zero.
  public init(value: Int64, timescale: Int32) {
    self.value = timescale > 0 ? value : 0
    self.timescale = timescale > 0 ? timescale : 0
    kind = timescale > 0 ? .numeric : .invalid
  }

  /// A GstClockTime: nanoseconds, with `GST_CLOCK_TIME_NONE` (all bits set) as ``invalid``. What does not fit in a
  /// signed 64-bit count of nanoseconds (beyond 292 years) is ``positiveInfinity``.
  public init(clockTime: UInt64) {
    if clockTime == PIPSINK_CLOCK_TIME_NONE {
      self = .invalid
    } else if let value = Int64(exactly: clockTime) {
      self.init(value: value, timescale: Self.nanosecondTimescale)
    } else {
      self = .positiveInfinity
    }
  }

  /// The nearest tick of `timescale` to `seconds`.
  public init(seconds: Double, timescale: Int32 = nanosecondTimescale) {
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

  public var isValid: Bool { kind != .invalid }
  public var isNumeric: Bool { kind == .numeric }
  public var isIndefinite: Bool { kind == .indefinite }

  /// Seconds; not a number when invalid or indefinite.
  public var seconds: Double {
    switch kind {
    case .numeric: Double(value) / Double(timescale)
    case .positiveInfinity: .infinity
    case .negativeInfinity: -.infinity
    case .invalid, .indefinite: .nan
    }
  }

  /// As a GstClockTime in nanoseconds, rounded to the nearest; nil where that has no such time (negative, not numeric).
  public var clockTime: UInt64? {
    guard isNumeric, value >= 0 else { return nil }
    let converted = converted(to: Self.nanosecondTimescale)
    return converted.isNumeric ? converted.value.magnitude : nil
  }

  /// The same time in another timescale, rounded to the nearest tick, halves away from zero.
  public func converted(to newTimescale: Int32) -> MediaTime {
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
  public static func + (left: MediaTime, right: MediaTime) -> MediaTime {
    switch (left.kind, right.kind) {
    case (.numeric, .numeric): return addNumeric(left, right)
    case (.invalid, _), (_, .invalid): return .invalid
    case (.indefinite, _), (_, .indefinite): return .indefinite
    case (.positiveInfinity, .negativeInfinity), (.negativeInfinity, .positiveInfinity): return .invalid
    case (.numeric, _): return right
    default: return left
    }
  }

  public static func - (left: MediaTime, right: MediaTime) -> MediaTime {
    // -Int64.min has no 64-bit value, so a numeric right side is subtracted rather than negated and added.
    left.isNumeric && right.isNumeric ? addNumeric(left, right, sign: -1) : left + (-right)
  }

  public static prefix func - (time: MediaTime) -> MediaTime {
    switch time.kind {
    case .numeric:
      time.value == .min ? .positiveInfinity : MediaTime(value: -time.value, timescale: time.timescale)
    case .positiveInfinity: .negativeInfinity
    case .negativeInfinity: .positiveInfinity
    case .invalid, .indefinite: time
    }
  }

  public static func * (time: MediaTime, factor: Int32) -> MediaTime {
    switch time.kind {
    case .numeric:
      return rounded(Int128(time.value) * Int128(factor), over: 1, timescale: time.timescale)
    case .positiveInfinity, .negativeInfinity:
      return factor == 0 ? .invalid : factor > 0 ? time : -time
    case .invalid, .indefinite:
      return time
    }
  }

  private static func addNumeric(_ left: MediaTime, _ right: MediaTime, sign: Int128 = 1) -> MediaTime {
    let a = Int128(left.timescale)
    let b = Int128(right.timescale)
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

/// Ordered as CMTimeCompare orders: negative infinity, numbers, positive infinity, indefinite, invalid. Equal times are
/// equal whatever their timescales: 1/2 is 500/1000.
extension MediaTime: Comparable, Hashable {
  public static func == (left: MediaTime, right: MediaTime) -> Bool {
    left.kind == right.kind
      && (!left.isNumeric
        || Int128(left.value) * Int128(right.timescale) == Int128(right.value) * Int128(left.timescale))
  }

  public static func < (left: MediaTime, right: MediaTime) -> Bool {
    guard left.isNumeric, right.isNumeric else { return left.kind.rawValue < right.kind.rawValue }
    return Int128(left.value) * Int128(right.timescale) < Int128(right.value) * Int128(left.timescale)
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    guard isNumeric else { return }
    let divisor = Self.greatestCommonDivisor(Int128(value.magnitude), Int128(timescale))
    hasher.combine(Int128(value) / divisor)
    hasher.combine(Int128(timescale) / divisor)
  }
}

extension MediaTime: CustomStringConvertible {
  public var description: String {
    switch kind {
    case .numeric: "\(value)/\(timescale)"
    case .invalid: "invalid"
    case .indefinite: "indefinite"
    case .positiveInfinity: "+infinity"
    case .negativeInfinity: "-infinity"
    }
  }
}
