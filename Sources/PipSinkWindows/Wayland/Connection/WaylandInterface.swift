import CWindows
import Glibc

/// A Wayland interface: the names of its requests and events, and the types of their arguments, as in its protocol's
/// XML.
///
/// Interfaces that libwayland does not contain are created at run time, so that no generated C is needed.
///
/// `@unchecked Sendable`: an interface is never changed once it is created, and never freed, because libwayland keeps
/// its address.
struct WaylandInterface: @unchecked Sendable {
  let pointer: UnsafePointer<wl_interface>

  /// A request or an event.
  struct Message {
    fileprivate let name: String
    fileprivate let signature: String
    fileprivate let types: [WaylandInterface?]

    /// - Parameters:
    ///   - name: the name of the request or event.
    ///   - signature: one letter for each argument, as in `wl_message`.
    ///   - types: the interfaces of the arguments that are objects, and nil for the others. It is empty where no
    ///     argument is an object whose interface matters.
    init(_ name: String, _ signature: String = "", _ types: [WaylandInterface?] = []) {
      (self.name, self.signature, self.types) = (name, signature, types)
    }
  }

  /// Refers to an interface that libwayland contains.
  private init(_ pointer: UnsafePointer<wl_interface>) {
    self.pointer = pointer
  }

  /// Creates an interface.
  ///
  /// - Parameters:
  ///   - name: the interface's name.
  ///   - version: the highest version that is used.
  ///   - requests: the requests in the order of their numbers.
  ///   - events: the events in the order of their numbers.
  init(_ name: String, version: Int32, requests: [Message], events: [Message] = []) {
    let interface = UnsafeMutablePointer<wl_interface>.allocate(capacity: 1)
    interface.initialize(
      to: wl_interface(
        name: strdup(name), version: version, method_count: Int32(requests.count), methods: Self.table(requests),
        event_count: Int32(events.count), events: Self.table(events)))
    pointer = UnsafePointer(interface)
  }

  private static func table(_ messages: [Message]) -> UnsafePointer<wl_message>? {
    guard !messages.isEmpty else { return nil }
    let table = UnsafeMutablePointer<wl_message>.allocate(capacity: messages.count)
    for (index, message) in messages.enumerated() {
      // libwayland reads a type for each argument, and the signature has at least one letter for each.
      let count = max(message.types.count, message.signature.utf8.count, 1)
      let types = UnsafeMutablePointer<UnsafePointer<wl_interface>?>.allocate(capacity: count)
      types.initialize(repeating: nil, count: count)
      for (place, type) in message.types.enumerated() { types[place] = type?.pointer }
      table.advanced(by: index)
        .initialize(to: wl_message(name: strdup(message.name), signature: strdup(message.signature), types: types))
    }
    return UnsafePointer(table)
  }

  var name: String { String(cString: pointer.pointee.name) }
  var version: UInt32 { UInt32(pointer.pointee.version) }

  // MARK: - The core protocol, which libwayland contains

  static let buffer = WaylandInterface(pipsink_wl_buffer())
  static let callback = WaylandInterface(pipsink_wl_callback())
  static let compositor = WaylandInterface(pipsink_wl_compositor())
  static let keyboard = WaylandInterface(pipsink_wl_keyboard())
  static let output = WaylandInterface(pipsink_wl_output())
  static let wlPointer = WaylandInterface(pipsink_wl_pointer())
  static let registry = WaylandInterface(pipsink_wl_registry())
  static let seat = WaylandInterface(pipsink_wl_seat())
  static let sharedMemory = WaylandInterface(pipsink_wl_shm())
  static let pool = WaylandInterface(pipsink_wl_shm_pool())
  static let subcompositor = WaylandInterface(pipsink_wl_subcompositor())
  static let subsurface = WaylandInterface(pipsink_wl_subsurface())
  static let surface = WaylandInterface(pipsink_wl_surface())
  static let touch = WaylandInterface(pipsink_wl_touch())
}
