import CGIO

@testable import PipSink
@testable import PipSinkDBus

/// Fuzzes the D-Bus interfaces without a bus. The bytes are the arguments of a call, in the form in which GDBus
/// delivers them, and the target checks the reply. The first byte selects a method or a property.
@MainActor
enum BusTarget {
  // swift-format-ignore: NeverUseForceTry
  private static let session = try! PictureInPictureSession(display: NoDisplay())
  private static let interfaces: [BusInterface] = [.session(), .mediaPlayer(identity: "fuzz") {}, .player()]

  private static let methods = interfaces.flatMap(\.methods)

  static func run(_ bytes: [UInt8]) {
    guard let first = bytes.first else { return }
    let place = Int(first) % (methods.count + 1)
    guard place < methods.count else { return setProperty(Array(bytes.dropFirst())) }
    let method = methods[place]
    let arguments = read(bytes.dropFirst(), signature(method.inputs))
    do {
      if method.name == "StartPlayingStream" {
        try start(arguments)
      } else {
        let results = try method.perform(session, arguments)
        check(BusValue.makeTuple(results), signature(method.outputs), method.name)
      }
    } catch {
      let name = (error as? PipSinkError)?.busName
      require(name.map { g_dbus_is_interface_name($0) != 0 } == true && !"\(error)".isEmpty, "\(error)")
      check(BusValue.makeTuple([.string("\(error)")]), "(s)", method.name)
    }
    for interface in interfaces { checkProperties(of: interface) }
    for id in session.streams.map(\.id) {
      check(BusValue.makeTuple([.streams(of: "s", [(id, .stream(id))])]), "(a{ss})", "\(id)")
    }
  }

  /// Adds a stream with the requested ID. Its source is checked, but not played.
  private static func start(_ arguments: [BusValue]) throws(PipSinkError) {
    var arguments = arguments.makeIterator()
    let id = try BusParameter.stream("stream").next(in: &arguments)
    let text =
      switch try BusParameter.source("source").next(in: &arguments) {
      case .uri(let text), .description(let text): text
      }
    let idBytes = id.rawValue.utf8
    require(!idBytes.isEmpty && idBytes.count <= 255 && !idBytes.contains { $0 < 0x20 || $0 == 0x7F }, "\(id)")
    require(!text.isEmpty && text.utf8.count <= 65_536, text)
    for id in session.streams.map(\.id) { try session.removeStream(id) }
    _ = try session.addInput(id)
  }

  /// Reads arguments of the given type from untrusted bytes. GVariant replaces invalid parts by default values.
  private static func read(_ bytes: ArraySlice<UInt8>, _ type: String) -> [BusValue] {
    let content = Array(bytes).withUnsafeBytes { g_bytes_new($0.baseAddress, gsize($0.count)) }
    defer { g_bytes_unref(content) }
    let variantType = g_variant_type_new(type)
    defer { g_variant_type_free(variantType) }
    let variant = g_variant_ref_sink(g_variant_new_from_bytes(variantType, content, 0))
    defer { g_variant_unref(variant) }
    let arguments = BusValue.children(of: variant)
    let normal = g_variant_get_normal_form(variant)
    defer { g_variant_unref(normal) }
    // The texts are compared, because a number may be NaN.
    require("\(BusValue.children(of: normal))" == "\(arguments)", type)
    return arguments
  }

  private static func setProperty(_ bytes: [UInt8]) {
    guard case .variant(let value)? = read(bytes[...], "(ssv)").last else { return }
    for property in interfaces.flatMap(\.properties) { property.set?(session, value) }
  }

  private static func signature(_ arguments: [BusArgument]) -> String {
    "(\(arguments.map(\.type).joined()))"
  }

  private static func checkProperties(of interface: BusInterface) {
    let node = g_dbus_node_info_new_for_xml(interface.description, nil)
    defer { g_dbus_node_info_unref(node) }
    let info = g_dbus_node_info_lookup_interface(node, interface.name)
    for (name, value) in interface.values(of: session) {
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
