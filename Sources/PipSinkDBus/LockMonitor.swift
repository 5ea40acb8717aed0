import CGIO
import Glibc
import Logging
import PipSink

/// Hides a session's picture-in-picture windows while the user's session is locked, and shows them again afterwards.
///
/// It asks logind (`LockedHint` of `org.freedesktop.login1.Session`) on the system bus, which desktops tell. Where there
/// is no logind, or no session of it, nothing is hidden. Picture-in-picture, sound and the streams go on meanwhile; the
/// controller reports ``PipSink/PictureInPictureEvent/suspendedChanged(_:)``.
@MainActor
public final class LockMonitor {
  private weak var session: PictureInPictureSession?
  private var connection: BusConnection?
  private var start: Task<Void, Never>?
  private static let service = "org.freedesktop.login1"

  /// Begins to follow the lock. The bus is asked in the background.
  ///
  /// - Parameter session: the session; not kept alive.
  public init(for session: PictureInPictureSession) {
    self.session = session
    start = Task { [weak self] in
      do throws(PipSinkError) {
        let connection = try await BusConnection.connected(to: G_BUS_TYPE_SYSTEM)
        guard let self, !Task.isCancelled else { return connection.stop() }
        self.connection = connection
        await follow(connection)
      } catch {
        Logger(visible: "pipsink.dbus").debug("a lock is not noticed: \(error)")
      }
    }
  }

  isolated deinit {
    stop()
  }

  /// Ends following the lock. What is hidden is shown again.
  public func stop() {
    start?.cancel()
    start = nil
    connection?.stop()
    connection = nil
    session?.isScreenLocked = false
  }

  private func follow(_ connection: BusConnection) async {
    guard let path = await Self.sessionPath(connection) else {
      return Logger(visible: "pipsink.dbus").debug("a lock is not noticed: logind knows no session of this process")
    }
    let (interface, properties) = ("\(Self.service).Session", "org.freedesktop.DBus.Properties")
    connection.subscribe(
      .init(service: Self.service, path: path, interface: properties, name: "PropertiesChanged")
    ) { [weak self] arguments in
      guard arguments.first == .string(interface), arguments.count > 1,
        case .dictionary(_, let changed) = arguments[1], case .variant(.bool(let isLocked))? = changed["LockedHint"]
      else { return }
      Task { @MainActor in self?.note(isLocked) }
    }
    // What is asked after the subscription is not older than a signal that is missed.
    let answer = await connection.call(
      .init(service: Self.service, path: path, interface: properties, name: "Get"), .string(interface),
      .string("LockedHint"))
    if case .variant(.bool(let isLocked))? = answer?.first { note(isLocked) }
  }

  private func note(_ isLocked: Bool) {
    if connection != nil { session?.isScreenLocked = isLocked }
  }

  /// Finds logind's object for the session that the process belongs to: the one that the environment names, or else that
  /// of the process. What the user's service manager starts belongs to none, and has the environment.
  private static func sessionPath(_ connection: BusConnection) async -> String? {
    func ask(_ method: String, _ argument: BusValue) async -> String? {
      let manager = BusConnection.Member(
        service: service, path: "/org/freedesktop/login1", interface: "\(service).Manager", name: method)
      let answer = await connection.call(manager, argument)
      if case .objectPath(let path)? = answer?.first { return path }
      return nil
    }
    if let id = getenv("XDG_SESSION_ID").map({ String(cString: $0) }), let path = await ask("GetSession", .string(id)) {
      return path
    }
    return await ask("GetSessionByPID", .unsigned32(UInt32(getpid())))
  }
}
