import CGIO
import Logging
import PipSink

/// Keeps the screen on while something that plays can be seen: a stream in the app's window or in picture-in-picture
/// that is neither paused nor covered, minimised or replaced by a placeholder. Then the screen may go off again.
///
/// It asks the desktop by `org.freedesktop.ScreenSaver`, or else by the portal (`org.freedesktop.portal.Inhibit`), and
/// PipSink's own windows ask a Wayland compositor that has `idle-inhibit`. Where nobody answers, the screen goes off as
/// ever. The bus is not used before something plays. What was asked for ends with the process, too.
@MainActor
public final class IdleInhibitor {
  private weak var session: PictureInPictureSession?
  private let inhibition: Inhibition

  /// Begins to keep the screen on for a session. One object does so for each session.
  ///
  /// - Parameters:
  ///   - session: the session; not kept alive.
  ///   - applicationName: the app's name for its user, as the desktop shows it; nil for
  ///     ``PipSink/ShownTexts/applicationName``, or else the application's name of GLib, which is that of the program where
  ///     it has not been set.
  public init(for session: PictureInPictureSession, applicationName: String? = nil) {
    self.session = session
    let ofProgram = g_get_application_name().map { String(cString: $0) }
    let name = applicationName ?? ShownTexts.current.applicationName ?? ofProgram ?? "PipSink"
    let inhibition = Inhibition(name)
    self.inhibition = inhibition
    session.keepsScreenOn = true
    session.observeScreen { [weak inhibition] in inhibition?.want($0) }
  }

  isolated deinit {
    stop()
  }

  /// Lets the screen go off from now on. The desktop is told in the background.
  public func stop() {
    session?.keepsScreenOn = false
    inhibition.end()
  }
}

/// What the desktop has been asked for.
@MainActor
private final class Inhibition {
  /// What keeps the screen on now.
  private enum Hold: Equatable {
    case nothing
    /// The number that the screen saver has answered, by which its inhibition ends.
    case screenSaver(cookie: UInt32)
    /// The object of the portal's request.
    case portal(request: String)
    /// Everybody has refused.
    case refused
  }

  private let applicationName: String
  private var isWanted = false
  private var hasEnded = false
  private var hold = Hold.nothing
  private var connection: BusConnection?
  /// Whether a task brings what is held in step with what is wanted.
  private var isFollowing = false
  private static let logger = Logger(visible: "pipsink.dbus")
  private static let portal = (name: "org.freedesktop.portal.Desktop", path: "/org/freedesktop/portal/desktop")

  init(_ applicationName: String) { self.applicationName = applicationName }

  func want(_ isWanted: Bool) {
    self.isWanted = isWanted && !hasEnded
    follow()
  }

  func end() {
    (isWanted, hasEnded) = (false, true)
    follow()
  }

  private func follow() {
    guard !isFollowing else { return }
    isFollowing = true
    // The task keeps this object, which has something to take back.
    Task {
      while isWanted != (hold != .nothing) { if isWanted { await inhibit() } else { await release() } }
      if hasEnded {
        connection?.stop()
        connection = nil
      }
      isFollowing = false
    }
  }

  /// Asks for the screen to stay on.
  private func inhibit() async {
    hold = .refused
    do throws(PipSinkError) {
      if connection == nil { connection = try await BusConnection.connected(to: .session) }
    } catch {
      return Self.logger.debug("the screen may go off: \(error)")
    }
    let reason = BusValue.string("video is playing")
    if case .unsigned32(let cookie)? = await connection?.call(
      Self.screenSaver("Inhibit"), .string(applicationName), reason)?.first
    {
      hold = .screenSaver(cookie: cookie)
    } else if case .objectPath(let request)? = await connection?.call(
      .init(
        service: Self.portal.name, path: Self.portal.path, interface: "org.freedesktop.portal.Inhibit", name: "Inhibit"),
      // No window, and 8 for the idle session.
      .string(""), .unsigned32(8), .variants(["reason": reason]))?.first
    {
      hold = .portal(request: request)
    } else {
      Self.logger.debug("the screen may go off: neither a screen saver nor a portal on the session bus keeps it on")
    }
  }

  /// Takes back what has been asked for.
  private func release() async {
    let old = hold
    hold = .nothing
    switch old {
    case .nothing, .refused: break
    case .screenSaver(let cookie): _ = await connection?.call(Self.screenSaver("UnInhibit"), .unsigned32(cookie))
    case .portal(let request):
      _ = await connection?.call(
        .init(service: Self.portal.name, path: request, interface: "org.freedesktop.portal.Request", name: "Close"))
    }
  }

  private static func screenSaver(_ method: String) -> BusConnection.Member {
    let name = "org.freedesktop.ScreenSaver"
    return .init(service: name, path: "/org/freedesktop/ScreenSaver", interface: name, name: method)
  }
}
