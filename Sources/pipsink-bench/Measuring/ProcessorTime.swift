import Glibc
import PipSinkCommandLine

/// The processor time of other processes, as the kernel's scheduler counts it.
enum ProcessorTime {
  /// The nanoseconds of processor time that the threads of these processes have used so far.
  static func nanoseconds(of processes: [Int32]) -> UInt64 {
    processes.reduce(0) { sum, process in
      let folder = "/proc/\(process)/task"
      return InputFile.names(inFolder: folder).reduce(sum) { sum, task in
        let line = (try? InputFile.text(of: "\(folder)/\(task)/schedstat")) ?? ""
        return sum + (line.split(separator: " ").first.flatMap { UInt64($0) } ?? 0)
      }
    }
  }

  /// The ID of the process that listens at a local socket; nil when there is none.
  static func process(listeningAt path: String) -> Int32? {
    let socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    guard socket >= 0 else { return nil }
    defer { close(socket) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let capacity = MemoryLayout.size(ofValue: address.sun_path)
    guard path.utf8.count < capacity else { return nil }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let length = socklen_t(MemoryLayout<sockaddr_un>.size)
    let isConnected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(socket, $0, length) == 0 }
    }
    guard isConnected else { return nil }
    // The fields of a struct ucred, which is not imported into Swift: the process, its user and its group.
    var peer: [Int32] = [0, 0, 0]
    var size = socklen_t(MemoryLayout<Int32>.size * peer.count)
    guard getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0, peer[0] > 0 else { return nil }
    return peer[0]
  }
}
