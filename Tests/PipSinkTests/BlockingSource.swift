import CGStreamer
import Foundation

@testable import PipSink

/// A source that keeps whoever starts or stops it waiting, until the test ends.
final class BlockingSource {
  enum Kind: String, CaseIterable {
    /// Nobody writes into it.
    case fifo
    /// A host that answers no connection.
    case tcp
    /// Servers that take a connection and say nothing.
    case rtmp, rtsp

    var element: String {
      switch self {
      case .fifo: "filesrc"
      case .tcp: "tcpclientsrc"
      case .rtmp: "rtmpsrc"
      case .rtsp: "rtspsrc"
      }
    }

    static var installed: [Kind] { allCases.filter { ElementInspection.exists($0.element) } }
  }

  /// What a pipeline begins with.
  let description: String
  private let folder: URL?
  private var sockets: [Int32] = []

  init(_ kind: Kind) throws {
    // A reader may go while it is being written to.
    signal(SIGPIPE, SIG_IGN)
    switch kind {
    case .fifo:
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pipsink-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      self.folder = folder
      let path = folder.appendingPathComponent("fifo").path
      mkfifo(path, 0o600)
      description = "filesrc location=\(path)"
    case .tcp, .rtmp, .rtsp:
      folder = nil
      let (listener, port) = try Self.listen(backlog: kind == .tcp ? 0 : 64)
      sockets = [listener]
      // With its queue full, a listener leaves the next ones without an answer.
      if kind == .tcp { for _ in 0..<4 { sockets.append(Self.connect(to: port)) } }
      description =
        switch kind {
        case .rtmp: "rtmpsrc location=rtmp://127.0.0.1:\(port)/app/stream"
        case .rtsp: "rtspsrc location=rtsp://127.0.0.1:\(port)/stream protocols=tcp"
        default: "tcpclientsrc host=127.0.0.1 port=\(port)"
        }
    }
  }

  deinit {
    open()
    for socket in sockets { close(socket) }
    if let folder { try? FileManager.default.removeItem(at: folder) }
  }

  /// A pipeline with one stream behind it.
  func pipeline(_ id: StreamID = "blocked") -> PipelineDescription {
    .text("\(description) name=source ! rawvideoparse format=i420 width=16 height=16 ! appsink name=\(id)")
  }

  /// Lets a FIFO's reader go on: with so many frames of 16 by 16 pixels (a byte for none), and the end after them.
  ///
  /// - Returns: false when there is no reader.
  @discardableResult
  func open(frames: Int = 0) -> Bool {
    guard let folder else { return false }
    let file = Glibc.open(folder.appendingPathComponent("fifo").path, O_WRONLY | O_NONBLOCK)
    guard file >= 0 else { return false }
    let bytes = [UInt8](repeating: 128, count: max(1, 384 * frames))
    _ = write(file, bytes, bytes.count)
    // A reader that is just opening it must find a writer, and one that has opened it, the end.
    DispatchQueue.global().async {
      let deadline = MonotonicTime.now.advanced(by: .seconds(20))
      var left: Int32 = 1
      while left > 0, MonotonicTime.now < deadline, ioctl(file, UInt(FIONREAD), &left) == 0 { usleep(10_000) }
      close(file)
    }
    return true
  }

  private static func listen(backlog: Int32) throws -> (Int32, UInt16) {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = loopback(port: 0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        _ = bind(listener, address, length)
        _ = Glibc.listen(listener, backlog)
        getsockname(listener, address, &length)
      }
    }
    return (listener, UInt16(bigEndian: address.sin_port))
  }

  /// Does not wait until it is connected.
  private static func connect(to port: UInt16) -> Int32 {
    let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
    var address = loopback(port: port)
    withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        _ = Glibc.connect(client, address, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    return client
  }

  private static func loopback(port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }
}

extension VideoEngine {
  /// What runs of a stream with a pipeline of its own; nil where nothing does.
  func run(of id: StreamID) -> PipelineRun? { players.withLock { $0[id] }?.run }

  /// Whether the pipeline is on its way up.
  var isBlocked: Bool { withUnsafeElement(named: "source", Self.isOnItsWayUp) ?? false }

  /// Whether a stream's own pipeline is.
  func isBlocked(_ id: StreamID) -> Bool {
    run(of: id)?.withUnsafeElement(named: "source", Self.isOnItsWayUp) ?? false
  }

  /// Of the pipeline that the source is in: the source's own fields are set a little later.
  private static func isOnItsWayUp(_ source: GstElementPointer) -> Bool {
    guard let pipeline = gst_object_get_parent(source.asObject) else { return false }
    defer { gst_object_unref(pipeline) }
    let element = UnsafeMutableRawPointer(pipeline).assumingMemoryBound(to: GstElement.self)
    return element.pointee.next_state == GST_STATE_PAUSED
  }
}
