import CGStreamer
import Glibc
import PipSink

/// Memory for a paintable's pictures. It is reused as soon as GTK has released the picture in it.
final class TextureMemory: Sendable {
  /// The memory of one picture. It returns to its pool when nobody uses it any more.
  ///
  /// `@unchecked Sendable`: its maker writes to it before GTK gets it, and nobody does afterwards.
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

    /// A GBytes for GTK, which may keep it as long as it needs to. The caller owns the reference.
    func makeBytes() -> OpaquePointer? {
      g_bytes_new_with_free_func(
        pixels, gsize(byteCount), { block in if let block { Unmanaged<Block>.fromOpaque(block).release() } },
        Unmanaged.passRetained(self).toOpaque())
    }
  }

  /// Memory that is not in use.
  private struct Spare {
    /// The size of one block.
    var byteCount = 0
    var addresses: [UInt] = []
  }

  /// How many unused blocks are kept. GTK has the picture that it draws and, until its next frame, the one before; a
  /// third one is being made.
  private static let limit = 3
  private let spare = Locked(Spare())

  deinit { trim() }

  /// Takes an unused block, or allocates one.
  ///
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

  /// Keeps a block for later, or frees it.
  private func takeBack(_ address: UInt, _ byteCount: Int) {
    let isKept = spare.withLock { spare in
      guard spare.byteCount == byteCount, spare.addresses.count < Self.limit else { return false }
      spare.addresses.append(address)
      return true
    }
    if !isKept { free(UnsafeMutableRawPointer(bitPattern: address)) }
  }

  /// Frees all blocks that are not in use.
  func trim() {
    let unused = spare.withLock { spare in
      defer { spare = Spare() }
      return spare.addresses
    }
    for address in unused { free(UnsafeMutableRawPointer(bitPattern: address)) }
  }
}
