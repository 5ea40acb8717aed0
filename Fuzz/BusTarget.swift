import CGIO

@testable import PipSink
@testable import PipSinkDBus

/// Fuzzes the D-Bus interfaces without a bus. The bytes are the arguments of a call, in the form in which GDBus
/// delivers them, and the target checks the reply. The first byte selects a method or a property.
@MainActor
enum BusTarget {
  // swift-format-ignore: NeverUseForceTry
  private static let session = try! PictureInPictureSession(display: NoDisplay())
  private static let interfaces: [any BusInterface] = [
    SessionInterface(), MediaPlayerInterface(identity: "fuzz") {}, PlayerInterface(),
  ]

  /// A method with the signatures of its input and output, from the interface's description.
  private struct Method {
    let interface: any BusInterface
    let name: String
    let input: String
    let output: String
  }

  private static let methods: [Method] = interfaces.flatMap { interface in
    var methods: [Method] = []
    let node = g_dbus_node_info_new_for_xml(interface.description, nil)
    defer { g_dbus_node_info_unref(node) }
    let info = g_dbus_node_info_lookup_interface(node, interface.name)
    var next = info?.pointee.methods
    while let method = next?.pointee {
      methods.append(
        Method(
          interface: interface, name: String(cString: method.pointee.name), input: signature(method.pointee.in_args),
          output: signature(method.pointee.out_args)))
      next = next.map { $0 + 1 }
    }
    return methods
  }

  private static func signature(_ arguments: UnsafeMutablePointer<UnsafeMutablePointer<GDBusArgInfo>?>?) -> String {
    var result = ""
    var next = arguments
    while let argument = next?.pointee {
      result += String(cString: argument.pointee.signature)
      next = next.map { $0 + 1 }
    }
    return "(\(result))"
  }

  static func run(_ bytes: [UInt8]) {
    guard let first = bytes.first else { return }
    let place = Int(first) % (methods.count + 1)
    guard place < methods.count else { return setProperty(Array(bytes.dropFirst())) }
    let method = methods[place]
    let arguments = read(bytes.dropFirst(), method.input)
    do throws(PipSinkError) {
      if method.name == "StartPlayingStream" {
        try start(arguments.texts)
      } else {
        let results = try method.interface.perform(method.name, arguments.texts, on: session)
        check(BusValue.makeTuple(results), method.output, method.name)
      }
    } catch {
      require(g_dbus_is_interface_name(error.busName) != 0 && !error.description.isEmpty, "\(error)")
      check(BusValue.makeTuple([.string(error.description)]), "(s)", method.name)
    }
    for interface in interfaces { checkProperties(of: interface) }
    for id in session.streams.map(\.id) {
      check(BusValue.makeTuple([.streams(of: "s", [(id, .stream(id))])]), "(a{ss})", "\(id)")
    }
  }

  /// Adds a stream with the requested ID. Its source is checked, but not played.
  private static func start(_ arguments: [String]) throws(PipSinkError) {
    let (id, text) =
      switch try SessionInterface.source(arguments) {
      case .uri(let id, let uri): (id, uri)
      case .description(let id, let text): (id, text)
      }
    let idBytes = id.rawValue.utf8
    require(!idBytes.isEmpty && idBytes.count <= 255 && !idBytes.contains { $0 < 0x20 || $0 == 0x7F }, "\(id)")
    require(!text.isEmpty && text.utf8.count <= 65_536, text)
    for id in session.streams.map(\.id) { try session.removeStream(id) }
    _ = try session.addInput(id)
  }

  /// Reads arguments of the given type from untrusted bytes. GVariant replaces invalid parts by default values.
  private static func read(_ bytes: ArraySlice<UInt8>, _ type: String) -> BusArguments {
    let content = Array(bytes).withUnsafeBytes { g_bytes_new($0.baseAddress, gsize($0.count)) }
    defer { g_bytes_unref(content) }
    let variantType = g_variant_type_new(type)
    defer { g_variant_type_free(variantType) }
    let variant = g_variant_ref_sink(g_variant_new_from_bytes(variantType, content, 0))
    defer { g_variant_unref(variant) }
    let arguments = BusArguments(variant)
    let normal = g_variant_get_normal_form(variant)
    defer { g_variant_unref(normal) }
    require(BusArguments(normal).texts == arguments.texts, type)
    return arguments
  }

  private static func setProperty(_ bytes: [UInt8]) {
    let arguments = read(bytes[...], "(ssv)")
    guard let number = arguments.number, let name = arguments.texts.last else { return }
    for interface in interfaces { interface.setProperty(name, to: number, of: session) }
  }

  private static func checkProperties(of interface: any BusInterface) {
    let node = g_dbus_node_info_new_for_xml(interface.description, nil)
    defer { g_dbus_node_info_unref(node) }
    let info = g_dbus_node_info_lookup_interface(node, interface.name)
    for (name, value) in interface.properties(of: session) {
      let property = g_dbus_interface_info_lookup_property(info, name)
      require(property != nil, "there is no property \(name)")
      guard let property else { continue }
      check(value.makeVariant(), String(cString: property.pointee.signature), name)
    }
  }

  /// Checks the type of a value. The function consumes the floating reference.
  private static func check(_ variant: OpaquePointer?, _ type: String, _ name: String) {
    guard let variant else { return require(false, "there is no value for \(name)") }
    g_variant_ref_sink(variant)
    defer { g_variant_unref(variant) }
    require(String(cString: g_variant_get_type_string(variant)) == type, "\(name) does not have the type \(type)")
    require(g_variant_is_normal_form(variant) != 0, name)
  }
}
