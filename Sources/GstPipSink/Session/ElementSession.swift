import CGStreamer
import PipSink
import PipSinkGTK4
import PipSinkWindows

/// What the elements of one session name share: the window, picture-in-picture and the routing. It lives from the first
/// element's start to the last element's stop. Any thread may use it.
final class ElementSession: Sendable {
  private struct Key: Hashable {
    let name: String
    let surface: ElementSurface
  }

  private static let sessions = Locked<[Key: ElementSession]>([:])

  private let key: Key
  let engine: VideoEngine
  let router = FrameRouter()
  private let members = Locked<[SessionMember]>([])
  @MainActor private var adapter: ElementSessionAdapter?
  @MainActor private var hasFailed = false
  @MainActor private var hasLostDisplay = false

  var name: String { key.name }
  var surface: ElementSurface { key.surface }

  /// Who draws frames in the session's windows, as the first element says.
  let renderer: WindowRenderer

  private init(_ key: Key, _ renderer: WindowRenderer) throws(PipSinkError) {
    (self.key, self.renderer) = (key, renderer)
    engine = try VideoEngine()
  }

  /// Adds a stream to the session that the settings name, and makes the session if this is its first stream.
  ///
  /// - Throws: ``PipSinkError/Stream/duplicate(_:)``, and the errors of ``ElementSettings/makeProcessors()``.
  static func join(
    streamID: StreamID, element: ElementReference, settings: Locked<ElementSettings>,
    playback: Locked<ElementPlayback>, paintable: Locked<VideoPaintable?>
  ) throws(PipSinkError) -> SessionMember {
    let current = settings.withLock { $0 }
    let processors = try current.makeProcessors()
    let key = Key(name: current.session, surface: current.surface)
    let member = try sessions.withLock { sessions throws(PipSinkError) in
      let session = if let known = sessions[key] { known } else { try ElementSession(key, current.renderer) }
      guard !session.members.withLock({ $0.contains { $0.streamID == streamID } }) else {
        throw .stream(.duplicate(streamID))
      }
      sessions[key] = session
      let member = SessionMember(
        streamID: streamID, element: element, settings: settings, playback: playback, paintable: paintable,
        processors: processors, session: session)
      session.members.withLock { $0.append(member) }
      return member
    }
    member.session.post(for: member) { $0.add(member) }
    return member
  }

  func leave(_ member: SessionMember) {
    let isLast = Self.sessions.withLock { sessions in
      let isLast = members.withLock { members in
        members.removeAll { $0 === member }
        return members.isEmpty
      }
      if isLast { sessions[key] = nil }
      router.removeStream(member.streamID)
      return isLast
    }
    guard surface != .none else { return }
    MainActorHost.post {
      self.adapter?.remove(member)
      if isLast { self.adapter = nil }
    }
  }

  /// Runs a job about a member on the main actor, in the order of the calls, unless the member has left by then. It may
  /// be called from any thread, and does not wait.
  func post(for member: SessionMember, _ job: @escaping @MainActor (ElementSessionAdapter) -> Void) {
    guard surface != .none else { return }
    MainActorHost.post {
      guard self.members.withLock({ $0.contains { $0 === member } }), !self.hasFailed else { return }
      do throws(PipSinkError) {
        let adapter = if let known = self.adapter { known } else { try ElementSessionAdapter(self) }
        self.adapter = adapter
        job(adapter)
      } catch {
        self.hasFailed = true
        self.fail("No window can be shown.", error.description)
      }
    }
  }

  /// Ends the pipelines of all elements after the display server has gone, and reports that once.
  @MainActor
  func loseDisplay(_ error: PipSinkError) {
    guard !hasLostDisplay else { return }
    hasLostDisplay = true
    fail("The display server has gone.", error.description)
  }

  /// Ends the pipelines of all elements with an error on their buses.
  func fail(_ text: String, _ detail: String) {
    for member in members.withLock({ $0 }) {
      member.element.post(text, detail, code: GST_RESOURCE_ERROR_NOT_FOUND)
    }
  }
}
