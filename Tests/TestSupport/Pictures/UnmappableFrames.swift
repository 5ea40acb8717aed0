import CGStreamer
import Glibc
import Testing

/// Makes frames like those of a GPU without a GPU. Their DMABuf memory is made from a pipe, so it cannot be mapped.
final class UnmappableFrames {
  private typealias Allocator = UnsafeMutablePointer<GstAllocator>
  private typealias Allocate = @convention(c) (Allocator?, gint, gsize) -> UnsafeMutablePointer<GstMemory>?
  private let allocator: Allocator
  private let allocate: Allocate

  init() throws {
    let library = try #require(dlopen("libgstallocators-1.0.so.0", RTLD_NOW))
    let makeAllocator = unsafeBitCast(
      try #require(dlsym(library, "gst_dmabuf_allocator_new")), to: (@convention(c) () -> Allocator?).self)
    allocate = unsafeBitCast(try #require(dlsym(library, "gst_dmabuf_allocator_alloc")), to: Allocate.self)
    allocator = try #require(makeAllocator())
  }

  deinit {
    gst_object_unref(allocator)
  }

  /// Makes a buffer. The caller owns it.
  func makeBuffer(byteCount: Int) throws -> UnsafeMutablePointer<GstBuffer>? {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    close(ends[1])
    // The memory closes this descriptor.
    let memory = try #require(allocate(allocator, ends[0], gsize(byteCount)))
    let buffer = gst_buffer_new()
    gst_buffer_append_memory(buffer, memory)
    return buffer
  }
}
