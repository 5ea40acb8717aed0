import Foundation
import Testing

@testable import TestSupport

/// The sources use ARCHITECTURE.md's nouns as its table says.
@Suite struct NounTests {
  private static func table() throws -> (rows: [[String]], text: String) {
    let text = try String(contentsOf: Demo.root.appendingPathComponent("ARCHITECTURE.md"), encoding: .utf8)
    return (try #require(DocumentTable("| noun |", in: text)).rows, text)
  }

  @Test func theTableNamesTypesForEachOfItsNouns() throws {
    let declared = Set(try SourceText.files(in: "Sources").values.flatMap(SourceText.declaredTypes))
    let (rows, text) = try Self.table()
    let nouns = rows.compactMap { $0.first?.trimmingCharacters(in: .whitespaces) }
    #expect(nouns == ["stream", "frame", "layer", "renderer", "surface", "window", "session"])
    #expect(text.contains("## Seven nouns\n"))
    for cells in rows {
      let types = SourceText.matches(of: #"`(\w+)`"#, in: cells.dropFirst().first ?? "")
      #expect(!types.isEmpty && declared.isSuperset(of: types), "\(cells)")
    }
  }

  /// A layer is a `SampleBufferDisplayLayer` and a session a `PictureInPictureSession`, so nothing else has these names
  /// for its own.
  @Test func aTypeThatIsNamedForALayerOrASessionSaysWhichOne() throws {
    for (path, text) in try SourceText.files(in: "Sources") {
      #expect(Set(SourceText.allDeclaredTypes(text)).isDisjoint(with: ["Layer", "Session"]), "\(path)")
    }
  }

  @Test func noRectangleIsCalledAFrame() throws {
    for (path, text) in try SourceText.files(in: "Sources") {
      #expect(Self.rectanglesNamedFrame(in: text).isEmpty, "\(path)")
    }
  }

  @Test func rectanglesAreFoundByTheirTypesAndNotByTheirNames() {
    let text = """
      var frame: PictureRect? { get }
      func drop(at frame: PictureRect) {}
      func place(_ windowFrame: inout [PictureRect]) {}
      var frameInPixels: PictureRect { .zero }
      let tileFrames = PictureRect(x: 0, y: 0, width: 1, height: 1)
      static func frames(count: Int, in size: PictureSize) -> [PictureRect] { [] }
      func shown(_ frame: MappedFrame, crop: PictureRect) -> PictureRect { crop }
      func frame(_ text: String) -> SampleBuffer { rectangle }
      var rectangle: PictureRect
      """
    #expect(
      Self.rectanglesNamedFrame(in: text).sorted() == [
        "frame", "frame", "frameInPixels", "frames", "tileFrames", "windowFrame",
      ])
  }

  /// The names of properties, variables, parameters and functions that are frames by their names and rectangles by
  /// their types.
  private static func rectanglesNamedFrame(in text: String) -> [String] {
    let name = #"\b(\w*[Ff]rames?(?:In\w+)?)"#
    return SourceText.matches(of: name + #"(?:: (?:inout )?\[?| = )PictureRect\b"#, in: text)
      + SourceText.matches(of: "func " + name + #"\([^{}\n]*\) [^{}\n]*-> [^{}\n]*PictureRect\b"#, in: text)
  }
}
