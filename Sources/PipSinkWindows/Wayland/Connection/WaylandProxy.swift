import CWindows
import Glibc
import PipSink
import Synchronization

/// An object on a Wayland connection. It is destroyed by ``destroy()``, or when the last reference to it is released.
///
/// Requests can be made on every thread. Events arrive on the thread that reads the connection. That thread also
/// destroys the object, so no event arrives for a destroyed one. The owner makes sure that nobody uses the object after
/// ``destroy()``.
///
/// `@unchecked Sendable`: everything is constant except for an atomic flag.
class WaylandProxy: @unchecked Sendable {
  let pointer: OpaquePointer
  let version: UInt32
  fileprivate let loop: WaylandEventLoop
  /// The number of the request that destroys the object, or nil where its version has none.
  private let destructor: UInt32?
  private let handlers: WaylandDispatch
  private let isDestroyed = Atomic(false)

  fileprivate init(
    _ pointer: OpaquePointer, version: UInt32, loop: WaylandEventLoop, destructor: WaylandDestructor?,
    _ handlers: WaylandDispatch
  ) {
    (self.pointer, self.version, self.loop, self.handlers) = (pointer, version, loop, handlers)
    self.destructor = destructor.flatMap { $0.since <= version ? $0.number : nil }
  }

  deinit { destroy() }

  /// Destroys the object on the connection's thread. Further calls have no effect.
  func destroy() {
    guard !isDestroyed.exchange(true, ordering: .acquiringAndReleasing) else { return }
    let (pointer, version, destructor, handlers) = (Address(pointer), version, destructor, handlers)
    loop.perform {
      // The handlers are kept alive until no event can arrive any more.
      withExtendedLifetime(handlers) {
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
}

/// An object of an interface. Its requests are members with the names that the interface gives them:
/// `toplevel.setTitle("Call")`. Those that create an object return it, and take a closure that sets the handlers of its
/// events.
@dynamicMemberLookup
final class WaylandObject<Interface: WaylandInterface>: WaylandProxy, @unchecked Sendable {
  var reference: WaylandReference<Interface> { .init(pointer) }

  subscript<Message>(dynamicMember path: KeyPath<Interface.Requests, Message>) -> WaylandCall<Interface, Message> {
    WaylandCall(object: self, message: Interface.table.requests[keyPath: path])
  }
}

/// A request that an object can make.
struct WaylandCall<Interface: WaylandInterface, Message: WaylandMessage> {
  fileprivate let object: WaylandObject<Interface>
  fileprivate let message: Message

  /// Whether the object's version has the request.
  var isSupported: Bool { object.version >= message.since }

  /// Makes the request.
  func callAsFunction<each Argument: WaylandArgument>(_ arguments: repeat each Argument)
  where Message == WaylandRequest<repeat each Argument> {
    message.send(to: object.pointer, repeat each arguments)
  }

  /// Makes the request, which creates an object of the same version.
  ///
  /// - Parameters:
  ///   - arguments: the request's arguments without the new object.
  ///   - handlers: sets the handlers of the new object's events.
  /// - Returns: nil when libwayland cannot allocate memory.
  func callAsFunction<Child: WaylandInterface, each Argument: WaylandArgument>(
    _ arguments: repeat each Argument, handlers: (WaylandHandlers<Child>) -> Void = { _ in }
  ) -> WaylandObject<Child>? where Message == WaylandCreation<Child, repeat each Argument> {
    object.loop.make(message, from: object.pointer, version: object.version, repeat each arguments, handlers: handlers)
  }
}

extension WaylandObject where Interface == WLRegistry {
  /// Creates an object for one of the compositor's global objects.
  ///
  /// - Parameters:
  ///   - name: the global object's number.
  ///   - version: the version that the compositor offers.
  ///   - handlers: sets the handlers of the object's events.
  /// - Returns: nil when libwayland cannot allocate memory.
  func bind<Global: WaylandInterface>(
    _ interface: Global.Type, _ name: UInt32, version: UInt32,
    handlers: (WaylandHandlers<Global>) -> Void = { _ in }
  ) -> WaylandObject<Global>? {
    let version = min(version, Global.table.version)
    // The new object is the last argument.
    return withArguments(name, Global.table.name, version) { values in
      loop.make(WLRegistry.table.requests.bind, from: pointer, version: version, values, handlers: handlers)
    }
  }
}

// MARK: - Requests

/// Calls `body` with arguments as libwayland expects them. A zero follows them.
private func withArguments<each Argument: WaylandArgument, Result>(
  _ arguments: repeat each Argument, body: (UnsafeMutablePointer<wl_argument>) -> Result
) -> Result {
  var count = 1
  for _ in repeat (each Argument).self { count += 1 }
  return withUnsafeTemporaryAllocation(of: wl_argument.self, capacity: count) { values in
    values.initialize(repeating: wl_argument())
    var index = 0
    for argument in repeat each arguments {
      values[index] = argument.argument
      index += 1
    }
    defer {
      index = 0
      for type in repeat (each Argument).self {
        type.release(values[index])
        index += 1
      }
    }
    // There is at least the zero.
    return body(values.baseAddress.unsafelyUnwrapped)
  }
}

extension WaylandRequest {
  /// Makes the request on an object.
  func send(to object: OpaquePointer, _ arguments: repeat each Argument) {
    withArguments(repeat each arguments) { values in
      _ = wl_proxy_marshal_array_flags(object, number, nil, wl_proxy_get_version(object), 0, values)
    }
  }
}

extension WaylandEventLoop {
  /// Creates an object by a request to another one.
  ///
  /// - Parameter version: the version of the new object.
  /// - Returns: nil when libwayland cannot allocate memory.
  func make<Child: WaylandInterface, each Argument: WaylandArgument>(
    _ request: WaylandCreation<Child, repeat each Argument>, from parent: OpaquePointer, version: UInt32,
    _ arguments: repeat each Argument, handlers: (WaylandHandlers<Child>) -> Void
  ) -> WaylandObject<Child>? {
    func make(_ values: UnsafeMutablePointer<wl_argument>) -> WaylandObject<Child>? {
      self.make(request, from: parent, version: version, values, handlers: handlers)
    }
    // The number of the new object is zero here. libwayland chooses it.
    return switch request.place {
    case .first: withArguments(UInt32(0), repeat each arguments, body: make)
    case .last: withArguments(repeat each arguments, UInt32(0), body: make)
    }
  }

  /// Creates an object. No event of it is missed, because the thread that reads events dispatches none meanwhile.
  fileprivate func make<Child: WaylandInterface>(
    _ request: WaylandMessage, from parent: OpaquePointer, version: UInt32, _ values: UnsafeMutablePointer<wl_argument>,
    handlers: (WaylandHandlers<Child>) -> Void
  ) -> WaylandObject<Child>? {
    let box = WaylandHandlers<Child>(handlers)
    return making.withLock { _ in
      guard
        let made = wl_proxy_marshal_array_flags(parent, request.number, Child.table.pointer, version, 0, values)
      else { return nil }
      return own(made, version, box)
    }
  }

  /// Takes over an object that an event has created. It is called in the event's handler, so that no event of the object
  /// is missed.
  ///
  /// - Returns: nil when the event was for an object that the program has destroyed.
  func adopt<Child: WaylandInterface>(
    _ new: WaylandNew<Child>, handlers: (WaylandHandlers<Child>) -> Void = { _ in }
  ) -> WaylandObject<Child>? {
    new.pointer.map { own($0, wl_proxy_get_version($0), WaylandHandlers<Child>(handlers)) }
  }

  private func own<Child: WaylandInterface>(
    _ made: OpaquePointer, _ version: UInt32, _ box: WaylandHandlers<Child>
  ) -> WaylandObject<Child> {
    // A toolkit may look at the user data of a surface, and leaves those alone that have none.
    if !box.isEmpty {
      wl_proxy_add_dispatcher(made, WaylandDispatch.dispatcher, nil, Unmanaged.passUnretained(box).toOpaque())
    }
    return WaylandObject(made, version: version, loop: self, destructor: Child.table.destructor, box)
  }
}

// MARK: - Events

/// Dispatches the events of an object. It is the object's user data in libwayland.
///
/// `@unchecked Sendable`: it changes only before the object exists.
class WaylandDispatch: @unchecked Sendable {
  fileprivate func handle(_ event: UInt32, _ values: UnsafePointer<wl_argument>) {}

  fileprivate static let dispatcher: wl_dispatcher_func_t = { _, target, event, _, values in
    guard let target, let values, let box = wl_proxy_get_user_data(OpaquePointer(target)) else { return 0 }
    Unmanaged<WaylandDispatch>.fromOpaque(box).takeUnretainedValue().handle(event, values)
    return 0
  }
}

/// The handlers of an object's events. Each event is a member with the name that the interface gives it:
/// `events.close { ... }` sets its handler, which is called on the thread that reads the connection. Events without a
/// handler are ignored.
@dynamicMemberLookup
final class WaylandHandlers<Interface: WaylandInterface>: WaylandDispatch, @unchecked Sendable {
  fileprivate var handlers: [UInt32: (UnsafePointer<wl_argument>) -> Void] = [:]

  fileprivate init(_ set: (WaylandHandlers) -> Void) {
    super.init()
    set(self)
  }

  fileprivate var isEmpty: Bool { handlers.isEmpty }

  override fileprivate func handle(_ event: UInt32, _ values: UnsafePointer<wl_argument>) { handlers[event]?(values) }

  subscript<Event>(dynamicMember path: KeyPath<Interface.Events, Event>) -> WaylandHandlerSetter<Interface, Event> {
    WaylandHandlerSetter(handlers: self, event: Interface.table.events[keyPath: path])
  }
}

/// Sets the handler of an event.
struct WaylandHandlerSetter<Interface: WaylandInterface, Event: WaylandMessage> {
  fileprivate let handlers: WaylandHandlers<Interface>
  fileprivate let event: Event

  func callAsFunction<each Value: WaylandValue>(_ handler: @escaping @Sendable (repeat each Value) -> Void)
  where Event == WaylandEvent<repeat each Value> {
    let event = event
    handlers.handlers[event.number] = { event.call(handler, with: $0) }
  }
}

/// The address of one of libwayland's objects, which is passed to another thread.
///
/// `@unchecked Sendable`: it is only an address. The code that uses it makes sure that the object still exists.
struct Address: @unchecked Sendable {
  let value: OpaquePointer

  init(_ value: OpaquePointer) { self.value = value }
}
