/// Memory for a converter's intermediate rows, kept from frame to frame. It grows to the largest frame seen and never
/// moves within one frame: ``begin(byteCount:)`` comes first, then the parts are taken.
struct ScratchMemory: ~Copyable {
  private var base: UnsafeMutableRawPointer?
  private var capacity = 0
  private var used = 0

  deinit {
    base?.deallocate()
  }

  /// Room for `byteCount` bytes in parts; the parts taken before are no longer valid.
  mutating func begin(byteCount: Int) {
    used = 0
    guard byteCount > capacity else { return }
    base?.deallocate()
    base = .allocate(byteCount: byteCount, alignment: Self.alignment)
    capacity = byteCount
  }

  /// The next `byteCount` bytes; nil when more is taken than was begun with.
  mutating func take(byteCount: Int) -> UnsafeMutablePointer<UInt8>? {
    guard let base, used + byteCount <= capacity else { return nil }
    defer { used += Self.padded(byteCount) }
    return (base + used).assumingMemoryBound(to: UInt8.self)
  }

  /// A part's size with the padding behind it that keeps the next one aligned for vector instructions.
  static func padded(_ byteCount: Int) -> Int {
    (byteCount + alignment - 1) / alignment * alignment
  }

  private static let alignment = 64
}
