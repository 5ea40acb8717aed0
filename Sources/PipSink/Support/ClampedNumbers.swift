extension Int {
  /// The nearest whole number, or the nearest that an `Int` has; 0 of what is no number. For sizes and places that are
  /// computed with numbers of others, which may be beyond all bounds.
  package init(nearest value: Double) {
    let rounded = value.rounded()
    self = Int(exactly: rounded) ?? (rounded.isNaN ? 0 : rounded < 0 ? .min : .max)
  }
}

extension Duration {
  /// So many seconds, from none to 31 years: a `Duration` cannot be made of every number, and not all that can be made can
  /// be slept for. What is no number is no time.
  package static func seconds(clamping seconds: Double) -> Duration {
    .seconds(seconds > 0 ? min(seconds, 1_000_000_000) : 0)
  }

  /// The nearest number of them that an `Int64` has: a `Duration` of 2.9 seconds is some attoseconds less than that.
  package var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, isProductTooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, isSumTooLarge) = product.addingReportingOverflow(
      (attoseconds + attoseconds.signum() * 500_000_000) / 1_000_000_000)
    return isProductTooLarge || isSumTooLarge ? (seconds < 0 ? .min : .max) : sum
  }
}
