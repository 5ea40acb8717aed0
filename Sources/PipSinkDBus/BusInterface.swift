import PipSink

/// An interface that is exported: how it is described, and what it does.
@MainActor
protocol BusInterface: AnyObject {
  nonisolated var name: String { get }
  nonisolated var path: String { get }
  /// Its methods, properties and signals, in D-Bus's introspection format.
  nonisolated var members: String { get }

  func properties(of session: PictureInPictureSession) -> [String: BusValue]

  /// Those that are asked for but never told of: what changes all the time.
  func properties(askedOf session: PictureInPictureSession) async -> [String: BusValue]

  /// Carries out a method; `arguments` are as ``BusArguments/texts`` has them, of the types that the description says.
  ///
  /// - Returns: its results.
  func perform(
    _ method: String, _ arguments: [String], on session: PictureInPictureSession
  ) throws(PipSinkError) -> [BusValue]

  /// Sets a property that can be written, all of which are numbers.
  func setProperty(_ name: String, to value: Double, of session: PictureInPictureSession)
}

extension BusInterface {
  nonisolated var description: String {
    "<node><interface name=\"\(name)\">\(members)</interface></node>"
  }

  func setProperty(_ name: String, to value: Double, of session: PictureInPictureSession) {}

  func properties(askedOf session: PictureInPictureSession) async -> [String: BusValue] { [:] }
}
