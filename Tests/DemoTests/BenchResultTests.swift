import Foundation
import FoundationXML
import Testing

@testable import PipSink
@testable import TestSupport
@testable import pipsink_demo

/// Tests of how a benchmark's numbers are summarised, compared, plotted and written.
@Suite struct BenchResultTests {
  private func result(_ rounds: [Double], unit: String = "1/s") -> BenchResult {
    var samples = Samples()
    for value in rounds { samples.add(value, "PipSink \"a\" & <b>", "frames/s", unit: unit) }
    for value in rounds { samples.add(value / 1000, "PipSink \"a\" & <b>", "to C", unit: "ratio") }
    return BenchResult("route", samples)
  }

  @Test func medianRangeAndMiddleHalfAreThoseOfTheRounds() {
    let odd = Measurement("a", "b", unit: "1", rounds: [5, 1, 9, 3, 100])
    #expect((odd.median, odd.min, odd.max) == (5, 1, 100))
    #expect(odd.middleHalf == 3...9)
    #expect(Measurement("a", "b", unit: "1", rounds: [4, 1, 2, 3]).median == 2.5)
    #expect(Measurement("a", "b", unit: "1", rounds: [7]).middleHalf == 7...7)
  }

  @Test func onlyWhatLiesBeyondTheNoiseHasChanged() {
    let old = result([100, 101, 99, 102, 98])
    let same = BenchComparison(old: old, new: result([103, 97, 101, 100, 99])).text
    #expect(same == "0 of 2 numbers changed beyond the noise")
    // The two results do not overlap, but they differ by only one percent.
    let close = BenchComparison(old: result([100, 100, 100]), new: result([101, 101, 101])).text
    #expect(close.hasPrefix("0 of 2"))
    let faster = BenchComparison(old: old, new: result([120, 121, 119, 122, 118])).text
    #expect(faster.contains("frames/s: 100 to 120 (+20.0 %)"))
    #expect(faster.hasSuffix("2 of 2 numbers changed beyond the noise"))
    let once = BenchComparison(old: result([100]), new: result([150])).text
    #expect(once.contains("Fewer than three rounds"))
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
    #expect(BenchComparison(old: other, new: result([1, 2, 3])).text.contains("`bench memory`"))
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

  @Test func thePlotIsXMLWithABarForEveryMedian() throws {
    let counter = ElementCounter()
    let parser = XMLParser(data: Data(BenchPlot(result: result([100, 200, 300])).svg.utf8))
    parser.delegate = counter
    #expect(parser.parse())
    // The third rectangle is the white background.
    #expect(counter.counts["rect"] == 2 + 1)
  }

  @Test func thePlotHasABarsColorSayWhetherItIsOurs() {
    for (variant, isOurs) in [
      (FramePathVariant.pipSink, true), (.element, true), (.processor, true), (.c, false), (.videoSink, false),
    ] {
      var samples = Samples()
      samples.add(1, variant.title, "frames/s", unit: "1/s")
      #expect(BenchPlot(result: BenchResult("route", samples)).svg.contains("#3465a4") == isOurs, "\(variant)")
    }
  }

  @Test func filesAreWrittenAndComparedWithLaterOnes() async throws {
    let folder = try TemporaryFolder()
    let arguments = [
      "bench", "present", "--surface", "offscreen", "--sizes", "32x18", "--frames", "1", "--rounds", "1",
    ]
    let files = ["--json", folder.path("a.json"), "--csv", folder.path("a.csv"), "--plot", folder.path("a.svg")]
    let first = try await Demo.start(arguments + files).result()
    #expect(first.status == 0, "\(first.errors)")
    #expect(folder.files == ["a.csv", "a.json", "a.svg"])
    let second = try await Demo.start(arguments + ["--compare", folder.path("a.json")]).result()
    #expect(second.output.contains("of 6 numbers changed beyond the noise"))
    let nowhere = try await Demo.start(arguments + ["--csv", folder.path("none/a.csv")]).result()
    #expect(nowhere.status == 74)
  }

  @Test func aFileThatIsNoResultSaysWhy() async throws {
    let folder = try TemporaryFolder()
    func errors(_ name: String, _ text: String?) async throws -> String {
      if let text { try Data(text.utf8).write(to: URL(fileURLWithPath: folder.path(name))) }
      let result = try await Demo.start(["bench", "table", folder.path(name)]).result()
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

  @Test func aMarkBehindAQuoteOrAnAngleBracketHidesNeither() throws {
    var samples = Samples()
    samples.add(1, "a\"\u{301}<\u{301}&\u{301}", "frames/s", unit: "1/s")
    let result = BenchResult("route", samples)
    #expect(Array(result.csv.utf8).split(separator: 0x0A)[1].starts(with: "\"a\"\"\u{301}<".utf8))
    let parser = XMLParser(data: Data(BenchPlot(result: result).svg.utf8))
    #expect(parser.parse())
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
    try await Demo.start(["bench", "table", file, "--into", document]).result()
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

private final class ElementCounter: NSObject, XMLParserDelegate {
  var counts: [String: Int] = [:]

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
    attributes: [String: String]
  ) {
    counts[name, default: 0] += 1
  }
}
