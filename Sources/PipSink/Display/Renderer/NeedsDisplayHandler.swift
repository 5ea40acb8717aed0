/// The handler by which a renderer asks its display layer to render the newest frame again, as in
/// ``VideoRenderer/setNeedsDisplayHandler(_:)``. All its members can be used on any thread.
package final class NeedsDisplayHandler: Sendable {
  private let handler = Locked<(@Sendable () -> Void)?>(nil)

  package init() {}

  /// Replaces the handler; nil removes it.
  package func set(_ handler: (@Sendable () -> Void)?) { self.handler.withLock { $0 = handler } }

  /// Calls the handler, if there is one. The caller holds no lock that a renderer takes.
  package func callAsFunction() { handler.withLock { $0 }?() }
}
