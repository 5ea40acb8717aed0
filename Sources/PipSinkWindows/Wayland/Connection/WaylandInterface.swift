import CWindows
import Glibc

/// A Wayland interface that libwayland does not know by itself, as its protocol's description has it: the names of
/// requests and events, and the types of their arguments. It is made at run time, so that no generated C is needed.
///
/// `@unchecked Sendable`: never changed once it is made, and never freed, as libwayland keeps the addresses.
struct WaylandInterface: @unchecked Sendable {
  let pointer: UnsafePointer<wl_interface>

  /// A request or an event.
  struct Message {
    fileprivate let name: String
    fileprivate let signature: String
    fileprivate let types: [WaylandInterface?]

    /// - Parameters:
    ///   - signature: a letter for each argument, as in `wl_message`.
    ///   - types: of the arguments, nil for those that are no objects; left out where there are none of those.
    init(_ name: String, _ signature: String = "", _ types: [WaylandInterface?] = []) {
      (self.name, self.signature, self.types) = (name, signature, types)
    }
  }

  /// One of libwayland's own.
  private init(_ pointer: UnsafePointer<wl_interface>) {
    self.pointer = pointer
  }

  /// - Parameter requests: in the order of their numbers, as `events`.
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
      // As many as there can be arguments, where none is an object.
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

  // MARK: - libwayland's own

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
