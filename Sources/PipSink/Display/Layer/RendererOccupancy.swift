/// Which layer uses which renderer. One layer at a time may.
///
/// A layer leaves a renderer on its presenting thread, after the frame that it is showing there. The next layer begins
/// when that is done, so that no late frame or clearing of the old layer affects the picture of the new one.
///
/// There is one registry for the whole process, because an app may give a renderer to any of its layers, in any
/// session. The renderer cannot keep this information itself, since it is a class of the app.
///
/// The registry's lock is always taken before a mailbox's.
enum RendererOccupancy {
  /// The layer that has a renderer, and the one that waits for it.
  private struct Entry {
    var holder: Locked<DisplayMailbox>
    var next: Locked<DisplayMailbox>?
  }

  /// The entries by the identity of the renderer, which its holder keeps alive until it has left.
  private static let entries = Locked<[ObjectIdentifier: Entry]>([:])

  /// Gives a renderer to a layer: at once, or as soon as the layer that has it has left it. That layer is asked to
  /// leave.
  ///
  /// - Parameter mailbox: the mailbox of the layer that wants the renderer and has set it already. If another layer has
  ///   taken the renderer meanwhile, nothing happens.
  static func request(_ renderer: any VideoRenderer, for mailbox: Locked<DisplayMailbox>) {
    let mustLeave = entries.withLock { entries -> [Locked<DisplayMailbox>] in
      let key = ObjectIdentifier(renderer)
      guard mailbox.withLock({ $0.renderers.current === renderer }) else { return [] }
      let others = [entries[key]?.holder, entries[key]?.next].compactMap(\.self).filter { $0 !== mailbox }
      for other in others { other.withLock { $0.leave(renderer) } }
      if let holder = entries[key]?.holder, holder !== mailbox, holder.withLock({ $0.renderers.holds(renderer) }) {
        entries[key]?.next = mailbox
      } else {
        entries[key] = Entry(holder: mailbox)
        _ = mailbox.withLock { $0.renderers.grant(renderer) }
      }
      return others
    }
    for other in mustLeave { other.wakeAll() }
  }

  /// Notes that a layer does not want a renderer any more for which it was waiting.
  static func cancel(_ renderer: any VideoRenderer, for mailbox: Locked<DisplayMailbox>) {
    entries.withLock { entries in
      let key = ObjectIdentifier(renderer)
      if entries[key]?.next === mailbox { entries[key]?.next = nil }
    }
  }

  /// Notes that a layer has left a renderer, and gives it to the layer that waits for it.
  static func release(_ renderer: any VideoRenderer, by mailbox: Locked<DisplayMailbox>) {
    let next = entries.withLock { entries -> Locked<DisplayMailbox>? in
      let key = ObjectIdentifier(renderer)
      // The layer may have come back meanwhile.
      let isBack = mailbox.withLock { $0.renderers.hasLeft(renderer) }
      guard let entry = entries[key], entry.holder === mailbox, !isBack else { return nil }
      return handOver(key, renderer, &entries)
    }
    next?.wakeAll()
  }

  /// Notes that a layer is being released and its thread has ended.
  static func withdraw(_ renderer: (any VideoRenderer)?, _ mailbox: Locked<DisplayMailbox>) {
    guard let renderer else { return }
    let next = entries.withLock { entries -> Locked<DisplayMailbox>? in
      let key = ObjectIdentifier(renderer)
      if entries[key]?.next === mailbox { entries[key]?.next = nil }
      return entries[key]?.holder === mailbox ? handOver(key, renderer, &entries) : nil
    }
    next?.wakeAll()
  }

  private static func handOver(
    _ key: ObjectIdentifier, _ renderer: any VideoRenderer, _ entries: inout [ObjectIdentifier: Entry]
  ) -> Locked<DisplayMailbox>? {
    guard let next = entries[key]?.next else {
      entries[key] = nil
      return nil
    }
    entries[key] = next.withLock { $0.renderers.grant(renderer) } ? Entry(holder: next) : nil
    return next
  }
}

/// The renderer of a layer, and the renderers that the layer still has to leave.
struct LayerRenderers {
  private(set) var current: (any VideoRenderer)?
  /// Whether the layer may use the renderer (see ``RendererOccupancy``).
  private(set) var isGranted = false
  /// Whether the layer has begun to use it.
  private var isAdopted = false
  /// The renderers that still have to be left.
  private var retired: [any VideoRenderer] = []
  /// The renderer that is being left.
  private var retiring: (any VideoRenderer)?

  /// Whether no renderer has to be adopted or left.
  var isSettled: Bool { retired.isEmpty && (current == nil || isAdopted) }

  /// Sets another renderer, or none.
  ///
  /// - Returns: a renderer that the layer was waiting for and does not want any more.
  mutating func change(to new: (any VideoRenderer)?) -> (any VideoRenderer)? {
    let (old, wasWaiting) = (current, !isGranted)
    if let old, isGranted { retired.append(old) }
    current = new
    isGranted = false
    isAdopted = false
    return wasWaiting ? old : nil
  }

  /// Forgets a renderer that is gone for good and need not be left.
  mutating func lose() { current = nil }

  /// Allows the layer to use a renderer.
  ///
  /// - Returns: false when the layer does not want it any more.
  mutating func grant(_ renderer: any VideoRenderer) -> Bool {
    guard current === renderer else { return false }
    isGranted = true
    isAdopted = false
    retired.removeAll { $0 === renderer }
    return true
  }

  /// Begins to use the renderer.
  ///
  /// - Returns: false when the layer has begun already.
  mutating func adopt() -> Bool {
    defer { isAdopted = true }
    return !isAdopted
  }

  /// Takes the next renderer that has to be left.
  mutating func nextToLeave() -> (any VideoRenderer)? {
    guard let renderer = retired.popLast() else { return nil }
    retiring = renderer
    return renderer
  }

  /// Notes that the renderer that was being left has been left.
  ///
  /// - Returns: whether the layer wants it again, or has come back meanwhile and has to leave it once more.
  mutating func hasLeft(_ renderer: any VideoRenderer) -> Bool {
    retiring = nil
    return current === renderer || retired.contains { $0 === renderer }
  }

  /// Whether the layer uses a renderer or still has to leave it.
  func holds(_ renderer: any VideoRenderer) -> Bool {
    (isGranted && current === renderer) || retiring === renderer || retired.contains { $0 === renderer }
  }
}
