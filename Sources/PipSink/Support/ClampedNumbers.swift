extension Int {
  /// The whole number nearest to `value`, clamped to the range of `Int`; NaN becomes 0. It is for sizes and positions
  /// that are computed from numbers of other programs, which have no bounds.
  package init(nearest value: Double) {
    let rounded = value.rounded()
    self = Int(exactly: rounded) ?? (rounded.isNaN ? 0 : rounded < 0 ? .min : .max)
  }
}

extension Duration {
  /// A duration of `seconds`, clamped to the range from zero to 31 years; NaN becomes zero. A `Duration` cannot
  /// represent every number, and a task cannot sleep for every `Duration`.
  package static func seconds(clamping seconds: Double) -> Duration {
    .seconds(seconds > 0 ? min(seconds, 1_000_000_000) : 0)
  }

  /// The duration in nanoseconds, rounded to the nearest whole number and clamped to the range of `Int64`. It rounds
  /// because a `Duration` of 2.9 seconds is some attoseconds shorter than that.
  package var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, isProductTooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, isSumTooLarge) = product.addingReportingOverflow(
      (attoseconds + attoseconds.signum() * 500_000_000) / 1_000_000_000)
    return isProductTooLarge || isSumTooLarge ? (seconds < 0 ? .min : .max) : sum
  }
}
