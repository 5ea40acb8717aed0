import CWindows
import Glibc
import PipSink

/// A connection of our own to an X server, by XCB.
///
/// It calls none of Xlib's handlers, which are the whole program's and may be anybody's: an error of a request comes
/// back to whoever has asked for it, and the end of the server is a state of the connection, in which every call
/// returns at once.
///
/// `@unchecked Sendable`: XCB's functions may be called from every thread.
package final class X11Connection: @unchecked Sendable {
  /// XCB's connection.
  package let pointer: OpaquePointer
  /// Of the screen that the server's name says.
  package let screenNumber: Int32
  /// The number of the first event of MIT-SHM; nil where the server has no shared memory.
  package let sharedMemoryEventBase: UInt8?
  /// The server's, as in DISPLAY.
  private let name: String?
  private let reader = Locked<(@Sendable () -> Void)?>(nil)

  /// - Parameter name: the server, as in DISPLAY; nil for that of the environment.
  /// - Returns: nil when the server cannot be reached.
  package init?(_ name: String?) {
    var number: Int32 = 0
    guard let pointer = xcb_connect(name, &number) else { return nil }
    guard xcb_connection_has_error(pointer) == 0 else {
      // A connection that could not be made is closed as well.
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

  /// Closes the connection some time after its last use, whose window has just been destroyed. The next connection
  /// would get this one's numbers for its windows otherwise, and a window manager that has not heard of the end yet
  /// takes the new window for the old one, and never shows it: openbox does, when a player goes from one film to the
  /// next.
  func linger() {
    Task { @MainActor [self] in
      try? await Task.sleep(for: .seconds(2))
      _ = self
    }
  }

  /// Whether the server has gone.
  package var isBroken: Bool { xcb_connection_has_error(pointer) != 0 }

  /// Why no window could be made.
  var windowRefusal: PipSinkError {
    .system(
      .displayUnavailable(reason: isBroken ? "the display server has gone" : "the X server makes no window"))
  }

  /// Waits until the server has carried out a request that was sent as a checked one.
  ///
  /// - Returns: the code of the X error that it has led to; 0 when it has been carried out, or the server has gone.
  package func errorCode(of cookie: xcb_void_cookie_t) -> UInt8 {
    guard let error = xcb_request_check(pointer, cookie) else { return 0 }
    defer { free(error) }
    return error.pointee.error_code
  }

  /// What an atom stands for; empty when the server has gone.
  func name(ofAtom atom: UInt32) -> String {
    let cookie = xcb_get_atom_name(pointer, atom)
    guard let reply = answer({ xcb_get_atom_name_reply($0, cookie, nil) }) else { return "" }
    defer { free(reply) }
    let length = Int(xcb_get_atom_name_name_length(reply))
    guard let name = xcb_get_atom_name_name(reply) else { return "" }
    return String(decoding: UnsafeRawBufferPointer(start: name, count: length), as: UTF8.self)
  }

  /// Waits until the server has carried out all that was sent so far.
  package func synchronize() {
    free(xcb_get_input_focus_reply(pointer, xcb_get_input_focus(pointer), nil))
  }

  /// Sends what has been asked for.
  package func flush() {
    xcb_flush(pointer)
    haveEventsRead()
  }

  /// Waits for an answer.
  func answer<Reply>(_ wait: (OpaquePointer) -> Reply) -> Reply {
    defer { haveEventsRead() }
    return wait(pointer)
  }

  /// Whoever waits for the server on the connection's descriptor is told of every wait and of every flush by others:
  /// XCB takes events from the descriptor then, too, which would stay where they are until the next ones come.
  ///
  /// - Parameter handler: has ``nextEvent()`` called until there is none. Any thread calls it.
  func onEventsTaken(_ handler: @escaping @Sendable () -> Void) { reader.withLock { $0 = handler } }

  private func haveEventsRead() { reader.withLock { $0 }?() }

  /// What has arrived next, without waiting. The caller frees it.
  package func nextEvent() -> UnsafeMutablePointer<xcb_generic_event_t>? { xcb_poll_for_event(pointer) }

  /// The bytes of a row of shared memory, where its pixels are the four bytes B, G, R and one that counts for nothing.
  ///
  /// - Returns: nil where the server has other pixels for windows of this depth.
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
  /// A connection that lasts: a server that nobody else uses begins anew when its last client has left, and takes no
  /// connection meanwhile. So whoever only asks whether there is a server does not leave it again.
  private static let lasting = Locked<X11Connection?>(nil)

  /// Whether the server of the environment can be reached. Waits for it. From any thread.
  static var canReachServer: Bool {
    lasting.withLock { lasting in
      if let known = lasting {
        known.synchronize()
        // What the server says to all its clients.
        while let event = known.nextEvent() { free(event) }
        if !known.isBroken, known.name == environmentName { return true }
      }
      lasting = X11Connection(nil)
      return lasting != nil
    }
  }

  static var environmentName: String? { getenv("DISPLAY").map { String(cString: $0) } }
}
