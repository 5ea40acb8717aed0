import CWindows
import Glibc

/// The type of an argument of a request or an event.
protocol WaylandType {
  /// The letter of the type as in `wl_message`, with a question mark before it where there need not be an object.
  static var letters: String { get }
  /// The interface of an object. It is nil for other types, and where the interface does not matter.
  static var interface: UnsafePointer<wl_interface>? { get }
}

extension WaylandType {
  static var interface: UnsafePointer<wl_interface>? { nil }
}

/// An argument of a request.
protocol WaylandArgument: WaylandType {
  /// The argument as libwayland expects it.
  var argument: wl_argument { get }
  /// Frees what ``argument`` has allocated, after the request.
  static func release(_ argument: wl_argument)
}

extension WaylandArgument {
  static func release(_ argument: wl_argument) {}
}

/// An argument of an event.
protocol WaylandValue: WaylandType {
  /// - Parameter argument: the argument, which is valid only during the handler's call.
  init(_ argument: wl_argument)
}

extension Int: WaylandArgument, WaylandValue {
  static var letters: String { "i" }
  var argument: wl_argument { wl_argument(i: Int32(clamping: self)) }
  init(_ argument: wl_argument) { self = Int(argument.i) }
}

extension UInt32: WaylandArgument, WaylandValue {
  static var letters: String { "u" }
  var argument: wl_argument { wl_argument(u: self) }
  init(_ argument: wl_argument) { self = argument.u }
}

/// A number in 24.8 fixed-point format.
extension Double: WaylandArgument, WaylandValue {
  static var letters: String { "f" }
  var argument: wl_argument { wl_argument(f: wl_fixed_from_double(self)) }
  init(_ argument: wl_argument) { self = wl_fixed_to_double(argument.f) }
}

extension String: WaylandArgument, WaylandValue {
  static var letters: String { "s" }
  var argument: wl_argument { wl_argument(s: UnsafePointer(strdup(self))) }
  static func release(_ argument: wl_argument) { free(UnsafeMutableRawPointer(mutating: argument.s)) }
  init(_ argument: wl_argument) { self = argument.s.map { String(cString: $0) } ?? "" }
}

/// An array of 32-bit numbers.
extension [UInt32]: WaylandType, WaylandValue {
  static var letters: String { "a" }
  init(_ argument: wl_argument) {
    guard let array = argument.a?.pointee, let data = array.data else {
      self = []
      return
    }
    let bytes = UnsafeRawBufferPointer(start: data, count: array.size)
    self = (0..<bytes.count / 4).map { bytes.loadUnaligned(fromByteOffset: $0 * 4, as: UInt32.self) }
  }
}

/// A file descriptor. The handler of an event closes it; a request sends a copy.
struct WaylandDescriptor: WaylandArgument, WaylandValue {
  let number: Int32

  static var letters: String { "h" }
  var argument: wl_argument { wl_argument(h: number) }
  init(_ number: Int32) { self.number = number }
  init(_ argument: wl_argument) { number = argument.h }
}

/// One of the values of an enumeration in a protocol.
protocol WaylandChoice: WaylandArgument, WaylandValue, RawRepresentable<UInt32>, Sendable {
  init(rawValue: UInt32)
}

/// A set of flags in a protocol.
protocol WaylandFlags: WaylandChoice, OptionSet {}

extension WaylandChoice {
  static var letters: String { "u" }
  var argument: wl_argument { wl_argument(u: rawValue) }
  init(_ argument: wl_argument) { self.init(rawValue: argument.u) }
}

/// An argument that is an object. It is optional in requests where the protocol allows that there is none, and in all
/// events: libwayland passes none where the program has destroyed the object before the event arrives.
protocol WaylandObjectArgument: WaylandArgument {
  init(_ pointer: OpaquePointer)
}

extension Optional: WaylandType, WaylandArgument, WaylandValue where Wrapped: WaylandObjectArgument {
  static var letters: String { "?" + Wrapped.letters }
  static var interface: UnsafePointer<wl_interface>? { Wrapped.interface }
  var argument: wl_argument { self?.argument ?? wl_argument(o: nil) }
  init(_ argument: wl_argument) { self = argument.o.map { Wrapped($0) } }
}

/// The address of an object. The object may belong to somebody else.
///
/// `@unchecked Sendable`: it is only an address. The code that uses it makes sure that the object still exists.
struct WaylandReference<Interface: WaylandInterface>: WaylandObjectArgument, Hashable, @unchecked Sendable {
  let pointer: OpaquePointer

  static var letters: String { "o" }
  static var interface: UnsafePointer<wl_interface>? { Interface.table.pointer }
  var argument: wl_argument { wl_argument(o: pointer) }
  init(_ pointer: OpaquePointer) { self.pointer = pointer }
}

/// An object in a request that is never made here.
struct WaylandUnused: WaylandObjectArgument {
  static var letters: String { "o" }
  var argument: wl_argument { wl_argument(o: nil) }
  init(_ pointer: OpaquePointer) {}
}

/// The object that a request or an event creates. The handler of an event makes a ``WaylandObject`` of it
/// (``WaylandEventLoop/adopt(_:handlers:)``).
struct WaylandNew<Interface: WaylandInterface>: WaylandValue {
  /// The object; nil where the event has come for an object that the program has destroyed.
  let pointer: OpaquePointer?

  static var letters: String { "n" }
  static var interface: UnsafePointer<wl_interface>? { Interface.table.pointer }
  init(_ argument: wl_argument) { pointer = argument.o }
}

/// The object that wl_registry.bind creates, whose interface the request names.
struct WaylandNewOfAnyKind: WaylandType {
  static var letters: String { "n" }
}
