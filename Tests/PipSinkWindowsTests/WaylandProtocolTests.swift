import CWindows
import Foundation
import Testing

@testable import PipSinkWindows
@testable import TestSupport

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// Tests that the requests and events of our tables are those of the protocols, by the protocols' XML files.
@Suite struct WaylandProtocolTests {
  private struct Message: Equatable, CustomStringConvertible {
    let name: String
    /// As in `wl_message`.
    var signature: String
    /// The interfaces of the arguments that have one.
    var types: [String]

    var description: String { "\(name) \(signature) \(types.joined(separator: " "))" }
  }

  private struct Facts {
    let version: Int
    var requests: [Message] = []
    var events: [Message] = []
  }

  /// Reads the interfaces of a protocol.
  private final class Reader: NSObject, XMLParserDelegate {
    private(set) var interfaces: [String: Facts] = [:]
    private var interface = ""
    private var messages = \Facts.requests

    func parser(
      _ parser: XMLParser, didStartElement element: String, namespaceURI: String?, qualifiedName: String?,
      attributes: [String: String]
    ) {
      let name = attributes["name"] ?? ""
      switch element {
      case "interface":
        interface = name
        interfaces[name] = Facts(version: Int(attributes["version"] ?? "") ?? 0)
      case "request", "event":
        messages = element == "event" ? \Facts.events : \Facts.requests
        let since = attributes["since"].flatMap { $0 == "1" ? nil : $0 } ?? ""
        interfaces[interface]?[keyPath: messages].append(Message(name: name, signature: since, types: []))
      case "arg": addArgument(attributes)
      default: break
      }
    }

    private func addArgument(_ attributes: [String: String]) {
      guard var facts = interfaces[interface], var message = facts[keyPath: messages].popLast() else { return }
      let letters = [
        "int": "i", "uint": "u", "fixed": "f", "string": "s", "array": "a", "fd": "h", "object": "o", "new_id": "n",
      ]
      let type = attributes["type"] ?? ""
      // Without an interface, the object's interface and version are arguments, too.
      if type == "new_id", attributes["interface"] == nil { message.signature += "su" }
      message.signature += (attributes["allow-null"] == "true" ? "?" : "") + (letters[type] ?? "")
      if let interface = attributes["interface"] { message.types.append(interface) }
      facts[keyPath: messages].append(message)
      interfaces[interface] = facts
    }
  }

  /// The interfaces in the XML files of libwayland-dev and wayland-protocols.
  private static let installed: [String: Facts] = {
    var found: [String: Facts] = [:]
    for folder in ["/usr/share/wayland", "/usr/share/wayland-protocols"] {
      let files = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
      // Some interfaces of stable protocols have the names of unstable ones.
      for file in files.sorted() where file.hasSuffix(".xml") {
        let reader = Reader()
        let parser = XMLParser(contentsOf: URL(fileURLWithPath: "\(folder)/\(file)"))
        parser?.delegate = reader
        _ = parser?.parse()
        found.merge(reader.interfaces) { first, _ in first }
      }
    }
    return found
  }()

  /// The interfaces in `wayland-protocols.txt`.
  private static func written() throws -> [String: Facts] {
    let path = "Tests/PipSinkWindowsTests/wayland-protocols.txt"
    let text = try String(contentsOf: Demo.root.appendingPathComponent(path), encoding: .utf8)
    var (found, interface): ([String: Facts], String) = ([:], "")
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      let words = line.split(separator: " ").map(String.init)
      if words[0] == "interface" {
        interface = words[1]
        found[interface] = Facts(version: Int(words[2]) ?? 0)
      } else {
        let message = Message(
          name: words[1], signature: words[2] == "-" ? "" : words[2], types: Array(words.dropFirst(3)))
        found[interface]?[keyPath: words[0] == "event" ? \Facts.events : \Facts.requests].append(message)
      }
    }
    return found
  }

  private static let interfaces: [any WaylandInterface.Type] = [
    WLDisplay.self, WLRegistry.self, WLCallback.self, WLCompositor.self, WLRegion.self, WLSurface.self,
    WLSubcompositor.self, WLSubsurface.self, WLShm.self, WLShmPool.self, WLBuffer.self, WLOutput.self, WLSeat.self,
    WLPointer.self, WLKeyboard.self, WLTouch.self, XDGWMBase.self, XDGPositioner.self, XDGPopup.self, XDGSurface.self,
    XDGToplevel.self, ZXDGDecorationManager.self, ZXDGToplevelDecoration.self, XDGToplevelTagManager.self,
    XDGActivation.self, XDGActivationToken.self, ZWLRLayerShell.self, ZWLRLayerSurface.self, XXPipShell.self,
    XXPip.self, WPViewporter.self, WPViewport.self, WPFractionalScaleManager.self, WPFractionalScale.self,
    WPAlphaModifier.self, WPAlphaModifierSurface.self, ZXDGOutputManager.self, ZXDGOutput.self,
    WPCursorShapeManager.self, WPCursorShapeDevice.self, ZWPRelativePointerManager.self, ZWPRelativePointer.self,
    ZWPIdleInhibitManager.self, ZWPIdleInhibitor.self, WPPresentation.self, WPPresentationFeedback.self,
    ZWPLinuxDMABuf.self, ZWPLinuxBufferParams.self, WPColorRepresentationManager.self,
    WPColorRepresentationSurface.self,
  ]

  private func messages(_ values: Any) -> [WaylandMessage] {
    Mirror(reflecting: values).children.compactMap { $0.value as? WaylandMessage }
  }

  private func check<Interface: WaylandInterface>(_ interface: Interface.Type, _ written: [String: Facts]) throws {
    let table = Interface.table
    let facts = try #require(Self.installed[table.name] ?? written[table.name], "\(table.name)")
    let isOwn = !table.name.hasPrefix("wl_")
    // Debian 12 has version 5 of xdg-shell. What version 6 has more is a state of windows.
    let isOfShell = ["xdg_wm_base", "xdg_positioner", "xdg_surface", "xdg_toplevel", "xdg_popup"].contains(table.name)
    if isOwn { #expect(Int(table.version) <= facts.version + (isOfShell ? 1 : 0), "\(table.name)") }
    for (ours, theirs) in [
      (messages(table.requests), facts.requests), (messages(table.events), facts.events),
    ] {
      try #require(ours.count <= theirs.count, "\(table.name)")
      for (number, message) in ours.enumerated() {
        #expect(message.number == UInt32(number))
        let types = message.types.compactMap { $0.map { String(cString: $0.pointee.name) } }
        // Objects that are never used have no type here.
        let known = theirs[number].types.filter { $0 != "zwp_tablet_tool_v2" }
        let isUntyped = message.signature.contains("o") && types.count < known.count
        #expect(
          Message(name: message.name, signature: message.signature, types: isUntyped ? known : types)
            == Message(name: theirs[number].name, signature: theirs[number].signature, types: known), "\(table.name)")
      }
    }
    // libwayland ends the connection when an event comes that its table does not have. Popups are never created.
    if isOwn, table.name != "xdg_popup" {
      let wanted = facts.events.filter { (Int($0.signature.prefix { $0.isNumber }) ?? 1) <= table.version }
      #expect(messages(table.events).count >= wanted.count, "\(table.name)")
    }
    // What libwayland got is what the table says.
    let pointer = table.pointer.pointee
    for (index, message) in messages(table.requests).enumerated() {
      #expect(String(cString: pointer.methods[index].name) == message.name)
      #expect(String(cString: pointer.methods[index].signature) == message.signature)
    }
    for (index, message) in messages(table.events).enumerated() where index < pointer.event_count {
      #expect(String(cString: pointer.events[index].name) == message.name)
      #expect(String(cString: pointer.events[index].signature) == message.signature)
    }
  }

  @Test(.enabled(if: !installed.isEmpty, "libwayland-dev and wayland-protocols are not installed"))
  func everyTableIsThatOfItsProtocol() throws {
    let written = try Self.written()
    for interface in Self.interfaces { try check(interface, written) }
    // Where there is a file, what is written here is the same.
    for (name, facts) in written {
      guard let file = Self.installed[name] else { continue }
      let isTheSame = facts.requests == file.requests && facts.events == file.events
      #expect(isTheSame, "\(name)")
    }
  }

  @Test func anObjectThatIsGoneIsNoneInAnEvent() throws {
    let event = WLKeyboard.table.events.enter
    var values = [wl_argument(u: 7), wl_argument(o: nil), wl_argument(a: nil)]
    var surfaces: [WaylandReference<WLSurface>?] = []
    event.call({ _, surface, _ in surfaces.append(surface) }, with: values)
    let address = try #require(OpaquePointer(bitPattern: 64))
    values[1] = wl_argument(o: address)
    event.call({ _, surface, _ in surfaces.append(surface) }, with: values)
    #expect(surfaces == [nil, WaylandReference(address)])
  }

  /// So that nobody forgets to add an interface to the list above.
  @Test func everyInterfaceIsTested() throws {
    let folder = Demo.root.appendingPathComponent("Sources/PipSinkWindows/Wayland/Protocols")
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    let names = try files.flatMap { file in
      try String(contentsOf: file, encoding: .utf8).matches(of: /enum (\w+): WaylandInterface/).map { String($0.1) }
    }
    #expect(names.sorted() == Self.interfaces.map { "\($0)" }.sorted())
  }
}
