/// Carries a closure through C, as the context of a callback.
package final class ClosureBox<Argument>: Sendable {
  package let body: @Sendable (Argument) -> Void

  package init(_ body: @escaping @Sendable (Argument) -> Void) { self.body = body }

  /// The box as a pointer that owns it.
  package func retained() -> UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

  /// Returns the box that a pointer owns. The pointer must not be used any more; without the result, that releases it.
  @discardableResult
  package static func take(_ pointer: UnsafeMutableRawPointer?) -> ClosureBox? {
    pointer.map { Unmanaged<ClosureBox>.fromOpaque($0).takeRetainedValue() }
  }

  /// Returns the box of a pointer that goes on owning it.
  package static func borrow(_ pointer: UnsafeMutableRawPointer?) -> ClosureBox? {
    pointer.map { Unmanaged<ClosureBox>.fromOpaque($0).takeUnretainedValue() }
  }
}
