import PipSink

/// An exported interface: its description, and what its members do.
@MainActor
protocol BusInterface: AnyObject {
  /// The interface's name.
  nonisolated var name: String { get }
  /// The path of the object that has the interface.
  nonisolated var path: String { get }
  /// Its methods, properties and signals, in D-Bus's introspection format.
  nonisolated var members: String { get }

  /// The values of the properties whose changes are announced.
  func properties(of session: PictureInPictureSession) -> [String: BusValue]

  /// The values of the properties that change all the time. They are only read when somebody asks, and never announced.
  func properties(askedOf session: PictureInPictureSession) async -> [String: BusValue]

  /// Carries out a method.
  ///
  /// - Parameter arguments: as in ``BusArguments/texts``, with the types that the description says.
  /// - Returns: the method's results.
  func perform(
    _ method: String, _ arguments: [String], on session: PictureInPictureSession
  ) throws(PipSinkError) -> [BusValue]

  /// Sets a writable property; all writable properties are numbers.
  func setProperty(_ name: String, to value: Double, of session: PictureInPictureSession)
}

extension BusInterface {
  /// The whole interface in D-Bus's introspection format.
  nonisolated var description: String {
    "<node><interface name=\"\(name)\">\(members)</interface></node>"
  }

  func setProperty(_ name: String, to value: Double, of session: PictureInPictureSession) {}

  func properties(askedOf session: PictureInPictureSession) async -> [String: BusValue] { [:] }
}
