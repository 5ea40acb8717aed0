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
  /// Whether the server knows the extension SHAPE.
  let hasShapes: Bool
  /// The number of the extension Present, which is in its events; nil where the server does not know it.
  let presentNumber: UInt8?
  /// The length of the longest request that the server accepts without the extension BIG-REQUESTS, in bytes.
  let longestRequest: Int
  /// The server's name, as in `DISPLAY`.
  let name: String?
  private let mayShareMemory: Locked<Bool>
  /// Whether a flush that the server did not take in time is to be tried again.
  let isFlushAwaited = Locked(false)
  /// Called after every wait and every flush.
  let reader = Locked<(@Sendable () -> Void)?>(nil)
  /// Events that arrived with answers, in their order.
  let events = Locked<[UnsafeMutablePointer<xcb_generic_event_t>]>([])

  /// Connects to a server, and waits five seconds at most for it.
  ///
  /// - Parameter name: the server, as in `DISPLAY`; nil for the one that the environment names.
  /// - Returns: nil when the server cannot be reached or does not answer.
  package init?(_ name: String?) {
    let name = name ?? Self.environmentName
    guard let opened = Self.open(name) else { return nil }
    (pointer, screenNumber, self.name) = (opened.pointer, opened.screenNumber, name)
    Self.misses.withLock { $0[name ?? ""] = nil }
    sharedMemoryEventBase = opened.sharedMemoryEventBase
    monitorEventBase = opened.monitorEventBase
    (hasShapes, presentNumber) = (opened.hasShapes, opened.presentNumber)
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
    let hasShapes: Bool
    let presentNumber: UInt8?

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
      hasShapes = isOpen && eventBase(pipsink_shape_extension(pointer)) != nil
      let present = isOpen ? pipsink_present_extension(pointer) : nil
      presentNumber = present.flatMap { $0.pointee.present != 0 ? $0.pointee.major_opcode : nil }
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
