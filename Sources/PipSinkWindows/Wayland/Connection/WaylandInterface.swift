import CWindows
import Glibc
import PipSink

/// A Wayland interface: its requests and events by their names, with the types of their arguments, as in its protocol's
/// XML.
///
/// A conforming type is only a name for the interface, and has no values. The order of the properties in `Requests` and
/// `Events` is that of the protocol, from which the numbers on the wire follow. libwayland gets its description of the
/// interface from these properties, too, so that no generated C is needed.
protocol WaylandInterface: SendableMetatype {
  /// The requests. Each property is a ``WaylandRequest``, a ``WaylandCreation`` or a ``WaylandDestructor``.
  associatedtype Requests: Sendable
  /// The events. Each property is a ``WaylandEvent``.
  associatedtype Events: Sendable = WaylandNoEvents
  static var table: WaylandTable<Requests, Events> { get }
}

/// The events of an interface that has none.
struct WaylandNoEvents: Sendable {}

/// The description of an interface for libwayland.
///
/// `@unchecked Sendable`: a table is never changed once it is created, and never freed, because libwayland keeps its
/// address.
final class WaylandTable<Requests: Sendable, Events: Sendable>: @unchecked Sendable {
  let name: String
  /// The highest version that is used.
  let version: UInt32
  let requests: Requests
  let events: Events
  let pointer: UnsafePointer<wl_interface>
  /// The request that destroys an object.
  let destructor: WaylandDestructor?

  /// - Parameters:
  ///   - name: the interface's name.
  ///   - version: the highest version that is used.
  ///   - requests: the requests, all or the first ones.
  ///   - events: the events, all that the version has.
  init(_ name: String, version: UInt32, _ requests: Requests, _ events: Events) {
    let (methods, notices) = (Self.numbered(requests), Self.numbered(events))
    let interface = UnsafeMutablePointer<wl_interface>.allocate(capacity: 1)
    interface.initialize(
      to: wl_interface(
        name: strdup(name), version: Int32(version), method_count: Int32(methods.count), methods: Self.copy(methods),
        event_count: Int32(notices.count), events: Self.copy(notices)))
    (self.name, self.version, self.requests, self.events) = (name, version, requests, events)
    (pointer, destructor) = (UnsafePointer(interface), methods.lazy.compactMap { $0 as? WaylandDestructor }.first)
  }

  /// Describes an interface that libwayland contains.
  ///
  /// - Parameters:
  ///   - pointer: libwayland's own description.
  ///   - version: the highest version whose events are known here. libwayland's may be lower.
  ///   - requests: the requests, all or the first ones.
  ///   - events: the events, all or the first ones. Later ones are ignored.
  init(_ pointer: UnsafePointer<wl_interface>, version: UInt32 = .max, _ requests: Requests, _ events: Events) {
    let methods = Self.numbered(requests)
    _ = Self.numbered(events)
    name = String(cString: pointer.pointee.name)
    self.version = min(version, UInt32(pointer.pointee.version))
    (self.requests, self.events, self.pointer) = (requests, events, pointer)
    destructor = methods.lazy.compactMap { $0 as? WaylandDestructor }.first
  }

  /// Gives the messages their numbers.
  ///
  /// - Parameter messages: a value whose properties are the messages.
  private static func numbered(_ messages: Any) -> [WaylandMessage] {
    let found = Mirror(reflecting: messages).children.compactMap { $0.value as? WaylandMessage }
    for (number, message) in found.enumerated() { message.number = UInt32(number) }
    return found
  }

  private static func copy(_ messages: [WaylandMessage]) -> UnsafePointer<wl_message>? {
    guard !messages.isEmpty else { return nil }
    let table = UnsafeMutablePointer<wl_message>.allocate(capacity: messages.count)
    for (index, message) in messages.enumerated() {
      // libwayland reads a type for each argument.
      let types = UnsafeMutablePointer<UnsafePointer<wl_interface>?>.allocate(capacity: max(1, message.types.count))
      types.initialize(to: nil)
      for (place, type) in message.types.enumerated() { (types + place).initialize(to: type) }
      (table + index).initialize(
        to: wl_message(name: strdup(message.name), signature: strdup(message.signature), types: types))
    }
    return UnsafePointer(table)
  }
}

extension WaylandTable where Events == WaylandNoEvents {
  convenience init(_ name: String, version: UInt32, _ requests: Requests) {
    self.init(name, version: version, requests, WaylandNoEvents())
  }

  convenience init(_ pointer: UnsafePointer<wl_interface>, version: UInt32 = .max, _ requests: Requests) {
    self.init(pointer, version: version, requests, WaylandNoEvents())
  }
}

/// A request or an event of an interface.
///
/// `@unchecked Sendable`: the number is set while the interface's table is created.
class WaylandMessage: @unchecked Sendable {
  let name: String
  /// The first version of the interface that has it.
  let since: UInt32
  private let arguments: [any WaylandType.Type]
  fileprivate(set) var number: UInt32 = 0

  fileprivate init(_ name: String, since: UInt32, _ arguments: [any WaylandType.Type]) {
    (self.name, self.since, self.arguments) = (name, since, arguments)
  }

  /// The first version and the letters of the arguments, as in `wl_message`.
  var signature: String { (since > 1 ? "\(since)" : "") + arguments.map { $0.letters }.joined() }

  /// The interfaces of the arguments that are objects, and nil for the others.
  var types: [UnsafePointer<wl_interface>?] { arguments.map { $0.interface } }
}

/// A request.
final class WaylandRequest<each Argument: WaylandArgument>: WaylandMessage, @unchecked Sendable {
  init(_ name: String, since: UInt32 = 1) {
    var arguments: [any WaylandType.Type] = []
    for type in repeat (each Argument).self { arguments.append(type) }
    super.init(name, since: since, arguments)
  }
}

/// A request without arguments.
typealias WaylandBareRequest = WaylandRequest<>
/// An event without values.
typealias WaylandBareEvent = WaylandEvent<>

/// A request that creates an object.
final class WaylandCreation<Child: WaylandInterface, each Argument: WaylandArgument>: WaylandMessage,
  @unchecked Sendable
{
  /// The new object's place among the arguments in the protocol.
  let place: WaylandPlace

  init(_ name: String, since: UInt32 = 1, newObject place: WaylandPlace = .first) {
    self.place = place
    var arguments: [any WaylandType.Type] = []
    for type in repeat (each Argument).self { arguments.append(type) }
    arguments.insert(WaylandNew<Child>.self, at: place == .first ? 0 : arguments.count)
    super.init(name, since: since, arguments)
  }
}

/// A place among the arguments of a request.
enum WaylandPlace { case first, last }

/// The request wl_registry.bind. The object that it creates has the interface and the version that its arguments name.
final class WaylandBinding: WaylandMessage, @unchecked Sendable {
  init() { super.init("bind", since: 1, [UInt32.self, String.self, UInt32.self, WaylandNewOfAnyKind.self]) }
}

/// The request that destroys an object, which ``WaylandProxy/destroy()`` makes.
final class WaylandDestructor: WaylandMessage, @unchecked Sendable {
  init(_ name: String = "destroy", since: UInt32 = 1) { super.init(name, since: since, []) }
}

/// An event.
final class WaylandEvent<each Value: WaylandValue>: WaylandMessage, @unchecked Sendable {
  init(_ name: String, since: UInt32 = 1) {
    var arguments: [any WaylandType.Type] = []
    for type in repeat (each Value).self { arguments.append(type) }
    super.init(name, since: since, arguments)
  }

  /// The objects of an event are optional here, whatever the protocol says.
  override var signature: String { super.signature.filter { $0 != "?" } }

  /// Calls a handler with an event's values.
  func call(_ handler: (repeat each Value) -> Void, with values: UnsafePointer<wl_argument>) {
    var index = 0
    func next<Next: WaylandValue>(_ type: Next.Type) -> Next {
      defer { index += 1 }
      return Next(values[index])
    }
    handler(repeat next((each Value).self))
  }
}
