import CGStreamer
import Glibc
import PipSink

/// Memory for a paintable's pictures, which is used again as soon as GTK has let go of the picture in it.
final class TextureMemory: Sendable {
  /// One picture's memory, which goes back to where it came from when nobody has this any more.
  ///
  /// `@unchecked Sendable`: whoever made it writes into it before GTK has it, and nobody afterwards.
  final class Block: @unchecked Sendable {
    let pixels: UnsafeMutablePointer<UInt8>
    let byteCount: Int
    private let memory: TextureMemory

    fileprivate init(_ pixels: UnsafeMutablePointer<UInt8>, _ byteCount: Int, of memory: TextureMemory) {
      self.pixels = pixels
      self.byteCount = byteCount
      self.memory = memory
    }

    deinit { memory.takeBack(UInt(bitPattern: pixels), byteCount) }

    /// Bytes for GTK, which may have them for as long as it likes. The caller owns the reference.
    func makeBytes() -> OpaquePointer? {
      g_bytes_new_with_free_func(
        pixels, gsize(byteCount), { block in if let block { Unmanaged<Block>.fromOpaque(block).release() } },
        Unmanaged.passRetained(self).toOpaque())
    }
  }

  private struct Spare {
    /// What one block has.
    var byteCount = 0
    var addresses: [UInt] = []
  }

  /// GTK has the picture that is drawn, and up to its next one the one before that; a third is being made.
  private static let limit = 3
  private let spare = Locked(Spare())

  deinit { trim() }

  /// - Throws: ``PipSinkError/Frame/outOfMemory(byteCount:)``.
  func make(_ byteCount: Int) throws(PipSinkError) -> Block {
    let (known, unusable) = spare.withLock { spare -> (UInt?, [UInt]) in
      guard spare.byteCount != byteCount else { return (spare.addresses.popLast(), []) }
      defer { spare = Spare(byteCount: byteCount) }
      return (nil, spare.addresses)
    }
    for address in unusable { free(UnsafeMutableRawPointer(bitPattern: address)) }
    guard let memory = UnsafeMutableRawPointer(bitPattern: known ?? 0) ?? malloc(byteCount) else {
      throw .frame(.outOfMemory(byteCount: byteCount))
    }
    return Block(memory.bindMemory(to: UInt8.self, capacity: byteCount), byteCount, of: self)
  }

  private func takeBack(_ address: UInt, _ byteCount: Int) {
    let isKept = spare.withLock { spare in
      guard spare.byteCount == byteCount, spare.addresses.count < Self.limit else { return false }
      spare.addresses.append(address)
      return true
    }
    if !isKept { free(UnsafeMutableRawPointer(bitPattern: address)) }
  }

  /// Gives back what no picture is in.
  func trim() {
    let unused = spare.withLock { spare in
      defer { spare = Spare() }
      return spare.addresses
    }
    for address in unused { free(UnsafeMutableRawPointer(bitPattern: address)) }
  }
}
