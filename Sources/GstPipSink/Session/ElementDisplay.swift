import PipSink
import PipSinkGTK4
import PipSinkWindows

/// The display of a session of elements. It shows streams in PipSink's windows, of which the app's opens with the first
/// stream in it; in the window or the paintable that an application gives to its element; or in memory.
final class ElementDisplay: ScreenKeepingDisplay, PictureInPictureOfferingDisplay {
  private let base: any SessionDisplay
  /// Streams whose picture-in-picture window the user has closed while PipSink's window for the app was not open. They
  /// are not shown there until something asks for them, because closing a window does not ask for another.
  private var closed: Set<StreamID> = []
  private var members: [StreamID: SessionMember] = [:]
  /// Returns the stream in the picture-in-picture window.
  var pictureInPictureStreamID: (() -> StreamID?)?
  /// Returns the stream that will be in the picture-in-picture window with its first picture.
  var awaitedStreamID: (() -> StreamID?)?
  /// The windows of streams that are shown in windows of their applications.
  private var foreign: [StreamID: ForeignWindow] = [:]
  private var placeholders: [StreamID: StreamPlaceholder] = [:]
  /// The paintables of streams that their applications show with GTK 4.
  private var paintables: [StreamID: VideoPaintable] = [:]

  /// - Parameter renderer: who draws frames in the display's own windows.
  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
  init(_ surface: ElementSurface, _ renderer: WindowRenderer) throws(PipSinkError) {
    guard surface == .window else {
      base = try OffscreenDisplay()
      return
    }
    let windows = try WindowDisplay(renderer: renderer, opensWithFirstStream: true)
    base = windows
    windows.reportsKey = { SessionAction(key: $0) == .togglePictureInPicture }
    windows.keyHandler = { [weak self, weak windows] key in
      if let windows, let character = Character(keysym: key.symbol), windows.reportsKey(character) { return false }
      let shown = (windows?.shownStreamIDs ?? []).compactMap { self?.members[$0] }
      for member in shown { ElementNavigation.send(key: key, to: member) }
      return !shown.isEmpty
    }
    windows.pictureInPictureKeyHandler = { [weak self] key in
      guard let self, let member = pictureInPictureStreamID?().flatMap({ self.members[$0] }) else { return }
      ElementNavigation.send(key: key, to: member)
    }
    // Streams are in the pipeline's order, although a bin starts its elements from the last one to the first.
    windows.areInOrder = { [weak self] left, right in
      guard let self, let left = members[left], let right = members[right] else { return false }
      return left.element.number < right.element.number
    }
    windows.pointerHandler = { [weak self] id, event, size in
      if let member = self?.members[id] { ElementNavigation.send(event, on: size, to: member) }
    }
  }

  var kind: String { base.kind }
  var pictureInPictureHost: any PictureInPictureHost { base.pictureInPictureHost }
  var eventHandler: (@MainActor (SessionDisplayEvent) -> Void)? {
    get { base.eventHandler }
    set { base.eventHandler = newValue }
  }

  /// What the application draws in the picture-in-picture window. Where there is no window, it has no effect.
  var pictureInPictureContent: PictureInPictureContent? {
    get { (base as? ContainerDisplay)?.pictureInPictureContent }
    set { (base as? ContainerDisplay)?.pictureInPictureContent = newValue }
  }

  func keepScreenOn(_ isKeptOn: Bool) { (base as? any ScreenKeepingDisplay)?.keepScreenOn(isKeptOn) }

  func offerPictureInPicture(_ isOffered: Bool, of streamID: StreamID) {
    (base as? any PictureInPictureOfferingDisplay)?.offerPictureInPicture(isOffered, of: streamID)
  }

  /// Sets the member whose stream is added next.
  func set(_ member: SessionMember) { members[member.streamID] = member }

  func add(_ layer: SampleBufferDisplayLayer, for streamID: StreamID) throws(PipSinkError) {
    if let member = members[streamID] { try show(member) }
  }

  /// Shows a stream where its settings now say.
  func show(_ member: SessionMember) throws(PipSinkError) {
    let (id, settings) = (member.streamID, member.settings)
    if let paintable = paintables[id] ?? member.paintable { return show(member, in: paintable) }
    guard base is OffscreenDisplay || !settings.window.isUsable else {
      return try show(member, in: settings, until: .now.advanced(by: Self.patience))
    }
    if foreign.removeValue(forKey: id) != nil { member.layer.detach() }
    try base.add(member.layer, for: id)
  }

  private func show(_ member: SessionMember, in paintable: VideoPaintable) {
    guard paintables[member.streamID] == nil else { return }
    paintables[member.streamID] = paintable
    foreign[member.streamID] = nil
    base.removeStream(member.streamID)
    // The session's window was opened for the stream before the application asked for the paintable.
    if let windows = base as? WindowDisplay, windows.shownStreamIDs.isEmpty { windows.hide() }
    member.layer.attach(to: paintable)
  }

  /// How long to look for an application's window. The display server does not know a window that a toolkit has just
  /// made until the toolkit flushes its requests.
  private static let patience = Duration.seconds(1)
  private static let pause = Duration.milliseconds(20)

  /// Shows a stream in the application's window.
  ///
  /// - Parameter deadline: until when to look again for a window that the server does not know.
  private func show(
    _ member: SessionMember, in settings: ElementSettings, until deadline: MonotonicTime
  ) throws(PipSinkError) {
    if foreign[member.streamID] == nil { base.removeStream(member.streamID) }
    if let known = foreign[member.streamID], known.handle == settings.window, known.mayBeUsed {
      if known.setRenderRectangle(settings.renderRectangle), known.isDrawnByApplication { member.askForDrawing() }
      return
    }
    // Without access, the application has taken the window back meanwhile, and its new settings will be applied next.
    guard let access = member.accessToWindow(settings.window) else { return }
    do throws(PipSinkError) {
      guard let window = try ForeignWindow(settings, access) else { return }
      foreign[member.streamID] = window
      window.show(placeholders[member.streamID])
      member.layer.attach(to: window.renderer)
      if window.isDrawnByApplication { member.askForDrawing() }
    } catch {
      guard .now < deadline else { throw error }
      lookAgain(for: member, settings.window, until: deadline)
    }
  }

  private func lookAgain(for member: SessionMember, _ handle: WindowHandle, until deadline: MonotonicTime) {
    Task { [weak self, weak member] in
      try? await Task.sleep(for: Self.pause)
      guard let self, let member, members[member.streamID] === member, member.settings.window == handle else {
        return
      }
      do throws(PipSinkError) {
        try show(member, in: member.settings, until: deadline)
      } catch {
        member.element.post("The stream cannot be shown.", error.description, isWarning: true)
      }
    }
  }

  func removeStream(_ streamID: StreamID) {
    base.removeStream(streamID)
    foreign[streamID] = nil
    placeholders[streamID] = nil
    paintables.removeValue(forKey: streamID)?.placeholder = nil
    closed.remove(streamID)
    members.removeValue(forKey: streamID)?.layer.detach()
  }

  /// Notes that the user is closing a picture-in-picture window.
  ///
  /// - Parameter streamIDs: the streams that the window shows.
  func noteClosing(of streamIDs: [StreamID?]) {
    if base is WindowDisplay, !base.canPresent { closed.formUnion(streamIDs.compactMap(\.self)) }
  }

  /// Allows a stream to be shown in the app again; nil allows all streams.
  func reopen(_ streamID: StreamID? = nil) {
    if let streamID { closed.remove(streamID) } else { closed = [] }
  }

  func setPlaceholder(_ placeholder: StreamPlaceholder?, for streamID: StreamID) {
    if let paintable = paintables[streamID] {
      // What to show at a stream's beginning and end is for the application to decide.
      let shown: [StreamPlaceholder?] = [.cameraOff, .inPictureInPicture, .reconnecting]
      paintable.placeholder = shown.contains(placeholder) ? placeholder : nil
      return
    }
    placeholders[streamID] = placeholder
    if let window = foreign[streamID] { return window.show(placeholder) }
    guard !closed.contains(streamID) else { return }
    if placeholder == .waiting, awaitedStreamID?() == streamID, base is WindowDisplay, !base.canPresent {
      // The app's window does not open, and take the focus, for a stream that will not be in it.
      base.setPlaceholder(.inPictureInPicture, for: streamID)
    } else {
      base.setPlaceholder(placeholder, for: streamID)
    }
  }

  func setParticipant(_ participant: Participant, for streamID: StreamID) {
    base.setParticipant(participant, for: streamID)
  }

  /// An application presents its own window, when it is notified that the user wants that.
  var canPresent: Bool { base.canPresent || !foreign.isEmpty || !paintables.isEmpty }
  func present() async { await base.present() }
  func watchBackground(_ isWatched: Bool) { base.watchBackground(isWatched) }
}
