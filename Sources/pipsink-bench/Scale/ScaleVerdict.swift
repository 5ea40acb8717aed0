import PipSink
import PipSinkCommandLine

/// Finds the number of streams from which on the cost of a frame is no longer constant.
struct ScaleVerdict {
  let points: [ScalePoint]
  let result: BenchResult

  /// The factor by which a frame may cost more than with any smaller number of streams.
  private static let tolerance = 1.25
  /// The share of the frames that must be shown.
  private static let enough = 0.95

  var remarks: [String] {
    var seen: Set<String> = []
    let groups = points.map(group).filter { seen.insert($0).inserted }
    return groups.map { name in remark(name, points.filter { group($0) == name }) } + [sizes].compactMap(\.self)
  }

  private func group(_ point: ScalePoint) -> String { "\(point.source.size) at \(point.source.rate) frames/s" }

  /// - Parameter points: the measured numbers of streams of one kind, in ascending order.
  private func remark(_ name: String, _ points: [ScalePoint]) -> String {
    var best = (streams: 0, cost: Double.infinity)
    for point in points {
      guard let cost = value(point, ScalePoint.cost), let share = value(point, ScalePoint.shown),
        let busy = value(point, ScalePoint.busy)
      else { continue }
      let costs = "a frame costs \((cost / best.cost).text(places: 2)) of what it does with \(best.streams)"
      let beginning = "\(name): linear below \(point.streams) streams; there "
      if share < Self.enough {
        let use = "\(busy.text(places: 1)) of \(result.machine.processorCount) processors busy"
        return beginning + "\(Int(share * 100)) % of the frames are shown, with \(use)"
          + (best.streams > 0 ? ", and \(costs)" : "")
      }
      if cost > best.cost * Self.tolerance {
        return beginning + "\(costs), though all are shown"
      }
      if cost < best.cost { best = (point.streams, cost) }
    }
    return "\(name): linear up to \(points.last?.streams ?? 0) streams"
  }

  /// How the cost grows with the number of pixels. It is taken at the lowest rate, and from the largest number of
  /// streams whose frames are all shown, because there the rest of the process has the smallest share.
  private var sizes: String? {
    let rate = points.map(\.source.rate).min()
    let slow = points.filter { $0.source.rate == rate }
    let streams = Set(slow.map(\.streams)).sorted().last { streams in
      slow.allSatisfy { $0.streams != streams || value($0, ScalePoint.shown) ?? 0 >= Self.enough }
    }
    let some = slow.filter { $0.streams == streams }
      .sorted { $0.source.size.width * $0.source.size.height < $1.source.size.width * $1.source.size.height }
    guard let small = some.first, let large = some.last, small.source.size != large.source.size,
      let low = value(small, ScalePoint.cost), let high = value(large, ScalePoint.cost)
    else { return nil }
    func pixels(_ point: ScalePoint) -> Double { Double(point.source.size.width * point.source.size.height) }
    let (times, more) = (high / low, pixels(large) / pixels(small))
    return "\(large.source.size) has \(more.text(places: 1)) times the pixels of \(small.source.size) and costs "
      + "\(times.text(places: 1)) times as much a frame, with \(large.streams) streams"
  }

  private func value(_ point: ScalePoint, _ quantity: String) -> Double? {
    result.measurement(point.name, quantity)?.median
  }
}
