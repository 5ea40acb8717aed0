/// Which layer has which surface: one at a time.
///
/// A layer leaves a surface on its own presenting thread, after the frame that it is showing there. Whoever takes the
/// surface over begins when that is done, so that no late picture or clearing of the old layer hits the new one's.
///
/// It is one for the process, since an app may give a renderer to any of its layers, in whichever session; a renderer is the
/// app's own class, which has no room for it.
///
/// The registry's lock is taken before a mailbox's, never the other way round.
enum SurfaceOccupancy {
  private struct Entry {
    var holder: Locked<DisplayMailbox>
    var next: Locked<DisplayMailbox>?
  }

  /// By the identity of the renderer, which its holder keeps until it has left.
  private static let entries = Locked<[ObjectIdentifier: Entry]>([:])

  /// Gives a surface to a layer: at once, or when the layer that has it has left it, which is asked to.
  ///
  /// - Parameter mailbox: its `renderer` is the surface already; unless another layer took it in that moment, which then
  ///   has it.
  static func request(_ renderer: any VideoRenderer, for mailbox: Locked<DisplayMailbox>) {
    let mustLeave = entries.withLock { entries -> [Locked<DisplayMailbox>] in
      let key = ObjectIdentifier(renderer)
      guard mailbox.withLock({ $0.surface.renderer === renderer }) else { return [] }
      let others = [entries[key]?.holder, entries[key]?.next].compactMap(\.self).filter { $0 !== mailbox }
      for other in others { other.withLock { $0.leave(renderer) } }
      if let holder = entries[key]?.holder, holder !== mailbox, holder.withLock({ $0.surface.holds(renderer) }) {
        entries[key]?.next = mailbox
      } else {
        entries[key] = Entry(holder: mailbox)
        _ = mailbox.withLock { $0.surface.grant(renderer) }
      }
      return others
    }
    for other in mustLeave { other.wakeAll() }
  }

  /// A layer that was waiting for a surface wants it no more.
  static func cancel(_ renderer: any VideoRenderer, for mailbox: Locked<DisplayMailbox>) {
    entries.withLock { entries in
      let key = ObjectIdentifier(renderer)
      if entries[key]?.next === mailbox { entries[key]?.next = nil }
    }
  }

  /// A layer has left a surface, which goes to the one that waits for it.
  static func release(_ renderer: any VideoRenderer, by mailbox: Locked<DisplayMailbox>) {
    let next = entries.withLock { entries -> Locked<DisplayMailbox>? in
      let key = ObjectIdentifier(renderer)
      // It may have come back meanwhile.
      let isBack = mailbox.withLock { $0.surface.hasLeft(renderer) }
      guard let entry = entries[key], entry.holder === mailbox, !isBack else { return nil }
      return handOver(key, renderer, &entries)
    }
    next?.wakeAll()
  }

  /// A layer goes away, and its thread has ended.
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
    entries[key] = next.withLock { $0.surface.grant(renderer) } ? Entry(holder: next) : nil
    return next
  }
}

/// Which renderer a layer has, and those that it has still to leave.
struct DisplaySurface {
  private(set) var renderer: (any VideoRenderer)?
  /// Whether the renderer is this layer's to use (see ``SurfaceOccupancy``), and whether it has been told so.
  private(set) var isGranted = false
  private var isAdopted = false
  /// Those that are still to be left, and the one that is being left.
  private var retired: [any VideoRenderer] = []
  private var retiring: (any VideoRenderer)?

  /// Whether nothing is to be taken over or left.
  var isSettled: Bool { retired.isEmpty && (renderer == nil || isAdopted) }

  mutating func change(to new: (any VideoRenderer)?) -> (any VideoRenderer)? {
    let (old, wasWaiting) = (renderer, !isGranted)
    if let old, isGranted { retired.append(old) }
    renderer = new
    isGranted = false
    isAdopted = false
    return wasWaiting ? old : nil
  }

  /// The renderer is gone, and need not be left.
  mutating func lose() { renderer = nil }

  /// The renderer is the layer's.
  ///
  /// - Returns: false when the layer wants it no more.
  mutating func grant(_ renderer: any VideoRenderer) -> Bool {
    guard self.renderer === renderer else { return false }
    isGranted = true
    isAdopted = false
    retired.removeAll { $0 === renderer }
    return true
  }

  /// - Returns: whether the renderer is to be taken over now.
  mutating func adopt() -> Bool {
    defer { isAdopted = true }
    return !isAdopted
  }

  mutating func nextToLeave() -> (any VideoRenderer)? {
    guard let renderer = retired.popLast() else { return nil }
    retiring = renderer
    return renderer
  }

  /// The renderer that was being left has been left.
  ///
  /// - Returns: whether the layer wants it again, or came back meanwhile and has to leave it once more.
  mutating func hasLeft(_ renderer: any VideoRenderer) -> Bool {
    retiring = nil
    return self.renderer === renderer || retired.contains { $0 === renderer }
  }

  /// Whether the layer uses a renderer, or has still to leave it.
  func holds(_ renderer: any VideoRenderer) -> Bool {
    (isGranted && self.renderer === renderer) || retiring === renderer || retired.contains { $0 === renderer }
  }
}
