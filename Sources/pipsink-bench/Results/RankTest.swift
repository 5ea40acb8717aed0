import Glibc

/// The test of Mann and Whitney with both tails: it compares the ranks of two groups of numbers, whatever their
/// distribution.
enum RankTest {
  /// Up to this number of values the distribution is counted, and above it the normal one is close enough.
  private static let countedAtMost = 40

  /// The probability that two groups of the same kind differ at least as much as these. Values that are equal share
  /// their rank.
  static func probability(_ first: [Double], _ second: [Double]) -> Double {
    let count = first.count + second.count
    // Ranks are doubled, so that shared ones are whole numbers.
    let sorted = (first + second).sorted()
    let ranks = sorted.map { value in
      (sorted.firstIndex(of: value) ?? 0) + (sorted.lastIndex(of: value) ?? 0) + 2
    }
    let sum = first.reduce(0) { $0 + ranks[sorted.firstIndex(of: $1) ?? 0] }
    let mean = first.count * (count + 1)
    let distance = abs(sum - mean)
    guard count <= countedAtMost else {
      let spread = ranks.reduce(0.0) { $0 + (Double($1) - Double(count + 1)) * (Double($1) - Double(count + 1)) }
      let variance = Double(first.count * second.count) * spread / Double(count * (count - 1))
      return variance > 0 ? erfc(Double(distance) / (2 * variance).squareRoot()) : 1
    }
    // For each number of ranks that are chosen, in how many ways each sum comes about.
    var ways = Array(repeating: Array(repeating: 0.0, count: ranks.reduce(0, +) + 1), count: first.count + 1)
    ways[0][0] = 1
    for rank in ranks {
      for chosen in stride(from: first.count, to: 0, by: -1) {
        for sum in rank..<ways[chosen].count { ways[chosen][sum] += ways[chosen - 1][sum - rank] }
      }
    }
    let extreme = ways[first.count].enumerated().reduce(0) { abs($1.offset - mean) >= distance ? $0 + $1.element : $0 }
    return extreme / self.ways(choosing: first.count, of: count)
  }

  /// The number of ways to choose some of several things.
  static func ways(choosing chosen: Int, of count: Int) -> Double {
    (0..<chosen).reduce(1) { $0 * Double(count - $1) / Double($1 + 1) }
  }
}
