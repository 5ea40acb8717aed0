import Foundation
import Testing

@testable import PipSink
@testable import TestSupport
@testable import pipsink_bench

/// Tests of how a benchmark's numbers are summarised, compared and written.
@Suite struct BenchResultTests {
  private func result(_ rounds: [Double], unit: String = "1/s") -> BenchResult {
    var samples = Samples()
    for value in rounds { samples.add(value, "PipSink \"a\" & <b>", "frames/s", unit: unit) }
    for value in rounds { samples.add(value / 1000, "PipSink \"a\" & <b>", "to C", unit: "ratio") }
    return BenchResult("route", samples)
  }

  @Test func medianAndRangeAreThoseOfTheRounds() {
    let odd = Measurement("a", "b", unit: "1", rounds: [5, 1, 9, 3, 100])
    #expect((odd.median, odd.min, odd.max) == (5, 1, 100))
    #expect(Measurement("a", "b", unit: "1", rounds: [4, 1, 2, 3]).median == 2.5)
    #expect(Measurement("a", "b", unit: "1", rounds: [7]).median == 7)
  }

  private static let level = [100.0, 101, 99, 102, 98, 100.5, 101.5, 99.5, 102.5, 98.5]

  @Test func onlyWhatLiesBeyondTheNoiseHasChanged() {
    let old = result(Self.level)
    let same = BenchComparison(old: old, new: result([103, 97, 101, 100, 99, 98, 102, 100, 101, 99])).text
    #expect(same == "0 of 2 numbers changed beyond the noise")
    // The two results do not overlap, but they differ by only one percent.
    let close = BenchComparison(
      old: result(Array(repeating: 100, count: 10)), new: result(Array(repeating: 101, count: 10))
    ).text
    #expect(close.hasPrefix("0 of 2"))
    let faster = BenchComparison(old: old, new: result(Self.level.map { $0 * 1.2 })).text
    #expect(faster.contains("frames/s: 100 to 120 (+20.0 %)"))
    #expect(faster.hasSuffix("2 of 2 numbers changed beyond the noise"))
  }

  @Test func tooFewRoundsAreNotCompared() {
    let once = BenchComparison(old: result([100]), new: result([150])).text
    #expect(once.hasPrefix("Nothing is compared: to show a change of one of 2 numbers takes 5 rounds in both results"))
    #expect(!once.contains("changed"))
    #expect([1, 2, 74, 1000].map(BenchComparison.roundsNeeded) == [5, 5, 8, 10])
  }

  /// A result like one of `bench kernels`: 74 numbers of PipSink and 20 of memcpy.
  ///
  /// - Parameters:
  ///   - noise: the width of the noise as a share.
  ///   - slower: the factor of the first kernel.
  ///   - slowerMachine: the factor of everything.
  private func kernels(
    _ generator: inout SeededGenerator, rounds: Int, noise: Double, slower: Double = 1, slowerMachine: Double = 1
  ) -> BenchResult {
    var samples = Samples()
    for _ in 0..<rounds {
      for number in 0..<74 {
        let value = Double.random(in: 1 - noise...1 + noise, using: &generator) * slowerMachine
        samples.add(number == 0 ? value * slower : value, "kernel \(number)", "PipSink, µs", unit: "µs")
      }
      for number in 0..<20 {
        let value = Double.random(in: 1 - noise...1 + noise, using: &generator) * slowerMachine
        samples.add(value, "kernel \(number)", "memcpy, µs", unit: "µs", isReference: true)
      }
    }
    return BenchResult("kernels", samples)
  }

  @Test func equalProgramsDifferInNoNumberWhateverTheNoise() {
    var generator = SeededGenerator(seed: 1)
    let texts = (0..<10).map { _ in
      BenchComparison(
        old: kernels(&generator, rounds: 8, noise: 0.3), new: kernels(&generator, rounds: 8, noise: 0.3)
      ).text
    }
    #expect(texts.filter { $0.contains("changed: ") }.isEmpty)
  }

  @Test func aKernelThatIsATenthSlowerIsTheOnlyOneThatHasChanged() {
    var generator = SeededGenerator(seed: 2)
    for _ in 0..<4 {
      let old = kernels(&generator, rounds: 10, noise: 0.05)
      let text = BenchComparison(old: old, new: kernels(&generator, rounds: 10, noise: 0.05, slower: 1.1)).text
      #expect(text.hasPrefix("changed: kernel 0, PipSink, µs: "))
      #expect(text.hasSuffix("\n1 of 74 numbers changed beyond the noise"))
    }
  }

  @Test func aMachineThatHasBecomeSlowerShowsInTheReferencesAndNothingIsCompared() {
    var generator = SeededGenerator(seed: 3)
    for factor in [1.04, 0.96, 1.3] {
      let old = kernels(&generator, rounds: 8, noise: 0.05)
      let text = BenchComparison(
        old: old, new: kernels(&generator, rounds: 8, noise: 0.05, slower: 1.5, slowerMachine: factor)
      ).text
      #expect(text.hasPrefix("Nothing is compared, because numbers have moved that do not depend on PipSink"))
      #expect(text.hasSuffix("with --against."))
      #expect(!text.contains("PipSink, µs"))
    }
  }

  /// The probability of the rank test by its definition: the share of all ways to choose the first group from all values
  /// whose sum of ranks lies at least as far from the mean.
  private func probability(_ first: [Double], _ second: [Double]) -> Double {
    let all = first + second
    func distance(_ chosen: [Double]) -> Double {
      let sum = chosen.reduce(0.0) { sum, value in
        sum + Double(all.count { $0 < value }) + Double(all.count { $0 == value } + 1) / 2
      }
      return abs(sum - Double(first.count * (all.count + 1)) / 2)
    }
    let choices = (0..<1 << all.count).filter { $0.nonzeroBitCount == first.count }
    let extreme = choices.count { choice in
      distance(all.indices.filter { choice >> $0 & 1 == 1 }.map { all[$0] }) >= distance(first) - 1e-9
    }
    return Double(extreme) / Double(choices.count)
  }

  @Test func theRankTestIsThatOfItsDefinitionAlsoWithEqualValues() {
    var generator = SeededGenerator(seed: 4)
    for _ in 0..<20 {
      let (first, second) = (Int.random(in: 1...5, using: &generator), Int.random(in: 1...5, using: &generator))
      func values(_ count: Int) -> [Double] {
        (0..<count).map { _ in Double(Int.random(in: 0...6, using: &generator)) }
      }
      let groups = (values(first), values(second))
      #expect(abs(RankTest.probability(groups.0, groups.1) - probability(groups.0, groups.1)) < 1e-9, "\(groups)")
    }
    #expect(RankTest.probability([1, 2, 3], [4, 5, 6]) == 0.1)
    #expect(RankTest.probability([1, 1], [1, 1, 1]) == 1)
  }

  @Test func theRankTestOfManyRoundsContinuesThatOfFewer() {
    func probability(_ count: Int, shift: Double) -> Double {
      let values = (0..<count).map { Double($0) / Double(count) }
      return RankTest.probability(values, values.map { $0 + shift })
    }
    for shift in [0.11, 0.22, 0.33] {
      let (counted, normal) = (probability(20, shift: shift), probability(21, shift: shift))
      #expect(abs(counted - normal) < 0.1 * counted + 0.02, "\(shift)")
    }
    #expect(probability(61, shift: 1) < 1e-15)
    #expect(RankTest.probability(Array(repeating: 1, count: 30), Array(repeating: 1, count: 30)) == 1)
  }

  /// The remarks that `bench scale` makes about 1, 2 and 4 streams of two sizes.
  ///
  /// - Parameters:
  ///   - small: the cost of a frame of 32x18, and the share of the frames that is shown, for each number of streams.
  ///   - large: the same for frames of 64x36.
  private func scaleRemarks(_ small: [(Double, Double)], _ large: [(Double, Double)]) -> [String] {
    var (points, samples) = ([ScalePoint](), Samples())
    for (width, values) in [(32, small), (64, large)] {
      for (streams, (cost, shown)) in zip([1, 2, 4], values) {
        let source = StillSource(size: PictureSize(width: width, height: width * 9 / 16), rate: 30)
        let point = ScalePoint(streams: streams, source: source)
        points.append(point)
        samples.add(cost, point.name, ScalePoint.cost, unit: "µs")
        samples.add(shown, point.name, ScalePoint.shown, unit: "ratio")
        samples.add(1, point.name, ScalePoint.busy, unit: "1")
      }
    }
    return ScaleVerdict(points: points, result: BenchResult("scale", samples)).remarks
  }

  @Test func scaleSaysWhereTheCostOfAFrameStopsBeingTheSame() {
    let flat = [(100.0, 1.0), (100, 1), (90, 1)]
    let double = flat.map { ($0.0 * 2, $0.1) }
    #expect(
      scaleRemarks(flat, double) == [
        "32x18 at 30 frames/s: linear up to 4 streams", "64x36 at 30 frames/s: linear up to 4 streams",
        "64x36 has 4.0 times the pixels of 32x18 and costs 2.0 times as much a frame, with 4 streams",
      ])
    // The linear range ends where too few frames are shown, and where a frame costs over a quarter more than with one
    // stream.
    let late = scaleRemarks([(100, 1), (100, 0.96), (100, 0.5)], double)
    #expect(late[0].contains("linear below 4 streams; there 50 % of the frames are shown"))
    #expect(late.last?.hasSuffix("with 2 streams") == true, "all frames are shown up to 2 streams")
    #expect(
      scaleRemarks([(100, 1), (126, 1), (100, 1)], double)[0].hasSuffix(
        "linear below 2 streams; there a frame costs 1.26 of what it does with 1, though all are shown"))
    #expect(scaleRemarks([(100, 1), (124, 1), (100, 1)], double)[0].hasSuffix("linear up to 4 streams"))
    // Where no point shows its frames, the remarks do not compare the sizes.
    #expect(scaleRemarks(flat.map { ($0.0, 0.9) }, double).count == 2)
  }

  @Test func aResultOfAnotherBenchmarkIsNotCompared() {
    var other = result([1, 2, 3])
    other.benchmark = "memory"
    #expect(BenchComparison(old: other, new: result([1, 2, 3])).text.contains("`pipsink-bench memory`"))
  }

  @Test func csvHasEveryNumberOfEveryRound() {
    let lines = result([100, 200]).csv.split(separator: "\n")
    #expect(lines.first == "name,quantity,unit,round,value")
    #expect(lines.dropFirst().first == "\"PipSink \"\"a\"\" & <b>\",\"frames/s\",\"1/s\",1,100.0")
    #expect(lines.count == 5)
  }

  @Test func ratiosComeFirstInTables() throws {
    let text = BenchTable(result: result([100, 200, 300])).text
    let header = try #require(text.split(separator: "\n").first)
    let (ratio, rate) = (header.range(of: "to C"), header.range(of: "frames/s"))
    #expect(try #require(ratio).lowerBound < #require(rate).lowerBound)
    #expect(text.contains("200 (100 to 300)"))
  }

  @Test func filesAreWrittenAndComparedWithLaterOnes() async throws {
    let folder = try TemporaryFolder()
    let arguments = [
      "present", "--surface", "offscreen", "--sizes", "32x18", "--frames", "1", "--rounds", "1",
    ]
    let files = ["--json", folder.path("a.json"), "--csv", folder.path("a.csv")]
    let first = try await Bench.start(arguments + files).result()
    #expect(first.status == 0, "\(first.errors)")
    #expect(folder.files == ["a.csv", "a.json"])
    let second = try await Bench.start(arguments + ["--compare", folder.path("a.json")]).result()
    #expect(second.output.contains("Nothing is compared: to show a change of one of"))
    let nowhere = try await Bench.start(arguments + ["--csv", folder.path("none/a.csv")]).result()
    #expect(nowhere.status == 74)
  }

  @Test func anotherProgramIsMeasuredInTurnAndItsChangesAreFound() async throws {
    let folder = try TemporaryFolder()
    // The other program is this one, but says that everything takes next to no time, also what is no part of PipSink.
    // It writes down when it is called.
    let other = folder.path("other")
    try """
    #!/bin/sh
    echo other >>'\(folder.path("turns"))'
    '\(Bench.path)' "$@" | sed -E '/"rounds"/,/]/s/^( *)[0-9.e-]+/\\10.000001/'
    """.write(toFile: other, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: other)
    let arguments = [
      "present", "--surface", "offscreen", "--sizes", "32x18", "--frames", "1", "--rounds", "6",
    ]
    let result = try await Bench.start(arguments + ["--against=\(other)", "--json", folder.path("a.json")]).result()
    #expect(result.status == 0, "\(result.errors)")
    #expect(try String(contentsOfFile: folder.path("turns"), encoding: .utf8) == String(repeating: "other\n", count: 6))
    #expect(result.output.contains("memcpy, ms: "), "\(result.output)")
    let measured = try BenchResult(contentsOf: folder.path("a.json"))
    #expect(measured.measurements.allSatisfy { $0.rounds.count == 6 })
    #expect(measured.command == "pipsink-bench " + arguments.joined(separator: " "))
    #expect(measured.processes?.count == 12)
    let none = try await Bench.start(arguments + ["--against", folder.path("none")]).result()
    #expect(none.status != 0 && none.errors.contains(folder.path("none")))
    let both = try await Bench.start(arguments + ["--against", other, "--compare", folder.path("a.json")]).result()
    #expect(both.status == 64)
  }

  @Test func aFileThatIsNoResultSaysWhy() async throws {
    let folder = try TemporaryFolder()
    func errors(_ name: String, _ text: String?) async throws -> String {
      if let text { try Data(text.utf8).write(to: URL(fileURLWithPath: folder.path(name))) }
      let result = try await Bench.start(["table", folder.path(name)]).result()
      #expect(result.status == 64)
      return result.errors
    }
    #expect(try await errors("missing.json", nil).contains("No such file or directory"))
    #expect(try await errors("broken.json", "{").contains("is no result of a benchmark: "))
    let whole = try String(validating: result([1, 2, 3]).json, as: UTF8.self)
    let wrong = try #require(whole).replacing("\"processorCount\"", with: "\"processors\"")
    #expect(try await errors("wrong.json", wrong).contains("\"processorCount\""))
    let text = try #require(whole).replacing(/"rounds" : \[\s*1,/, with: "\"rounds\" : [\"x\",")
    #expect(try await errors("text.json", text).contains("(at measurements.0.rounds.0)"))
  }

  @Test func aMarkBehindAQuoteDoesNotHideIt() throws {
    var samples = Samples()
    samples.add(1, "a\"\u{301}<\u{301}&\u{301}", "frames/s", unit: "1/s")
    let result = BenchResult("route", samples)
    #expect(Array(result.csv.utf8).split(separator: 0x0A)[1].starts(with: "\"a\"\"\u{301}<".utf8))
  }

  @Test func tablesInADocumentAreReplaced() async throws {
    let folder = try TemporaryFolder()
    try Data(result([100, 200, 300]).json).write(to: URL(fileURLWithPath: folder.path("a.json")))
    let document = folder.path("a.md")
    try "before\n<!-- bench:route -->\nold\n<!-- end -->\nbehind\n".write(
      toFile: document, atomically: true, encoding: .utf8)
    #expect(try await table(folder.path("a.json"), into: document).status == 0)
    let table = BenchTable(result: try BenchResult(contentsOf: folder.path("a.json"))).markdown
    let expected = "before\n<!-- bench:route -->\n\(table)\n<!-- end -->\nbehind\n"
    #expect(try String(contentsOfFile: document, encoding: .utf8) == expected)
    try "nothing".write(toFile: document, atomically: true, encoding: .utf8)
    #expect(try await self.table(folder.path("a.json"), into: document).status == 64)
  }

  private func table(_ file: String, into document: String) async throws -> ProgramResult {
    try await Bench.start(["table", file, "--into", document]).result()
  }

  /// The command `bench table --into` makes the documents match the results.
  @Test func theDocumentsNumbersAreThoseOfTheResults() throws {
    let folder = Demo.root.appendingPathComponent("Benchmarks/results")
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".json") }
    let documents = try ["README.md", "docs/benchmarks.md"].map {
      try String(contentsOf: Demo.root.appendingPathComponent($0), encoding: .utf8)
    }
    let tables = try files.map { file in
      let result = try BenchResult(contentsOf: folder.appendingPathComponent(file).path)
      #expect(file == "\(result.benchmark).json")
      #expect(result.machine.build == "release")
      let table = "<!-- bench:\(result.benchmark) -->\n\(BenchTable(result: result).markdown)\n<!-- end -->"
      #expect(documents.filter { $0.contains(table) }.count == 1, "\(file) and the documents differ: see bench table")
      return table
    }
    let places = documents.reduce(0) { $0 + $1.components(separatedBy: "<!-- bench:").count - 1 }
    #expect(places == tables.count)
  }
}
