import PipSink

extension StreamStatistics {
  /// Frames, and milliseconds.
  var busValues: [String: BusValue] {
    var values: [String: BusValue] = [
      "Received": .unsigned(received), "InApp": .unsigned(inApp), "PictureInPicture": .unsigned(pictureInPicture),
      "Replaced": .unsigned(replaced),
    ]
    if let format { values["Format"] = .string("\(format)") }
    for (key, percentile) in [("IntervalMedian", 50.0), ("IntervalP99", 99.0)] {
      if let interval = intervals.nanoseconds(atPercentile: percentile) {
        values[key] = .double(Double(interval) / 1e6)
      }
    }
    return values
  }
}
