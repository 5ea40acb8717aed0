import CGStreamer
import Foundation

@testable import PipSink

/// A source that blocks every thread that starts or stops it, until the test ends.
final class BlockingSource {
  enum Kind: String, CaseIterable {
    /// A FIFO that has no writer.
    case fifo
    /// A host that does not answer connection requests.
    case tcp
    /// Servers that accept a connection and send nothing.
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

  /// The beginning of a pipeline description: the element and its properties.
  let description: String
  private let folder: URL?
  private var sockets: [Int32] = []

  init(_ kind: Kind) throws {
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
      // When its queue is full, a listener does not answer further connection requests.
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

  /// Makes a description of a pipeline whose only stream comes from this source.
  func pipeline(_ id: StreamID = "blocked") -> PipelineDescription {
    .text("\(description) name=source ! rawvideoparse format=i420 width=16 height=16 ! appsink name=\(id)")
  }

  /// Lets the reader of the FIFO continue: it gets the given number of frames of 16 by 16 pixels (one byte if the
  /// number is 0), and then the end of the file.
  ///
  /// - Returns: false when nothing has the FIFO open for reading.
  @discardableResult
  func open(frames: Int = 0) -> Bool {
    guard let folder else { return false }
    let path = folder.appendingPathComponent("fifo").path
    let file = Glibc.open(path, O_WRONLY | O_NONBLOCK)
    guard file >= 0 else { return false }
    // filesrc closes the FIFO once and opens it again. The test has it open for reading as well, so that the bytes stay
    // in it meanwhile.
    let reader = Glibc.open(path, O_RDONLY | O_NONBLOCK)
    let bytes = [UInt8](repeating: 128, count: max(1, 384 * frames))
    let written = write(file, bytes, bytes.count)
    precondition(written == bytes.count, String(cString: strerror(errno)))
    // A reader that is just opening the FIFO must find a writer, and a reader that has opened it must find its end.
    DispatchQueue.global().async {
      let deadline = MonotonicTime.now.advanced(by: .seconds(20))
      var left: Int32 = 1
      while left > 0, MonotonicTime.now < deadline, ioctl(file, UInt(FIONREAD), &left) == 0 { usleep(10_000) }
      close(file)
      close(reader)
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

  /// Starts to connect and returns without waiting for the connection.
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
  /// The current run of a stream's pipeline. It is nil while there is no run.
  func run(of id: StreamID) -> PipelineRun? { player(of: id)?.run }

  /// Whether the engine's pipeline is still starting.
  var isBlocked: Bool { withUnsafeElement(named: "source", Self.isOnItsWayUp) ?? false }

  /// Whether the pipeline of the given stream is still starting.
  func isBlocked(_ id: StreamID) -> Bool {
    run(of: id)?.withUnsafeElement(named: "source", Self.isOnItsWayUp) ?? false
  }

  /// Looks at the pipeline that contains the source, because GStreamer sets the source's own fields a little later.
  private static func isOnItsWayUp(_ source: GstElementPointer) -> Bool {
    guard let pipeline = gst_object_get_parent(source.asObject) else { return false }
    defer { gst_object_unref(pipeline) }
    let element = UnsafeMutableRawPointer(pipeline).assumingMemoryBound(to: GstElement.self)
    return element.pointee.next_state == GST_STATE_PAUSED
  }
}
