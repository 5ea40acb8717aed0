import CGStreamer

/// A GstVideoBufferPool for one format that counts the buffers that it has made and handed out.
///
/// `@unchecked Sendable`: a GstBufferPool is thread-safe, and the counts are behind a lock.
final class CountingBufferPool: @unchecked Sendable {
  struct Counts {
    /// The buffers that exist, in use or not.
    var allocated = 0
    /// The buffers that are in use.
    var inUse = 0
    /// The number of times that a buffer was handed out.
    var taken: UInt64 = 0
    /// The number of buffers that were made.
    var made: UInt64 = 0
    /// When a buffer was last taken or returned.
    var lastUse = MonotonicTime.now
  }

  let formatDescription: VideoFormatDescription
  /// The size of a buffer in bytes.
  let bufferSize: Int
  private let maximumBufferCount: Int
  private let pool: UnsafeMutablePointer<GstBufferPool>
  private let tally: Tally

  /// The counts, which the GObject owns. It may exist longer than the Swift object, until its last buffer was returned.
  fileprivate final class Tally: Sendable {
    let counts = Locked(Counts())
  }

  /// Makes a pool.
  ///
  /// - Parameters:
  ///   - formatDescription: the format of the frames.
  ///   - maximumBufferCount: the maximum number of buffers; 0 for no limit.
  /// - Returns: nil when GStreamer cannot make such buffers.
  init?(formatDescription: VideoFormatDescription, maximumBufferCount: Int) {
    guard let object = g_object_new_with_properties(CountingPoolType.type, 0, nil, nil) else { return nil }
    pool = UnsafeMutableRawPointer(object).assumingMemoryBound(to: GstBufferPool.self)
    gst_object_ref_sink(pool)
    tally = Tally()
    g_object_set_qdata_full(
      object, CountingPoolType.quark, Unmanaged.passRetained(tally).toOpaque(),
      { if let tally = $0 { Unmanaged<Tally>.fromOpaque(tally).release() } })
    self.formatDescription = formatDescription
    self.maximumBufferCount = maximumBufferCount
    bufferSize = Int(formatDescription.info.size)
    guard activate() else {
      gst_object_unref(pool)
      return nil
    }
  }

  deinit {
    // Buffers that are in use are freed when they are returned.
    gst_buffer_pool_set_active(pool, 0)
    gst_object_unref(pool)
  }

  var counts: Counts { tally.counts.withLock { $0 } }

  /// Takes a free buffer, without waiting for one. The caller owns its only reference.
  ///
  /// - Throws: ``PipSinkError/Frame/poolExhausted(limit:)``, ``PipSinkError/Frame/outOfMemory(byteCount:)``.
  func take() throws(PipSinkError) -> UnsafeMutablePointer<GstBuffer> {
    var parameters = GstBufferPoolAcquireParams()
    parameters.flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT
    var buffer: UnsafeMutablePointer<GstBuffer>?
    let result = gst_buffer_pool_acquire_buffer(pool, &buffer, &parameters)
    guard result == GST_FLOW_OK, let buffer else {
      throw result == GST_FLOW_EOS
        ? .frame(.poolExhausted(limit: maximumBufferCount)) : .frame(.outOfMemory(byteCount: bufferSize))
    }
    tally.counts.withLock { counts in
      counts.taken += 1
      counts.inUse += 1
      counts.lastUse = .now
    }
    return buffer
  }

  private func activate() -> Bool {
    let config = gst_buffer_pool_get_config(pool)
    gst_buffer_pool_config_set_params(
      config, formatDescription.caps, guint(clamping: bufferSize), 0, guint(clamping: maximumBufferCount))
    gst_buffer_pool_config_add_option(config, "GstBufferPoolOptionVideoMeta")
    gst_buffer_pool_config_add_option(config, "GstBufferPoolOptionVideoAlignment")
    var alignment = GstVideoAlignment()
    // Rows begin at addresses that suit vector instructions.
    alignment.stride_align = (63, 63, 63, 63)
    gst_buffer_pool_config_set_video_alignment(config, &alignment)
    return gst_buffer_pool_set_config(pool, config) != 0 && gst_buffer_pool_set_active(pool, 1) != 0
  }
}

/// The GObject class: GstVideoBufferPool, which also counts when buffers are made, freed and returned.
private enum CountingPoolType {
  static let quark = g_quark_from_string("pipsink-pool-tally")

  static let type: GType = {
    var info = GTypeInfo()
    info.class_size = guint16(MemoryLayout<GstVideoBufferPoolClass>.size)
    info.instance_size = guint16(MemoryLayout<GstVideoBufferPool>.size)
    info.class_init = { poolClass, _ in
      guard let poolClass = poolClass?.assumingMemoryBound(to: GstBufferPoolClass.self) else { return }
      poolClass.pointee.alloc_buffer = { pool, buffer, parameters in
        let result = CountingPoolType.parent?.pointee.alloc_buffer(pool, buffer, parameters) ?? GST_FLOW_ERROR
        if result == GST_FLOW_OK {
          CountingPoolType.count(pool) { counts in
            counts.allocated += 1
            counts.made += 1
          }
        }
        return result
      }
      poolClass.pointee.free_buffer = { pool, buffer in
        CountingPoolType.count(pool) { $0.allocated -= 1 }
        CountingPoolType.parent?.pointee.free_buffer(pool, buffer)
      }
      poolClass.pointee.release_buffer = { pool, buffer in
        CountingPoolType.count(pool) { counts in
          counts.inUse -= 1
          counts.lastUse = .now
        }
        CountingPoolType.parent?.pointee.release_buffer(pool, buffer)
      }
    }
    return g_type_register_static(
      gst_video_buffer_pool_get_type(), GObjectTypeName.unused("PipSinkCountingBufferPool"), &info,
      GTypeFlags(rawValue: 0))
  }()

  static var parent: UnsafeMutablePointer<GstBufferPoolClass>? {
    g_type_class_peek(gst_video_buffer_pool_get_type())?.assumingMemoryBound(to: GstBufferPoolClass.self)
  }

  static func count(_ pool: UnsafeMutablePointer<GstBufferPool>?, _ change: (inout CountingBufferPool.Counts) -> Void) {
    guard let pool else { return }
    let object = UnsafeMutableRawPointer(pool).assumingMemoryBound(to: GObject.self)
    guard let tally = g_object_get_qdata(object, quark) else { return }
    Unmanaged<CountingBufferPool.Tally>.fromOpaque(tally).takeUnretainedValue().counts.withLock { change(&$0) }
  }
}
