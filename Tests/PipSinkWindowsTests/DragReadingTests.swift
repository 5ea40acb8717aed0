import Testing

@testable import PipSinkWindows
@testable import TestSupport

/// Tests what a drag learns from the compositor's coordinates, with simulated compositors of both kinds.
struct DragReadingTests {
  private typealias Vector = DragReading.Vector

  /// A simulated compositor with a window that is dragged.
  private struct Desktop {
    let origin: DragReading.Origin
    let start = Vector(x: 600, y: 500)
    let pressed = Vector(x: 700, y: 590)
    /// The window's place on the screen. `asked` is the place that the window was asked to move to.
    var window: Vector
    var asked: Vector

    init(_ origin: DragReading.Origin) {
      self.origin = origin
      (window, asked) = (start, start)
    }

    func place(of pointer: Vector) -> Vector { pointer - (origin == .press ? start : window) }

    /// - Returns: whether the window moves to a new place by this.
    mutating func show() -> Bool {
      defer { window = asked }
      return window != asked
    }
  }

  /// A simulated hand that changes its direction and speed a little, 60 times a second.
  private struct Hand {
    /// The state of the generator, which starts with a seed, so that a run can be repeated.
    var random: UInt64
    var speed: Vector

    mutating func step() -> Vector {
      let change = 1 + speed.length * 0.2
      speed = speed + Vector(x: next() * change, y: next() * change)
      return speed
    }

    /// A random number from -1 to 1.
    private mutating func next() -> Double {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Double(Int64(bitPattern: random) >> 11) / Double(1 << 52)
    }
  }

  /// The arguments are no relative pointer, and a relative pointer that reports no movement.
  @Test(arguments: [DragReading.Origin.press, .surface], [nil, SIMD2<Double>.zero])
  func theWindowFollowsTheHandWhateverTheCompositorCountsFrom(origin: DragReading.Origin, travel: SIMD2<Double>?) {
    var wrong = 0
    for number in 0..<500 {
      var desktop = Desktop(origin)
      var reading = DragReading(pressed: desktop.place(of: desktop.pressed), travel: travel, known: nil)
      let speed = Double(2 + number % 30)
      var hand = Hand(
        random: UInt64(number),
        speed: Vector(x: number % 2 == 0 ? speed : -speed, y: number % 3 == 0 ? speed : -speed / 2))
      var pointer = desktop.pressed
      for frame in 0..<60 {
        pointer = pointer + hand.step()
        let shift = desktop.asked - desktop.start
        if let distance = reading.distance(at: desktop.place(of: pointer), travel: travel, shift: shift) {
          desktop.asked = desktop.start + distance
        }
        // The compositor shows the window at once or some frames later.
        if frame % (1 + number % 3) == 0, desktop.show() { reading.noteShown() }
      }
      if reading.origin != origin { wrong += 1 }
      if reading.isCertain, reading.origin != origin { Issue.record("run \(number) is certain of the wrong origin") }
    }
    #expect(wrong == 0)
  }

  /// A late program or a sudden start of the hand makes such steps: each is very different from the one before.
  @Test(arguments: [DragReading.Origin.press, .surface])
  func relativePointersTellWhenAHandDoesNotGoOnAsItWent(origin: DragReading.Origin) {
    var desktop = Desktop(origin)
    var (pointer, travel) = (desktop.pressed, Vector(x: -7, y: 30))
    var reading = DragReading(pressed: desktop.place(of: pointer), travel: travel, known: nil)
    for step in [Vector(x: -90, y: -40), Vector(x: -20, y: -9), Vector(x: 60, y: 2), Vector(x: -3, y: -70)] {
      (pointer, travel) = (pointer + step, travel + step)
      let shift = desktop.asked - desktop.start
      if let distance = reading.distance(at: desktop.place(of: pointer), travel: travel, shift: shift) {
        desktop.asked = desktop.start + distance
      }
      if desktop.show() { reading.noteShown() }
    }
    #expect(reading.origin == origin && reading.isCertain)
    #expect(desktop.asked - desktop.start == pointer - desktop.pressed)
  }

  @Test(arguments: [DragReading.Origin.press, .surface])
  func aReadingThatIsKnownIsUsedFromTheFirstPixelOn(origin: DragReading.Origin) {
    var reading = DragReading(pressed: Vector(x: 100, y: 90), known: origin)
    #expect(reading.distance(at: Vector(x: 101, y: 90), shift: .zero) == Vector(x: 1, y: 0))
    let expected = origin == .press ? Vector(x: 50, y: 0) : Vector(x: 51, y: 0)
    #expect(reading.distance(at: Vector(x: 150, y: 90), shift: Vector(x: 1, y: 0)) == expected)
    #expect(reading.isCertain)
  }

  @Test func thePointerThatHardlyMovesLeavesItUnknown() {
    var reading = DragReading(pressed: Vector(x: 100, y: 90), known: nil)
    for step in 0..<20 {
      #expect(reading.distance(at: Vector(x: 100 + Double(step), y: 90), shift: .zero) == nil)
    }
    #expect(reading.origin == nil && !reading.isCertain)
    #expect(reading.distanceBeforeMoving(at: Vector(x: 119, y: 90)) == Vector(x: 19, y: 0))
  }
}
