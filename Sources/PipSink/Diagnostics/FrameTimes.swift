import Synchronization

/// Whether frames' times are taken (``RenderStatistics/takesTimes``).
enum FrameTimes {
  private static let state = Atomic<Bool>(true)

  static var areTaken: Bool {
    get { state.load(ordering: .relaxed) }
    set { state.store(newValue, ordering: .relaxed) }
  }
}
