import CWindows
import Glibc
import PipSink

/// A connection of PipSink's own to an X server, through XCB.
///
/// It does not use Xlib's error handlers, which are global and may belong to another part of the program. The error of
/// a request is returned to the code that made the request. When the server has gone, the connection is broken, and
/// every call returns at once.
///
/// `@unchecked Sendable`: XCB's functions may be called from every thread.
package final class X11Connection: @unchecked Sendable {
  /// The `xcb_connection_t`.
  package let pointer: OpaquePointer
  /// The number of the screen in the server's name.
  package let screenNumber: Int32
  /// The number of MIT-SHM's first event, or nil where the server does not support shared memory.
  package let sharedMemoryEventBase: UInt8?
  /// The server's name, as in `DISPLAY`.
  private let name: String?
  private let reader = Locked<(@Sendable () -> Void)?>(nil)

  /// Connects to a server and waits for it.
  ///
  /// - Parameter name: the server, as in `DISPLAY`; nil for the one that the environment names.
  /// - Returns: nil when the server cannot be reached.
  package init?(_ name: String?) {
    var number: Int32 = 0
    guard let pointer = xcb_connect(name, &number) else { return nil }
    guard xcb_connection_has_error(pointer) == 0 else {
      // XCB also requires a failed connection to be closed.
      xcb_disconnect(pointer)
      return nil
    }
    self.pointer = pointer
    self.name = name ?? Self.environmentName
    screenNumber = number
    let extensionData = pipsink_shared_memory_extension(pointer)
    sharedMemoryEventBase = extensionData.flatMap { $0.pointee.present != 0 ? $0.pointee.first_event : nil }
  }

  deinit {
    xcb_disconnect(pointer)
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
  var windowRefusal: PipSinkError {
    .system(
      .displayUnavailable(reason: isBroken ? "the display server has gone" : "the X server refused to create a window"))
  }

  /// The error for a window that no picture can be shown in any more, because it or the server has gone.
  func loss(of window: UInt32) -> RenderingError {
    RenderingError(
      code: .rendererLost,
      reason: isBroken ? "the X server has gone" : "the window 0x\(String(window, radix: 16)) has gone")
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

  /// Waits until the server has processed a request that was sent in its checked form.
  ///
  /// - Returns: the code of the X error that the request caused. It is 0 when the request succeeded or the server has
  ///   gone.
  package func errorCode(of cookie: xcb_void_cookie_t) -> UInt8 {
    guard let error = xcb_request_check(pointer, cookie) else { return 0 }
    defer { free(error) }
    return error.pointee.error_code
  }

  /// Returns the name of an atom. It is empty when the server has gone.
  func name(ofAtom atom: UInt32) -> String {
    let cookie = xcb_get_atom_name(pointer, atom)
    guard let reply = answer({ xcb_get_atom_name_reply($0, cookie, nil) }) else { return "" }
    defer { free(reply) }
    let length = Int(xcb_get_atom_name_name_length(reply))
    guard let name = xcb_get_atom_name_name(reply) else { return "" }
    return String(decoding: UnsafeRawBufferPointer(start: name, count: length), as: UTF8.self)
  }

  /// Waits until the server has processed all requests that were sent before.
  package func synchronize() {
    free(xcb_get_input_focus_reply(pointer, xcb_get_input_focus(pointer), nil))
  }

  /// Sends all pending requests to the server.
  package func flush() {
    xcb_flush(pointer)
    haveEventsRead()
  }

  /// Waits for the answer to a request.
  ///
  /// - Parameter wait: calls XCB's function for the answer with the connection.
  func answer<Reply>(_ wait: (OpaquePointer) -> Reply) -> Reply {
    defer { haveEventsRead() }
    return wait(pointer)
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

  /// Returns the next event that has arrived, or nil for none. It does not wait. The caller frees the event.
  package func nextEvent() -> UnsafeMutablePointer<xcb_generic_event_t>? { xcb_poll_for_event(pointer) }

  /// Returns the number of bytes in a row of shared memory with BGRx pixels, which are four bytes each: blue, green,
  /// red and one that is unused.
  ///
  /// - Returns: nil when the server uses another pixel format for windows of this depth.
  package func bytesPerRow(depth: UInt8, width: Int) -> Int? {
    guard let setup = xcb_get_setup(pointer), setup.pointee.image_byte_order == XCB_IMAGE_ORDER_LSB_FIRST.rawValue
    else {
      return nil
    }
    var formats = xcb_setup_pixmap_formats_iterator(setup)
    while formats.rem > 0 {
      if let format = formats.data?.pointee, format.depth == depth {
        return format.bits_per_pixel == 32 ? width * 4 : nil
      }
      xcb_format_next(&formats)
    }
    return nil
  }
}

extension X11Connection {
  /// A connection that stays open. A server without other clients resets itself when its last client disconnects, and
  /// accepts no connections in the meantime, so a mere check whether it can be reached must not disconnect.
  private static let lasting = Locked<X11Connection?>(nil)

  /// Whether the server that the environment names can be reached. It waits for the server, and can be read on any
  /// thread.
  static var canReachServer: Bool {
    lasting.withLock { lasting in
      if let known = lasting {
        known.synchronize()
        // Events that the server sends to all its clients would pile up otherwise.
        while let event = known.nextEvent() { free(event) }
        if !known.isBroken, known.name == environmentName { return true }
      }
      lasting = X11Connection(nil)
      return lasting != nil
    }
  }

  /// The server that the environment names.
  static var environmentName: String? { getenv("DISPLAY").map { String(cString: $0) } }
}
