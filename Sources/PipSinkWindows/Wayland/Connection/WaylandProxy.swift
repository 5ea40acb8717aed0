import CWindows
import Glibc
import PipSink
import Synchronization

/// An argument of a request.
enum WaylandArgument {
  case int(Int)
  case uint(UInt32)
  case text(String)
  /// An object, or nil where the protocol allows none.
  case object(OpaquePointer?)
  case descriptor(Int32)
  /// The object that the request creates.
  case new
}

/// The arguments of an event, by their positions. They are valid only during the handler's call.
struct WaylandArguments {
  private let values: UnsafeMutablePointer<wl_argument>

  fileprivate init(_ values: UnsafeMutablePointer<wl_argument>) { self.values = values }

  func int(_ index: Int) -> Int { Int(values[index].i) }
  func uint(_ index: Int) -> UInt32 { values[index].u }
  /// A number in 24.8 fixed-point format.
  func fixed(_ index: Int) -> Double { Double(values[index].f) / 256 }
  func text(_ index: Int) -> String? { values[index].s.map { String(cString: $0) } }
  func object(_ index: Int) -> OpaquePointer? { values[index].o }
  /// A file descriptor, which the handler closes.
  func descriptor(_ index: Int) -> Int32 { values[index].h }

  /// An array of 32-bit numbers.
  func numbers(_ index: Int) -> [UInt32] {
    guard let array = values[index].a?.pointee, let data = array.data else { return [] }
    let bytes = UnsafeRawBufferPointer(start: data, count: array.size)
    return (0..<bytes.count / 4).map { bytes.loadUnaligned(fromByteOffset: $0 * 4, as: UInt32.self) }
  }
}

/// An object on a Wayland connection. It is destroyed by ``destroy()``, or when the last reference to it is released.
///
/// Requests can be made on every thread. Events arrive on the thread that reads the connection. That thread also
/// destroys the object, so no event arrives for a destroyed one. The owner makes sure that nobody uses the object after
/// ``destroy()``.
///
/// `@unchecked Sendable`: everything is constant except for an atomic flag.
final class WaylandProxy: @unchecked Sendable {
  typealias Handler = @Sendable (_ event: UInt32, WaylandArguments) -> Void

  let pointer: OpaquePointer
  let version: UInt32
  private let loop: WaylandEventLoop
  /// The number of the request that destroys the object, or nil where it has none.
  private let destructor: UInt32?
  private let handler: HandlerBox?
  private let isDestroyed = Atomic(false)

  /// Called by ``WaylandEventLoop/make(_:from:_:_:version:destructor:handler:)``.
  fileprivate init(
    _ pointer: OpaquePointer, version: UInt32, loop: WaylandEventLoop, destructor: UInt32?, handler: HandlerBox?
  ) {
    (self.pointer, self.version, self.loop) = (pointer, version, loop)
    (self.destructor, self.handler) = (destructor, handler)
  }

  deinit { destroy() }

  /// Destroys the object on the connection's thread. Further calls have no effect.
  func destroy() {
    guard !isDestroyed.exchange(true, ordering: .acquiringAndReleasing) else { return }
    let (pointer, version, destructor, handler) = (Address(pointer), version, destructor, handler)
    loop.perform {
      // The handler is kept alive until no event can arrive any more.
      withExtendedLifetime(handler) {
        if let destructor {
          var none = wl_argument()
          wl_proxy_marshal_array_flags(
            pointer.value, destructor, nil, version, UInt32(WL_MARSHAL_FLAG_DESTROY), &none)
        } else {
          wl_proxy_destroy(pointer.value)
        }
      }
    }
  }

  /// Makes a request.
  func send(_ request: UInt32, _ arguments: WaylandArgument...) {
    WaylandMessage.with(arguments) { values in
      _ = wl_proxy_marshal_array_flags(pointer, request, nil, version, 0, values)
    }
  }

  /// Makes a request that creates an object.
  ///
  /// - Parameters:
  ///   - interface: the new object's interface.
  ///   - request: the number of the request.
  ///   - arguments: the request's arguments, with ``WaylandArgument/new`` for the object.
  ///   - version: the new object's version; nil for the version of this object.
  ///   - destructor: the number of the request that destroys the new object, or nil where it has none.
  ///   - handler: called with the new object's events, on the thread that reads the connection.
  /// - Returns: nil when libwayland cannot allocate memory.
  func make(
    _ interface: WaylandInterface, _ request: UInt32, _ arguments: WaylandArgument..., version: UInt32? = nil,
    destructor: UInt32? = 0, handler: Handler? = nil
  ) -> WaylandProxy? {
    loop.make(
      interface, from: pointer, request, arguments, version: version ?? self.version, destructor: destructor,
      handler: handler)
  }

  /// A handler for the events of a wl_surface, of which enter and leave are of interest.
  ///
  /// - Parameter changed: called with the address of the wl_output on which the surface has appeared, or that it has left.
  static func outputsHandler(_ changed: @escaping @Sendable (_ output: UInt, _ isOn: Bool) -> Void) -> Handler {
    { event, arguments in
      // The events 0 and 1 are enter and leave. Later ones have other arguments.
      if event <= 1 { changed(UInt(bitPattern: arguments.object(0)), event == 0) }
    }
  }

  /// Holds an object's handler. Its address is the object's user data in libwayland.
  fileprivate final class HandlerBox: Sendable {
    let handle: Handler

    init(_ handle: @escaping Handler) { self.handle = handle }
  }

  fileprivate static let dispatcher: wl_dispatcher_func_t = { _, target, event, _, values in
    guard let target, let values, let box = wl_proxy_get_user_data(OpaquePointer(target)) else { return 0 }
    Unmanaged<HandlerBox>.fromOpaque(box).takeUnretainedValue().handle(event, WaylandArguments(values))
    return 0
  }
}

/// The address of one of libwayland's objects, which is passed to another thread.
///
/// `@unchecked Sendable`: it is only an address. The code that uses it makes sure that the object still exists.
struct Address: @unchecked Sendable {
  let value: OpaquePointer

  init(_ value: OpaquePointer) { self.value = value }
}

/// Converts a request's arguments to the form that libwayland expects.
private enum WaylandMessage {
  static func with<Result>(
    _ arguments: [WaylandArgument], _ body: (UnsafeMutablePointer<wl_argument>) -> Result
  ) -> Result {
    var texts: [UnsafeMutablePointer<CChar>?] = []
    defer { for text in texts { free(text) } }
    return withUnsafeTemporaryAllocation(of: wl_argument.self, capacity: max(1, arguments.count)) { values in
      values.initialize(repeating: wl_argument())
      for (index, argument) in arguments.enumerated() {
        switch argument {
        case .int(let number): values[index].i = Int32(clamping: number)
        case .uint(let number): values[index].u = number
        case .text(let text):
          let copy = strdup(text)
          texts.append(copy)
          values[index].s = UnsafePointer(copy)
        case .object(let object): values[index].o = object
        case .descriptor(let descriptor): values[index].h = descriptor
        case .new: values[index].n = 0
        }
      }
      guard let address = values.baseAddress else { return body(UnsafeMutablePointer(bitPattern: 8).unsafelyUnwrapped) }
      return body(address)
    }
  }
}

extension WaylandEventLoop {
  /// Creates an object by a request to another one.
  ///
  /// No event of the object is missed, because the thread that reads events dispatches none while an object is created.
  func make(
    _ interface: WaylandInterface, from parent: OpaquePointer, _ request: UInt32, _ arguments: [WaylandArgument],
    version: UInt32, destructor: UInt32?, handler: WaylandProxy.Handler?
  ) -> WaylandProxy? {
    let box = handler.map { WaylandProxy.HandlerBox($0) }
    return making.withLock { _ in
      let made = WaylandMessage.with(arguments) { values in
        wl_proxy_marshal_array_flags(parent, request, interface.pointer, version, 0, values)
      }
      guard let made else { return nil }
      if let box {
        wl_proxy_add_dispatcher(made, WaylandProxy.dispatcher, nil, Unmanaged.passUnretained(box).toOpaque())
      }
      return WaylandProxy(made, version: version, loop: self, destructor: destructor, handler: box)
    }
  }
}
