import Foundation
import Testing

@testable import PipSink
@testable import PipSinkCommandLine
@testable import TestSupport
@testable import pipsink_demo

/// Tests of the folder into which the pictures of the surfaces are written.
@Suite struct SnapshotFolderTests {
  private static let image = BGRAImage(size: .init(width: 1, height: 1), bytes: [1, 2, 3, 255])

  @Test func picturesAreNamedByTheirNumberAndTheirTime() throws {
    let folder = try TemporaryFolder()
    let snapshots = try SnapshotFolder(folder.url.path)
    for (number, seconds) in [0, 0.04, 0.05, 1.94, 1.95, 59.99, -3, 3600, 9, 10, 11].enumerated() {
      try snapshots.write([("n\(number)", Self.image)], at: seconds)
    }
    let names = [
      "01-0.0s-n0", "02-0.0s-n1", "03-0.1s-n2", "04-1.9s-n3", "05-2.0s-n4", "06-60.0s-n5", "07-0.0s-n6",
      "08-3600.0s-n7", "09-9.0s-n8", "10-10.0s-n9", "11-11.0s-n10",
    ].map { "\($0).png" }
    #expect(folder.files == names)
    #expect(snapshots.files == names.map { folder.path($0) })
  }

  @Test func picturesThatBelongTogetherHaveOneNumber() throws {
    let folder = try TemporaryFolder()
    let snapshots = try SnapshotFolder(folder.url.path + "/")
    try snapshots.write([("a", Self.image), ("a", Self.image), ("A", Self.image)], at: 1)
    try snapshots.write([], at: 2)
    try snapshots.write([("a", Self.image)], at: 3)
    #expect(folder.files == ["01-1.0s-A~3.png", "01-1.0s-a.png", "01-1.0s-a~2.png", "03-3.0s-a.png"])
    #expect(snapshots.files.first == folder.path("01-1.0s-a.png"), "the path has one slash")
  }

  @Test func theFolderIsMadeWithThoseAboveIt() throws {
    let folder = try TemporaryFolder()
    _ = try SnapshotFolder(folder.path("a/b/c"))
    _ = try SnapshotFolder(folder.path("a/b/c/"))
    _ = try SnapshotFolder(folder.path("a/d//"))
    #expect(folder.files == ["a"])
    #expect(
      try FileManager.default.subpathsOfDirectory(atPath: folder.url.path).sorted() == ["a", "a/b", "a/b/c", "a/d"])
  }

  @Test(arguments: ["file", "file/below", "/proc/nowhere/x", ""]) func aFolderThatCannotBeIsNamed(path: String) throws {
    let folder = try TemporaryFolder()
    try Data().write(to: URL(fileURLWithPath: folder.path("file")))
    let full = path.hasPrefix("/") || path.isEmpty ? path : folder.path(path)
    #expect {
      _ = try SnapshotFolder(full)
    } throws: { error in
      guard let error = error as? CommandError else { return false }
      return error.status == .usage && error.message.contains("\"\(full)\"") && error.message.contains("--snapshots")
    }
  }

  // MARK: - Names

  @Test func aNameOfTheGreatestLengthStaysAndOneMoreIsShortened() throws {
    let longest = String(repeating: "x", count: 160)
    #expect(SnapshotName.names(of: [longest]) == [longest])
    let (one, other) = (longest + "1", longest + "2")
    let names = SnapshotName.names(of: [one, other])
    #expect(Set(names).count == 2)
    for name in names {
      #expect(name.hasPrefix(String(repeating: "x", count: 143) + "~") && name.utf8.count <= 160, "\(name)")
    }
    // The names are the same in every run.
    #expect(SnapshotName.names(of: [other]) == [names[1]])
  }

  @Test func aLongNameIsDividedBetweenItsCharacters() throws {
    let name = String(repeating: "日", count: 60)
    let short = try #require(SnapshotName.names(of: [name]).first)
    #expect(short.hasPrefix(String(repeating: "日", count: 47) + "~") && short.utf8.count <= 160, "\(short)")
  }

  @Test func lettersAndDigitsOfAllScriptsStayAndOthersBecomeTheirBytes() {
    #expect(
      SnapshotName.names(of: ["aZ09-_.", "é日٣", "a b", "\n", "%", "\u{7F}", "€"])
        == ["aZ09-_.", "é日٣", "a%20b", "%0A", "%25", "%7F", "%E2%82%AC"])
  }

  @Test func aNameThatIsTakenGetsTheNextNumber() {
    #expect(SnapshotName.names(of: ["a", "a", "a", "a~2", "A"]) == ["a", "a~2", "a~3", "a%7E2", "A~4"])
  }
}
