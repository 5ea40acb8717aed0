import PipSink

/// Exports a session on the session bus: as `org.pipsink.Session1` for programs, and as a media player
/// (`org.mpris.MediaPlayer2`) for media keys and `playerctl`.
///
/// It lives on the main actor, which carries out the calls in their order. At most 64 calls may wait; further ones are
/// refused with `org.freedesktop.DBus.Error.LimitsExceeded`. Frames never wait for calls. The service stops when it is
/// released.
@MainActor
public final class SessionService {
  /// The names on the bus. A name that another process owns already has a suffix: `.instance` and the process's ID.
  public var busNames: [String] { connection.names }

  private weak var session: PictureInPictureSession?
  private let connection: BusConnection
  private let queue: CallQueue<BusCall>
  private let sessionInterface = SessionInterface()
  private let interfaces: [any BusInterface]
  /// The property values that were announced last, by interface.
  private var properties: [String: [String: BusValue]] = [:]
  /// The states of the streams that were announced last.
  private var streamStates: [StreamID: StreamPlayState] = [:]
  /// The statistics that were announced last.
  private var statistics: BusValue?
  /// Announces the statistics every second.
  private var clock: Task<Void, Never>?

  /// Exports a session.
  ///
  /// - Parameters:
  ///   - session: the session; not kept alive.
  ///   - identity: the app's name for its user.
  ///   - quit: ends the app; nil where other processes may not ask for that. The answer to the process that asked is
  ///     sent before ``stop()`` returns.
  /// - Throws: ``PipSinkError/System/sessionBusUnavailable(reason:)``.
  public init(
    exporting session: PictureInPictureSession, identity: String = "PipSink", quit: (@MainActor () -> Void)? = nil
  ) throws(PipSinkError) {
    self.session = session
    interfaces = [sessionInterface, MediaPlayerInterface(identity: identity, quit: quit), PlayerInterface()]
    let queue = CallQueue<BusCall>()
    let inbox = Inbox()
    let names = [sessionInterface.name, "org.mpris.MediaPlayer2.pipsink"]
    connection = try BusConnection(exporting: interfaces, as: names) { call in
      let isTaken = queue.add(call) { inbox.service?.perform($0) }
      if !isTaken {
        call.refuse(
          "org.freedesktop.DBus.Error.LimitsExceeded",
          "\(CallQueue<BusCall>.limit) calls are waiting already; wait for their answers")
      }
    }
    self.queue = queue
    inbox.service = self
    session.observeEvents { [weak self] event in
      switch event {
      // These events are frequent, and nothing on the bus depends on them.
      case .engine(.audioLevel), .engine(.buffering): break
      case .seeked(let id, let position): self?.sayPosition(position, of: id)
      default: self?.sessionDidChange()
      }
    }
    sessionDidChange()
    clock = Task { [weak self] in
      while (try? await Task.sleep(for: .seconds(1))) != nil { self?.sayStatistics() }
    }
  }

  isolated deinit {
    stop()
  }

  /// Stops answering calls and releases the names. Earlier answers are still sent.
  public func stop() {
    clock?.cancel()
    queue.close()
    connection.stop()
  }

  /// Announces on the bus what has changed in the session.
  private func sessionDidChange() {
    guard let session else { return }
    for interface in interfaces {
      let new = interface.properties(of: session)
      let changed = new.filter { properties[interface.name]?[$0] != $1 }
      guard !changed.isEmpty else { continue }
      properties[interface.name] = new
      connection.emit(
        "PropertiesChanged", [.string(interface.name), .variants(changed), .strings([])],
        of: "org.freedesktop.DBus.Properties", at: interface.path)
    }
    sayStreams(session.streams)
  }

  /// Announces which streams have been added or removed, or have changed their state.
  ///
  /// - Parameter streams: all streams, sorted by ID.
  private func sayStreams(_ streams: [StreamInfo]) {
    let old = streamStates
    streamStates = Dictionary(uniqueKeysWithValues: streams.map { ($0.id, $0.state) })
    for id in old.keys.sorted() where streamStates[id] == nil { emit("StreamRemoved", .stream(id)) }
    for info in streams where old[info.id] != info.state {
      if old[info.id] == nil { emit("StreamAdded", .stream(info.id)) }
      emit(
        "StreamStateChanged", .stream(info.id), .string(info.state.name), .string(info.failure?.description ?? ""))
    }
  }

  /// Announces that a player's position has changed by a seek.
  private func sayPosition(_ position: MediaTime, of id: StreamID) {
    guard id == session?.controller.currentStreamID else { return }
    let player = PlayerInterface.name
    connection.emit("Seeked", [.signed(PlayerInterface.microseconds(position))], of: player, at: PlayerInterface.path)
  }

  /// Announces the statistics, where they have changed.
  private func sayStatistics() {
    guard let session else { return }
    sessionDidChange()
    let new = sessionInterface.statistics(of: session)
    guard new != statistics else { return }
    statistics = new
    emit("StatisticsChanged", new)
  }

  private func emit(_ signal: String, _ arguments: BusValue...) {
    connection.emit(signal, arguments, of: sessionInterface.name, at: sessionInterface.path)
  }

  /// Carries out a call.
  private func perform(_ call: BusCall) {
    // A call for a property has the interface's name as first argument.
    let isProperty = call.interface == "org.freedesktop.DBus.Properties"
    let name = isProperty ? call.arguments.texts.first : call.interface
    guard let session, let interface = interfaces.first(where: { $0.name == name }) else {
      return call.refuse("org.freedesktop.DBus.Error.ServiceUnknown", "the session has ended")
    }
    guard !isProperty else {
      // The answers may come in another order than the calls.
      Task.immediate { call.answer(await access(interface, call, of: session)) }
      return
    }
    do throws(PipSinkError) {
      let results = try interface.perform(call.method, call.arguments.texts, on: session)
      sessionDidChange()
      call.answer(results)
    } catch {
      sessionDidChange()
      call.refuse(error.busName, error.description)
    }
  }

  /// Reads or writes properties. GDBus refuses calls for properties that the interface does not have.
  private func access(
    _ interface: any BusInterface, _ call: BusCall, of session: PictureInPictureSession
  ) async -> [BusValue] {
    let name = call.arguments.texts.last ?? ""
    switch call.method {
    case "Set":
      if let number = call.arguments.number { interface.setProperty(name, to: number, of: session) }
      sessionDidChange()
      return []
    case "Get":
      var value = interface.properties(of: session)[name]
      if value == nil { value = await interface.properties(askedOf: session)[name] }
      return value.map { [BusValue.variant($0)] } ?? []
    default:
      let asked = await interface.properties(askedOf: session)
      return [.variants(interface.properties(of: session).merging(asked) { $1 })]
    }
  }

  /// The connection's reference to the service, which does not exist yet when the connection starts.
  private final class Inbox: Sendable {
    @MainActor weak var service: SessionService?
  }
}
