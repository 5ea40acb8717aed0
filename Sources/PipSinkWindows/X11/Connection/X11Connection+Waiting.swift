import CWindows
import Glibc
import PipSink

/// Waiting for a server's answers, and sending what it is to do.
extension X11Connection {
  /// The moments at which servers have missed a deadline, by their names.
  static let misses = Locked<[String: MonotonicTime]>([:])

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

  /// Sends all pending requests to the server, or later if it does not take them by the ``deadline``.
  package func flush() {
    flushUnread()
    haveEventsRead()
  }

  /// Sends all pending requests on a connection whose events no thread waits for.
  func flushUnread() {
    if canSend { xcb_flush(pointer) } else { flushLater() }
  }

  private func flushLater() {
    let isAwaited = isFlushAwaited.exchange(true)
    guard !isAwaited else { return }
    Task { [weak self] in
      try? await Task.sleep(for: .milliseconds(200))
      self?.isFlushAwaited.withLock { $0 = false }
      self?.flush()
    }
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
