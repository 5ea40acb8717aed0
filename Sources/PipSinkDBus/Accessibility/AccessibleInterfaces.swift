import Glibc
import PipSink

/// What assistive technology may ask about the objects of a tree, in the words of AT-SPI 2.
struct AccessibleInterfaces: Sendable {
  static let (prefix, folder) = ("org.a11y.atspi.", "/org/a11y/atspi/accessible")
  /// The object that stands for "none".
  static let nothing = BusValue.tuple([.string(""), .objectPath("/org/a11y/atspi/null")])

  /// The interfaces in D-Bus's introspection format.
  static let description = """
    <node>
    <interface name="org.a11y.atspi.Accessible">
    <property name="Name" type="s" access="read"/><property name="Description" type="s" access="read"/>
    <property name="Parent" type="(so)" access="read"/><property name="ChildCount" type="i" access="read"/>
    <property name="Locale" type="s" access="read"/><property name="AccessibleId" type="s" access="read"/>
    <method name="GetChildAtIndex"><arg type="i" direction="in"/><arg type="(so)" direction="out"/></method>
    <method name="GetChildren"><arg type="a(so)" direction="out"/></method>
    <method name="GetIndexInParent"><arg type="i" direction="out"/></method>
    <method name="GetRelationSet"><arg type="a(ua(so))" direction="out"/></method>
    <method name="GetRole"><arg type="u" direction="out"/></method>
    <method name="GetRoleName"><arg type="s" direction="out"/></method>
    <method name="GetLocalizedRoleName"><arg type="s" direction="out"/></method>
    <method name="GetState"><arg type="au" direction="out"/></method>
    <method name="GetAttributes"><arg type="a{ss}" direction="out"/></method>
    <method name="GetApplication"><arg type="(so)" direction="out"/></method>
    <method name="GetInterfaces"><arg type="as" direction="out"/></method>
    </interface>
    <interface name="org.a11y.atspi.Application">
    <property name="ToolkitName" type="s" access="read"/><property name="Version" type="s" access="read"/>
    <property name="AtspiVersion" type="s" access="read"/><property name="Id" type="i" access="readwrite"/>
    <method name="GetLocale"><arg type="u" direction="in"/><arg type="s" direction="out"/></method>
    </interface>
    <interface name="org.a11y.atspi.Action">
    <property name="NActions" type="i" access="read"/>
    <method name="GetName"><arg type="i" direction="in"/><arg type="s" direction="out"/></method>
    <method name="GetLocalizedName"><arg type="i" direction="in"/><arg type="s" direction="out"/></method>
    <method name="GetDescription"><arg type="i" direction="in"/><arg type="s" direction="out"/></method>
    <method name="GetKeyBinding"><arg type="i" direction="in"/><arg type="s" direction="out"/></method>
    <method name="GetActions"><arg type="a(sss)" direction="out"/></method>
    <method name="DoAction"><arg type="i" direction="in"/><arg type="b" direction="out"/></method>
    </interface>
    <interface name="org.a11y.atspi.Value">
    <property name="MinimumValue" type="d" access="read"/><property name="MaximumValue" type="d" access="read"/>
    <property name="MinimumIncrement" type="d" access="read"/>
    <property name="CurrentValue" type="d" access="readwrite"/>
    </interface>
    </node>
    """

  /// The folder of the object that knows all others, its path, and its interface.
  static let (cacheFolder, cachePath) = ("/org/a11y/atspi", "/org/a11y/atspi/cache")
  static let cacheDescription = """
    <node>
    <interface name="org.a11y.atspi.Cache">
    <method name="GetItems"><arg type="a((so)(so)(so)iiassusau)" direction="out"/></method>
    </interface>
    </node>
    """

  let tree: AccessibleTree
  /// The connection's name on the bus of assistive technology.
  let busName: String
  /// The object above the program.
  let parent: BusValue
  /// The number by which the registry knows the program.
  let number: Int32

  /// The language of the program's texts.
  private static var locale: String { setlocale(LC_MESSAGES, nil).map { String(cString: $0) } ?? "" }

  static func path(of id: String) -> String { "\(folder)/\(id)" }

  func reference(to id: String?) -> BusValue {
    id.map { .tuple([.string(busName), .objectPath(Self.path(of: $0))]) } ?? Self.nothing
  }

  static func interfaces(of node: AccessibleNode) -> [String] {
    var names = ["Accessible"]
    if node.role == .application { names.append("Application") }
    if node.action != nil { names.append("Action") }
    if node.progress != nil { names.append("Value") }
    return names.map { prefix + $0 }
  }

  /// The states as two words of bits.
  static func bits(of node: AccessibleNode) -> BusValue {
    var words: [UInt32] = [0, 0]
    for state in node.states { words[Int(state.rawValue / 32)] |= 1 << (state.rawValue % 32) }
    return .array(of: "u", words.map { .unsigned32($0) })
  }

  /// The properties of one of an object's interfaces.
  func properties(of node: AccessibleNode, _ interface: String) -> [String: BusValue] {
    switch interface {
    case Self.prefix + "Accessible":
      [
        "Name": .string(node.name), "Description": .string(node.description),
        "Parent": node.parent.map { reference(to: $0) } ?? parent, "ChildCount": .signed32(Int32(node.children.count)),
        "Locale": .string(Self.locale), "AccessibleId": .string(node.id),
      ]
    case Self.prefix + "Application":
      [
        "ToolkitName": .string("PipSink"), "Version": .string(PipSink.version), "AtspiVersion": .string("2.1"),
        "Id": .signed32(number),
      ]
    case Self.prefix + "Action": ["NActions": .signed32(node.action == nil ? 0 : 1)]
    case Self.prefix + "Value":
      [
        "MinimumValue": .double(0), "MaximumValue": .double(node.progress?.duration.seconds ?? 0),
        "MinimumIncrement": .double(1), "CurrentValue": .double(node.progress?.position.seconds ?? 0),
      ]
    default: [:]
    }
  }

  /// All objects, as assistive technology reads them at once.
  var items: BusValue {
    let items = tree.nodes.values.sorted { $0.id < $1.id }.map { node -> BusValue in
      let index = node.parent.flatMap { tree[$0]?.children.firstIndex(of: node.id) } ?? -1
      return .tuple([
        reference(to: node.id), reference(to: AccessibleTree.root), node.parent.map { reference(to: $0) } ?? parent,
        .signed32(Int32(index)), .signed32(Int32(node.children.count)), .strings(Self.interfaces(of: node)),
        .string(node.name), .unsigned32(node.role.rawValue), .string(node.description), Self.bits(of: node),
      ])
    }
    return .array(of: "((so)(so)(so)iiassusau)", items)
  }

  /// The answer to a question about an object; nil for what does something, and for what is not known.
  func answer(_ method: String, _ arguments: [BusValue], about node: AccessibleNode) -> [BusValue]? {
    switch method {
    case "GetChildAtIndex":
      guard case .signed32(let index)? = arguments.first, node.children.indices.contains(Int(index)) else {
        return [Self.nothing]
      }
      return [reference(to: node.children[Int(index)])]
    case "GetChildren": return [.array(of: "(so)", node.children.map { reference(to: $0) })]
    case "GetIndexInParent":
      let index = node.parent.flatMap { tree[$0]?.children.firstIndex(of: node.id) } ?? -1
      return [.signed32(Int32(index))]
    case "GetRelationSet": return [.array(of: "(ua(so))", [])]
    case "GetRole": return [.unsigned32(node.role.rawValue)]
    case "GetRoleName", "GetLocalizedRoleName": return [.string(node.role.name)]
    case "GetState": return [Self.bits(of: node)]
    case "GetAttributes": return [.dictionary(of: "s", ["toolkit": .string("PipSink")])]
    case "GetApplication": return [reference(to: AccessibleTree.root)]
    case "GetInterfaces": return [.strings(Self.interfaces(of: node))]
    case "GetLocale": return [.string(Self.locale)]
    case "GetName", "GetLocalizedName": return [.string("press")]
    case "GetDescription", "GetKeyBinding": return [.string("")]
    case "GetActions":
      let press = BusValue.tuple([.string("press"), .string(""), .string("")])
      return [.array(of: "(sss)", node.action == nil ? [] : [press])]
    default: return nil
    }
  }
}
