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
  private let inbox = CallInbox()
  /// The interface for programs, the one for media players, and that of the app as one of these.
  private let sessionInterface: BusInterface
  private let player = BusInterface.player()
  private let interfaces: [BusInterface]
  private let customFrames = FrameTally()
  /// The property values that were announced last, by interface.
  private var properties: [String: [String: BusValue]] = [:]
  /// The state that picture-in-picture has told last. The session may have passed through it, and be in the next one.
  private var pictureInPictureState: PictureInPictureState
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
  ///   - identity: the app's name for its user; nil for ``PipSink/ShownTexts/applicationName``, or else "PipSink".
  ///   - quit: ends the app; nil where other processes may not ask for that. The answer to the process that asked is
  ///     sent before ``stop()`` returns.
  /// - Throws: ``PipSinkError/System/sessionBusUnavailable(reason:)``.
  public init(
    exporting session: PictureInPictureSession, identity: String? = nil, quit: (@MainActor () -> Void)? = nil
  ) throws(PipSinkError) {
    self.session = session
    pictureInPictureState = session.controller.state
    sessionInterface = .session(customFrames)
    let identity = identity ?? ShownTexts.current.applicationName ?? "PipSink"
    interfaces = [sessionInterface, .mediaPlayer(identity: identity, quit: quit), player]
    let names = [sessionInterface.name, "org.mpris.MediaPlayer2.pipsink"]
    connection = try BusConnection(exporting: interfaces, as: names, handler: inbox.take)
    inbox.perform = { [weak self] in self?.perform($0) }
    session.observeEvents { [weak self] event in
      if case .pictureInPicture(.stateChanged(let state), _) = event { self?.pictureInPictureState = state }
      switch event {
      // These events are frequent, and nothing on the bus depends on them.
      case .engine(.audioLevel), .engine(.buffering): break
      case .seeked(let id, let position): self?.sayPosition(position, of: id)
      case .pictureInPicture(.action(let action), let id):
        self?.emit(.controlUsed, .string(action.name), .stream(id))
      default: self?.sessionDidChange()
      }
    }
    sessionDidChange()
    clock = Task { [weak self] in
      while (try? await Task.sleep(for: .seconds(1))) != nil, !Task.isCancelled { self?.sayStatistics() }
    }
  }

  isolated deinit {
    stop()
  }

  /// Stops answering calls and releases the names. Earlier answers are still sent.
  public func stop() {
    clock?.cancel()
    inbox.close()
    connection.stop()
  }

  /// Announces on the bus what has changed in the session.
  private func sessionDidChange() {
    guard let session else { return }
    for interface in interfaces {
      var new = interface.values(of: session)
      if interface.name == sessionInterface.name {
        new["PictureInPictureState"] = .string(pictureInPictureState.rawValue)
      }
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
    for id in old.keys.sorted() where streamStates[id] == nil { emit(.streamRemoved, .stream(id)) }
    for info in streams where old[info.id] != info.state {
      if old[info.id] == nil { emit(.streamAdded, .stream(info.id)) }
      emit(
        .streamStateChanged, .stream(info.id), .string(info.state.name), .string(info.failure?.description ?? ""))
    }
  }

  /// Announces that a player's position has changed by a seek.
  private func sayPosition(_ position: MediaTime, of id: StreamID) {
    if id == session?.controller.currentStreamID { emit(.seeked, .microseconds(position), of: player) }
  }

  /// Announces the statistics, where they have changed.
  func sayStatistics() {
    guard let session else { return }
    sessionDidChange()
    let new = session.statistics(with: customFrames)
    guard new != statistics else { return }
    statistics = new
    emit(.statisticsChanged, new)
  }

  private func emit(_ signal: BusSignal, _ arguments: BusValue..., of interface: BusInterface? = nil) {
    let interface = interface ?? sessionInterface
    connection.emit(signal.name, arguments, of: interface.name, at: interface.path)
  }

  /// Carries out a call.
  private func perform(_ call: BusCall) {
    // A call for a property has the interface's name as first argument.
    let isProperty = call.interface == "org.freedesktop.DBus.Properties"
    let name = isProperty ? call.arguments.first : .string(call.interface)
    guard let session, let interface = interfaces.first(where: { .string($0.name) == name }) else {
      return call.refuse("org.freedesktop.DBus.Error.ServiceUnknown", "the session has ended")
    }
    guard !isProperty else {
      // The answers may come in another order than the calls.
      Task.immediate { call.answer(await access(interface, call, of: session)) }
      return
    }
    let result = Result { try interface.perform(call.method, call.arguments, on: session) }
    sessionDidChange()
    switch result {
    case .success(let results): call.answer(results)
    case .failure(let error): call.refuse(error)
    }
  }

  /// Reads or writes properties. GDBus refuses calls for properties that the interface does not have.
  private func access(
    _ interface: BusInterface, _ call: BusCall, of session: PictureInPictureSession
  ) async -> [BusValue] {
    let asked = interface.properties.filter { call.method == "GetAll" || .string($0.name) == call.arguments[1] }
    if call.method == "Set" {
      if case .variant(let value)? = call.arguments.last { asked.first?.set?(session, value) }
      return []
    }
    var values: [String: BusValue] = [:]
    for property in asked { values[property.name] = await property.read(session) }
    return call.method == "GetAll" ? [.variants(values)] : values.values.map(BusValue.variant)
  }
}
