import CGIO
import Glibc
import Logging
import PipSink

/// Hides a session's picture-in-picture windows while the user's session is locked, and shows them again afterwards.
/// When the machine has slept, streams that wait for another attempt are started at once.
///
/// It asks logind on the system bus: `LockedHint` of `org.freedesktop.login1.Session`, which desktops set, and
/// `PrepareForSleep` of its manager. Where there is no logind, or no session of it, nothing is hidden.
/// Picture-in-picture, sound and the streams go on while the session is locked; the controller reports
/// ``PipSink/PictureInPictureEvent/suspendedChanged(_:)``.
@MainActor
public final class LoginMonitor {
  private weak var session: PictureInPictureSession?
  private var connection: BusConnection?
  private var start: Task<Void, Never>?
  private static let service = "org.freedesktop.login1"

  /// Begins to follow logind. The bus is asked in the background.
  ///
  /// - Parameter session: the session; not kept alive.
  public init(for session: PictureInPictureSession) {
    self.session = session
    start = Task { [weak self] in
      do throws(PipSinkError) {
        let connection = try await BusConnection.connected(to: .system)
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

  /// Ends following logind. What is hidden is shown again.
  public func stop() {
    start?.cancel()
    start = nil
    connection?.stop()
    connection = nil
    session?.isScreenLocked = false
  }

  private func follow(_ connection: BusConnection) async {
    connection.subscribe(Self.managerMember("PrepareForSleep")) { [weak self] arguments in
      if arguments.first == .bool(false) { Task { @MainActor in self?.session?.didWake() } }
    }
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

  private static func managerMember(_ name: String) -> BusConnection.Member {
    .init(service: service, path: "/org/freedesktop/login1", interface: "\(service).Manager", name: name)
  }

  private func note(_ isLocked: Bool) {
    if connection != nil { session?.isScreenLocked = isLocked }
  }

  /// Finds logind's object for the session that the process belongs to: the one that the environment names, or else that
  /// of the process. What the user's service manager starts belongs to none, and has the environment.
  private static func sessionPath(_ connection: BusConnection) async -> String? {
    func ask(_ method: String, _ argument: BusValue) async -> String? {
      let answer = await connection.call(managerMember(method), argument)
      if case .objectPath(let path)? = answer?.first { return path }
      return nil
    }
    if let id = getenv("XDG_SESSION_ID").map({ String(cString: $0) }), let path = await ask("GetSession", .string(id)) {
      return path
    }
    return await ask("GetSessionByPID", .unsigned32(UInt32(getpid())))
  }
}
