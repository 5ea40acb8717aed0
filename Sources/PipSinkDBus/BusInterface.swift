import PipSink

/// An exported interface. The entry of a member says its name, its types and what it does; the description for the bus
/// follows from the entries.
struct BusInterface: Sendable {
  let name: String
  /// The path of the object that has the interface.
  let path: String
  let methods: [BusMethod]
  let properties: [BusProperty]
  var signals: [BusSignal] = []

  /// The interface in D-Bus's introspection format.
  var description: String {
    let methods = methods.map { method in
      let arguments = Self.list(method.inputs, " direction=\"in\"") + Self.list(method.outputs, " direction=\"out\"")
      return "<method name=\"\(method.name)\">\(arguments)</method>"
    }
    let properties = properties.map { property in
      let access = property.set == nil ? "read" : "readwrite"
      return "<property name=\"\(property.name)\" type=\"\(property.type)\" access=\"\(access)\"/>"
    }
    let signals = signals.map { "<signal name=\"\($0.name)\">\(Self.list($0.arguments))</signal>" }
    let members = (methods + properties + signals).joined()
    return "<node><interface name=\"\(name)\">\(members)</interface></node>"
  }

  private static func list(_ arguments: [BusArgument], _ direction: String = "") -> String {
    arguments.map { "<arg name=\"\($0.name)\" type=\"\($0.type)\"\(direction)/>" }.joined()
  }

  /// Carries out a method. GDBus refuses calls of methods that the interface does not have.
  @MainActor func perform(
    _ method: String, _ arguments: [BusValue] = [], on session: PictureInPictureSession
  ) throws -> [BusValue] {
    try methods.first { $0.name == method }?.perform(session, arguments) ?? []
  }

  /// The values of the properties whose changes are announced.
  @MainActor func values(of session: PictureInPictureSession) -> [String: BusValue] {
    let values = properties.compactMap { property in property.value.map { (property.name, $0(session)) } }
    return Dictionary(uniqueKeysWithValues: values)
  }
}

/// The name and the type of an argument or a result.
typealias BusArgument = (name: String, type: String)

/// A method: its name, its arguments, and what it does.
struct BusMethod: Sendable {
  let name: String
  let inputs: [BusArgument]
  let outputs: [BusArgument]
  /// Carries the method out, with arguments of the types that ``inputs`` says.
  let perform: @MainActor @Sendable (PictureInPictureSession, [BusValue]) throws -> [BusValue]

  /// Makes a method without a result.
  init<each Value>(
    _ name: String, _ parameters: repeat BusParameter<each Value>,
    body: @escaping @MainActor (PictureInPictureSession, repeat each Value) throws -> Void
  ) {
    self.init(name, (repeat each parameters), [], body) { _ in [] }
  }

  /// Makes a method that returns a value.
  init<each Value>(
    _ name: String, _ parameters: repeat BusParameter<each Value>, returning output: BusArgument,
    body: @escaping @MainActor (PictureInPictureSession, repeat each Value) throws -> BusValue
  ) {
    self.init(name, (repeat each parameters), [output], body) { [$0] }
  }

  private init<each Value, Result>(
    _ name: String, _ parameters: (repeat BusParameter<each Value>), _ outputs: [BusArgument],
    _ body: @escaping @MainActor (PictureInPictureSession, repeat each Value) throws -> Result,
    results: @escaping @Sendable (Result) -> [BusValue]
  ) {
    var inputs: [BusArgument] = []
    repeat inputs.append((each parameters).argument)
    (self.name, self.inputs, self.outputs) = (name, inputs, outputs)
    perform = { session, arguments in
      var arguments = arguments.makeIterator()
      return results(try body(session, repeat try (each parameters).next(in: &arguments)))
    }
  }
}

/// A property: its name, its type, and how it is read and written.
struct BusProperty: Sendable {
  let name: String
  let type: String
  /// Reads the value; nil for a property with an ``askedValue``.
  let value: (@MainActor (PictureInPictureSession) -> BusValue)?
  /// Reads a value that changes all the time. It is only read when somebody asks, and never announced.
  let askedValue: (@MainActor (PictureInPictureSession) async -> BusValue)?
  /// Writes the value; nil for a property that can only be read.
  let set: (@MainActor (PictureInPictureSession, BusValue) -> Void)?

  init(
    _ name: String, _ type: String, set: (@MainActor (PictureInPictureSession, BusValue) -> Void)? = nil,
    value: @escaping @MainActor (PictureInPictureSession) -> BusValue
  ) {
    (self.name, self.type, self.value, askedValue, self.set) = (name, type, value, nil, set)
  }

  init(_ name: String, _ type: String, asked: @escaping @MainActor (PictureInPictureSession) async -> BusValue) {
    (self.name, self.type, value, askedValue, set) = (name, type, nil, asked, nil)
  }

  /// Reads the value for somebody who asks.
  @MainActor func read(_ session: PictureInPictureSession) async -> BusValue? {
    if let value { value(session) } else { await askedValue?(session) }
  }
}

/// A signal: its name and its arguments.
struct BusSignal: Sendable {
  let name: String
  let arguments: [BusArgument]
}
