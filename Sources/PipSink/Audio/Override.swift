/// A value that is set over one that somebody else sees to: a description, a server, a desktop's mixer.
///
/// While there is nothing to set it is left alone, and so keeps what others make of it; afterwards it is as before.
struct Override<Value: Equatable> {
  private var own: Value?
  /// What was set; nil while it is left alone.
  private(set) var value: Value?

  /// - Parameter wanted: what to make of the other's value; nil leaves it alone.
  mutating func update(_ wanted: ((Value) -> Value)?, read: () -> Value, write: (Value) -> Void) {
    if own == nil, wanted == nil { return }
    let base = own ?? read()
    let new = wanted?(base) ?? base
    if new != value ?? base { write(new) }
    own = wanted == nil ? nil : base
    value = wanted == nil ? nil : new
  }
}
