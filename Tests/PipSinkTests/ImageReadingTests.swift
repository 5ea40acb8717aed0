import Foundation
import Testing

@testable import PipSink
@testable import TestSupport

/// Pictures are read from files that anybody may have made.
@Suite struct ImageReadingTests {
  private static func image(_ width: Int, _ height: Int) -> BGRAImage {
    let pixels: [[UInt8]] = (0..<width * height).map { index in
      [UInt8(index % 251), UInt8(index / width % 256), 40, UInt8(255 - index % 3)]
    }
    return BGRAImage(size: PictureSize(width: width, height: height), bytes: pixels.flatMap(\.self))
  }

  private static func reason(_ body: () throws -> BGRAImage) -> String {
    do {
      return "it is a picture: \(try body())"
    } catch PipSinkError.frame(.notRead(_, let reason)) {
      return reason
    } catch {
      return "\(error)"
    }
  }

  @Test func whatWasWrittenAsPNGIsReadAgainWithEveryPixel() throws {
    let folder = try TemporaryFolder()
    // The rows of the odd one have padding in GStreamer's formats with three bytes.
    for (width, height) in [(64, 48), (33, 17), (1, 1)] {
      let image = Self.image(width, height)
      try image.writePNG(to: folder.path("picture.png"))
      #expect(try BGRAImage(contentsOf: folder.path("picture.png")) == image)
      #expect(try BGRAImage(file: image.pngBytes()) == image)
    }
  }

  @Test(arguments: [("jpegenc quality=95", 3), ("webpenc lossless=true", 0)])
  func picturesOfOtherFormatsAreRead(encoder: String, difference: Int) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("picture")
    let result = try await RunningProgram(
      "/usr/bin/env",
      [
        "gst-launch-1.0", "videotestsrc", "num-buffers=1", "pattern=green", "!",
        "video/x-raw,format=RGB,width=40,height=30", "!",
      ]
        + encoder.split(separator: " ").map(String.init) + ["!", "filesink", "location=\(path)"]
    ).result()
    try #require(result.status == 0, "\(result.errors)")
    let image = try BGRAImage(contentsOf: path)
    #expect(image.size == PictureSize(width: 40, height: 30))
    let middle = image.pixel(20, 15)
    #expect(zip(middle, [0, 255, 0, 255]).allSatisfy { abs(Int($0) - Int($1)) <= difference }, "\(middle)")
  }

  /// Cameras store pictures as the sensor sees them, and say how to turn them (Exif's Orientation).
  @Test func aPictureIsTurnedAsItsFileSays() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("turned.jpg")
    let result = try await RunningProgram(
      "/usr/bin/env",
      [
        "gst-launch-1.0", "videotestsrc", "num-buffers=1", "!", "video/x-raw,width=48,height=32", "!", "taginject",
        "tags=image-orientation=rotate-90", "!", "jpegenc", "!", "jifmux", "!", "filesink", "location=\(path)",
      ]
    ).result()
    try #require(result.status == 0, "\(result.errors)")
    #expect(try BGRAImage(contentsOf: path).size == PictureSize(width: 32, height: 48))
  }

  @Test(arguments: [
    (PictureSize(width: 100, height: 100), PictureSize(width: 100, height: 50)),
    (PictureSize(width: 400, height: 20), PictureSize(width: 40, height: 20)),
    (PictureSize(width: 200, height: 100), PictureSize(width: 200, height: 100)),
    (PictureSize(width: 4000, height: 4000), PictureSize(width: 200, height: 100)),
  ])
  func aPictureThatIsTooLargeBecomesSmallerAndKeepsItsShape(limit: PictureSize, size: PictureSize) throws {
    let file = try Self.image(200, 100).pngBytes()
    #expect(try BGRAImage(file: file, within: limit).size == size)
  }

  @Test func whatIsNoPictureIsRefusedWithTheReason() throws {
    let folder = try TemporaryFolder()
    let unreadable = "it is not a file that can be read, or has more than 16 MiB"
    #expect(Self.reason { try BGRAImage(contentsOf: folder.path("none.png")) } == unreadable)
    #expect(Self.reason { try BGRAImage(contentsOf: folder.path("")) } == unreadable)
    #expect(mkfifo(folder.path("fifo.png"), 0o600) == 0)
    #expect(Self.reason { try BGRAImage(contentsOf: folder.path("fifo.png")) } == unreadable)
    #expect(Self.reason { try BGRAImage(contentsOf: "/dev/zero") } == unreadable)
    #expect(throws: PipSinkError.frame(.notRead(name: folder.path("none.png"), reason: unreadable))) {
      try BGRAImage(contentsOf: folder.path("none.png"))
    }
    #expect(Self.reason { try BGRAImage(file: []) } == "its format is not known")
    #expect(Self.reason { try BGRAImage(file: [UInt8](repeating: 0xFE, count: 5000)) } == "its format is not known")
    // A playlist would have GStreamer fetch what it names.
    let playlist = Array("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nhttp://127.0.0.1:9/a.ts\n".utf8)
    #expect(Self.reason { try BGRAImage(file: playlist) } == "it is of another kind (application/x-hls)")
  }

  @Test func aFileThatIsCutOrBrokenIsRefusedAtOnce() throws {
    let file = try Self.image(200, 100).pngBytes()
    // The decoder gives no picture before the last row.
    for length in [40, file.count / 2] {
      let reason = Self.reason { try BGRAImage(file: Array(file.prefix(length))) }
      #expect(!reason.hasPrefix("it is a picture") && !reason.contains("within 5"), "\(length): \(reason)")
    }
    var broken = file
    for index in 60..<broken.count - 20 { broken[index] ^= 0x5A }
    let reason = Self.reason { try BGRAImage(file: broken) }
    #expect(!reason.hasPrefix("it is a picture") && !reason.contains("within 5"), "\(reason)")
  }

  /// A PNG file of a few bytes can stand for gigabytes of pixels.
  @Test func aHugePictureIsNotDecoded() throws {
    var file = try Self.image(8, 8).pngBytes()
    // The width is the first field of the first chunk, whose checksum is behind its 13 bytes.
    file.replaceSubrange(16..<24, with: [0, 0, 0xEA, 0x60, 0, 0, 0xEA, 0x60])
    let checksum = Self.checksum(of: Array(file[12..<29]))
    file.replaceSubrange(29..<33, with: (0..<4).map { UInt8(truncatingIfNeeded: checksum >> (24 - 8 * $0)) })
    let before = ResourceUsage.current.peakResidentBytes
    let reason = Self.reason { try BGRAImage(file: file) }
    #expect(!reason.hasPrefix("it is a picture") && !reason.contains("within 5"), "\(reason)")
    #expect(ResourceUsage.current.peakResidentBytes - before < 1 << 30)
  }

  /// The checksum of PNG's chunks (ISO 3309).
  private static func checksum(of bytes: [UInt8]) -> UInt32 {
    var checksum = UInt32.max
    for byte in bytes {
      checksum ^= UInt32(byte)
      for _ in 0..<8 { checksum = checksum >> 1 ^ (checksum & 1 == 0 ? 0 : 0xEDB8_8320) }
    }
    return ~checksum
  }
}
