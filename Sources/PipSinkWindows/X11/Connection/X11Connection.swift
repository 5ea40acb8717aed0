import CWindows
import Glibc
import PipSink

/// A connection of PipSink's own to an X server, through XCB.
///
/// It does not use Xlib's error handlers, which are global and may belong to another part of the program. The error of
/// a request is returned to the code that made the request. When the server has gone, the connection is broken, and
/// every call returns at once.
///
/// Nothing waits for ever for a server that does not answer: each wait has a ``deadline``, and XCB's own functions that
/// wait are not called. Two wait without a deadline, `xcb_connect` and the first `xcb_get_extension_data`; they run on
/// a thread of their own, which is left to itself when the server does not answer it.
///
/// `@unchecked Sendable`: XCB's functions may be called from every thread.
package final class X11Connection: @unchecked Sendable {
  /// The `xcb_connection_t`.
  package let pointer: OpaquePointer
  /// The number of the screen in the server's name.
  package let screenNumber: Int32
  /// The number of MIT-SHM's first event, or nil where the server does not support shared memory.
  package let sharedMemoryEventBase: UInt8?
  /// The number of RandR's first event, or nil where the server does not tell this client about monitors.
  let monitorEventBase: UInt8?
  /// The length of the longest request that the server accepts without the extension BIG-REQUESTS, in bytes.
  let longestRequest: Int
  /// The server's name, as in `DISPLAY`.
  private let name: String?
  private let mayShareMemory: Locked<Bool>
  private let reader = Locked<(@Sendable () -> Void)?>(nil)
  /// Events that arrived with answers, in their order.
  private let events = Locked<[UnsafeMutablePointer<xcb_generic_event_t>]>([])

  /// Connects to a server, and waits five seconds at most for it.
  ///
  /// - Parameter name: the server, as in `DISPLAY`; nil for the one that the environment names.
  /// - Returns: nil when the server cannot be reached or does not answer.
  package init?(_ name: String?) {
    let name = name ?? Self.environmentName
    guard let opened = Self.open(name) else { return nil }
    (pointer, screenNumber, self.name) = (opened.pointer, opened.screenNumber, name)
    sharedMemoryEventBase = opened.sharedMemoryEventBase
    monitorEventBase = opened.monitorEventBase
    mayShareMemory = Locked(opened.sharedMemoryEventBase != nil)
    longestRequest = Int(xcb_get_setup(pointer).pointee.maximum_request_length) * 4
  }

  /// Whether pictures can be in memory that the server reads. It is false where the server does not know MIT-SHM, and
  /// once it could not read such memory because it is on another machine.
  var sharesMemory: Bool {
    get { mayShareMemory.withLock { $0 } }
    set { mayShareMemory.withLock { $0 = newValue } }
  }

  /// A connection that XCB has opened.
  ///
  /// `@unchecked Sendable`: XCB's functions may be called from every thread.
  private struct Opened: @unchecked Sendable {
    let pointer: OpaquePointer
    let screenNumber: Int32
    let sharedMemoryEventBase: UInt8?
    let monitorEventBase: UInt8?

    init?(_ name: String?) {
      var number: Int32 = 0
      guard let pointer = xcb_connect(name, &number) else { return nil }
      let eventBase = { (data: UnsafePointer<xcb_query_extension_reply_t>?) in
        data.flatMap { $0.pointee.present != 0 ? $0.pointee.first_event : nil }
      }
      (self.pointer, screenNumber) = (pointer, number)
      let isOpen = xcb_connection_has_error(pointer) == 0
      sharedMemoryEventBase = isOpen ? eventBase(pipsink_shared_memory_extension(pointer)) : nil
      monitorEventBase = isOpen ? eventBase(pipsink_randr_extension(pointer)) : nil
      // XCB also requires a failed connection to be closed.
      guard isOpen, xcb_connection_has_error(pointer) == 0 else {
        xcb_disconnect(pointer)
        return nil
      }
    }
  }

  /// The servers that have not answered a thread that connects to them. Others do not wait for them meanwhile.
  private static let unanswered = Locked<Set<String>>([])

  private static func open(_ name: String?) -> Opened? {
    let key = name ?? ""
    guard !unanswered.withLock({ $0.contains(key) }) else { return nil }
    let answer = Locked<(result: Opened??, isAwaited: Bool)>((nil, true))
    let thread = WorkerThread(name: "pip-x11-connect") {
      let opened = Opened(name)
      let isAwaited = answer.withLock { answer in
        answer.result = .some(opened)
        return answer.isAwaited
      }
      answer.wakeAll()
      guard !isAwaited else { return }
      if let opened { xcb_disconnect(opened.pointer) }
      unanswered.withLock { _ = $0.remove(key) }
    }
    guard thread != nil else { return nil }
    if let opened = answer.wait(until: .now.advanced(by: .seconds(5)), for: \.result) { return opened }
    return answer.withLock { answer in
      answer.isAwaited = answer.result != nil
      if answer.result == nil { unanswered.withLock { _ = $0.insert(key) } }
      return answer.result ?? nil
    }
  }

  deinit {
    xcb_disconnect(pointer)
    for event in events.withLock({ $0 }) { free(event) }
  }

  /// Keeps the connection open for two seconds after its window was destroyed.
  ///
  /// Without that, the next connection would use the same numbers for its windows. A window manager that has not
  /// noticed the old window's end yet would take the new window for the old one and never show it. Openbox does so when
  /// a player goes from one film to the next.
  func linger() {
    Task { @MainActor [self] in
      try? await Task.sleep(for: .seconds(2))
      _ = self
    }
  }

  /// Whether the server has gone.
  package var isBroken: Bool { xcb_connection_has_error(pointer) != 0 }

  /// The error for a window that could not be created.
  ///
  /// - Parameter errorCode: what ``errorCode(of:)`` has returned for the request.
  func windowRefusal(_ errorCode: UInt8?) -> PipSinkError {
    let reason =
      isBroken
      ? "the display server has gone"
      : errorCode == nil ? "the X server does not answer" : "the X server refused to create a window"
    return .system(.displayUnavailable(reason: reason))
  }

  /// The error for a picture that could not be sent because the server does not answer.
  var silence: RenderingError { RenderingError(code: .other(-1), reason: "the X server does not answer") }

  /// The error for a picture that could not be sent because the server has gone.
  var hasGone: RenderingError { RenderingError(code: .rendererLost, reason: "the X server has gone") }

  /// The error for a window that no picture can be shown in any more, because it or the server has gone.
  func loss(of window: UInt32) -> RenderingError {
    isBroken
      ? hasGone
      : RenderingError(code: .rendererLost, reason: "the window 0x\(String(window, radix: 16)) has gone")
  }

  /// The error for a picture that the server has refused.
  ///
  /// - Parameters:
  ///   - code: the code of the X error.
  ///   - window: the window that the picture was sent to.
  func refusal(of code: UInt8, in window: UInt32) -> RenderingError {
    guard ![XCB_WINDOW, XCB_DRAWABLE].contains(Int32(code)) else { return loss(of: window) }
    return RenderingError(code: .invalidPixelFormat, reason: "the X server refused the picture (error \(code))")
  }

  // MARK: - Waiting

  /// The moments at which servers have missed a deadline, by their names.
  private static let misses = Locked<[String: MonotonicTime]>([:])

  /// When to stop waiting for the server: in a second and a half, or soon where it has missed a deadline in the last
  /// five seconds. So a server that has stopped does not delay a program with many windows by the sum of its waits.
  var deadline: MonotonicTime {
    let missed = Self.misses.withLock { $0[name ?? ""] }
    let isSilent = missed.map { $0.duration(to: .now) < .seconds(5) } ?? false
    return .now.advanced(by: isSilent ? .milliseconds(50) : .milliseconds(1500))
  }

  /// Waits until `body` returns a value, which it may do when something has arrived from the server.
  ///
  /// - Returns: nil when the server has not answered by the ``deadline``.
  func wait<Result>(for body: () -> Result?) -> Result? {
    let deadline = deadline
    while true {
      if let result = body() {
        Self.misses.withLock { _ = $0.removeValue(forKey: name ?? "") }
        return result
      }
      guard MonotonicTime.now < deadline else {
        Self.misses.withLock { $0[name ?? ""] = .now }
        return nil
      }
      // Another thread may read the answer, so the wait is a short one.
      var source = pollfd(fd: xcb_get_file_descriptor(pointer), events: Int16(POLLIN), revents: 0)
      _ = poll(&source, 1, 2)
      takeEvents()
    }
  }

  /// Whether the answer to a request, or its error, has arrived.
  ///
  /// - Returns: nil when it has not; otherwise the answer, which the caller frees.
  private func arrived(
    _ sequence: UInt32
  ) -> (answer: UnsafeMutableRawPointer?, error: UnsafeMutablePointer<xcb_generic_error_t>?)? {
    var answer: UnsafeMutableRawPointer?
    var error: UnsafeMutablePointer<xcb_generic_error_t>?
    return xcb_poll_for_reply(pointer, sequence, &answer, &error) == 0 ? nil : (answer, error)
  }

  /// Whether the server has answered a request whose answer says nothing more. It does not wait.
  func hasAnswered(_ sequence: UInt32) -> Bool {
    guard let (answer, error) = arrived(sequence) else { return false }
    free(answer)
    free(error)
    return true
  }

  /// Has the answer to a request thrown away when it arrives.
  func forget(_ sequence: UInt32) { xcb_discard_reply(pointer, sequence) }

  /// Waits for the answer to a request.
  ///
  /// - Parameter sequence: the sequence number in the request's cookie.
  /// - Returns: the answer, which the caller frees; nil when the server has refused the request or has gone, and when
  ///   it has not answered by the ``deadline``.
  func answer<Reply>(_ sequence: UInt32, as type: Reply.Type) -> UnsafeMutablePointer<Reply>? {
    flush()
    defer { haveEventsRead() }
    guard let (answer, error) = wait(for: { arrived(sequence) }) else {
      forget(sequence)
      return nil
    }
    free(error)
    return answer?.assumingMemoryBound(to: type)
  }

  /// Waits until the server has processed a request that was sent in its checked form.
  ///
  /// - Returns: the code of the X error that the request caused. It is 0 when the request succeeded or the server has
  ///   gone, and nil when the server has not answered by the ``deadline``.
  package func errorCode(of cookie: xcb_void_cookie_t) -> UInt8? {
    // The request itself has no answer. When the next one has, its own error would have come.
    let hasAnswered = synchronize()
    guard let (_, error) = arrived(cookie.sequence) else {
      forget(cookie.sequence)
      return hasAnswered ? 0 : nil
    }
    defer { free(error) }
    return error?.pointee.error_code ?? 0
  }

  /// Returns the name of an atom. It is empty when the server has gone or does not answer.
  func name(ofAtom atom: UInt32) -> String {
    guard let reply = answer(xcb_get_atom_name(pointer, atom).sequence, as: xcb_get_atom_name_reply_t.self) else {
      return ""
    }
    defer { free(reply) }
    let length = Int(xcb_get_atom_name_name_length(reply))
    guard let name = xcb_get_atom_name_name(reply) else { return "" }
    return String(decoding: UnsafeRawBufferPointer(start: name, count: length), as: UTF8.self)
  }

  /// Waits until the server has processed all requests that were sent before.
  ///
  /// - Returns: false when it has not by the ``deadline``.
  @discardableResult
  package func synchronize() -> Bool {
    let reply = answer(xcb_get_input_focus(pointer).sequence, as: xcb_get_input_focus_reply_t.self)
    defer { free(reply) }
    return reply != nil || isBroken
  }

  /// Sends all pending requests to the server, if it takes them by the ``deadline``.
  package func flush() {
    if canSend { xcb_flush(pointer) }
    haveEventsRead()
  }

  /// Waits until the server takes some ten thousand bytes without having them wait.
  ///
  /// - Returns: false when it does not by the ``deadline``.
  var canSend: Bool {
    var source = pollfd(fd: xcb_get_file_descriptor(pointer), events: Int16(POLLOUT), revents: 0)
    let isReady = { poll(&source, 1, 0) != 0 ? true : nil }
    return isReady() ?? wait(for: isReady) ?? false
  }

  /// Sets a handler that is called after every wait and every flush.
  ///
  /// XCB then also reads events from the connection's descriptor. A thread that waits on the descriptor would not see
  /// these events until the next ones arrive.
  ///
  /// - Parameter handler: makes the reading thread call ``nextEvent()`` until there is no event left. It is called on
  ///   any thread.
  func onEventsTaken(_ handler: @escaping @Sendable () -> Void) { reader.withLock { $0 = handler } }

  private func haveEventsRead() { reader.withLock { $0 }?() }

  /// Reads what has arrived from the server. Not every version of XCB does so when it is asked for an answer.
  private func takeEvents() {
    events.withLock { events in
      while let event = xcb_poll_for_event(pointer) { events.append(event) }
    }
  }

  /// Returns the next event that has arrived, or nil for none. It does not wait. The caller frees the event.
  package func nextEvent() -> UnsafeMutablePointer<xcb_generic_event_t>? {
    events.withLock { $0.isEmpty ? xcb_poll_for_event(pointer) : $0.removeFirst() }
  }
}

extension X11Connection {
  /// A connection that stays open. A server without other clients resets itself when its last client disconnects, and
  /// accepts no connections in the meantime, so a mere check whether it can be reached must not disconnect.
  private static let lasting = Locked<X11Connection?>(nil)

  /// Whether the server that the environment names can be reached and answers. It waits for the server, and can be read
  /// on any thread.
  static var canReachServer: Bool {
    lasting.withLock { lasting in
      if let known = lasting {
        let answers = known.synchronize()
        // Events that the server sends to all its clients would pile up otherwise.
        while let event = known.nextEvent() { free(event) }
        if answers, !known.isBroken, known.name == environmentName { return true }
      }
      lasting = X11Connection(nil)
      return lasting != nil
    }
  }

  /// The server that the environment names.
  static var environmentName: String? { getenv("DISPLAY").map { String(cString: $0) } }
}
