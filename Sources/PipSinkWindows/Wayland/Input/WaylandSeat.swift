import CWindows
import Glibc
import PipSink

/// Delivers the input on a window's surface to the window. It is called on the connection's thread.
final class WaylandInput: Sendable {
  struct State {
    /// The number of pixels in a unit.
    var scale = 1.0
    /// The window's size in units if its corners resize it, otherwise nil.
    var gripSize: PictureSize?
  }

  let state = Locked(State())
  let deliver: @Sendable (WindowEvent) -> Void

  init(_ deliver: @escaping @Sendable (WindowEvent) -> Void) { self.deliver = deliver }

  /// Converts a position in the surface from units to pixels.
  ///
  /// - Parameter travel: the sum of the pointer's movements on the desktop, in units.
  func place(_ x: Double, _ y: Double, travel: SIMD2<Double>? = nil) -> WindowEvent.Place {
    let scale = state.withLock { $0.scale }
    return WindowEvent.Place(x: x * scale, y: y * scale, travel: travel)
  }
}

/// A user's pointer, keyboard and touch screen (wl_seat).
///
/// `@unchecked Sendable`: only the connection's thread uses it.
final class WaylandSeat: @unchecked Sendable {
  var proxy: WaylandProxy?
  private unowned let globals: WaylandGlobals
  private let loop: WaylandEventLoop
  private var pointer: WaylandProxy?
  private var keyboard: WaylandProxy?
  private var touch: WaylandProxy?
  private var cursor: WaylandCursor?
  private let keys = WaylandKeyboard()
  private var repetition = Repetition()

  /// The surface that the pointer is on.
  private var hovered: OpaquePointer?
  /// The pointer's position in ``hovered``, in units.
  private var place = (x: 0.0, y: 0.0)
  private var relativePointer: WaylandProxy?
  /// The sum of the pointer's movements on the desktop, in units, or nil where the compositor does not report them.
  private var travel: SIMD2<Double>?
  private var scroll = Scroll()
  /// The surface that has the keyboard focus.
  private var focused: OpaquePointer?
  /// The first finger on the touch screen, and its position in its surface, in units.
  private var finger: (id: Int, surface: OpaquePointer, x: Double, y: Double)?

  /// The sum of the scroll events in one wl_pointer.frame. Right and down are positive.
  private struct Scroll {
    /// The distance, in units.
    var distance = SIMD2<Double>.zero
    /// The steps of the wheel, or nil where the compositor does not tell them.
    var steps: SIMD2<Double>?

    /// The distance that compositors send for one step of a wheel.
    static let stepDistance = 10.0
  }

  init(_ globals: WaylandGlobals, _ loop: WaylandEventLoop) {
    (self.globals, self.loop) = (globals, loop)
  }

  /// Handles an event of wl_seat.
  func handle(_ event: UInt32, _ arguments: WaylandArguments) {
    guard event == 0, let proxy else { return }
    let capabilities = arguments.uint(0)
    let release: UInt32? = proxy.version >= 3 ? 0 : nil
    if capabilities & 1 == 0 {
      (relativePointer, travel) = (nil, nil)
      (pointer, cursor, hovered) = (nil, nil, nil)
    } else if pointer == nil {
      // wl_pointer's request release has the number 1, because set_cursor has the number 0.
      pointer = proxy.make(.wlPointer, 0, .new, destructor: release.map { _ in 1 }) { [weak self] in
        self?.handlePointer($0, $1)
      }
      if let pointer {
        cursor = WaylandCursor(pointer, globals, loop)
        watchMovements(of: pointer)
      }
    }
    if capabilities & 2 == 0 {
      (keyboard, focused) = (nil, nil)
      repetition.end()
    } else if keyboard == nil {
      keyboard = proxy.make(.keyboard, 1, .new, destructor: release) { [weak self] in self?.handleKeyboard($0, $1) }
    }
    if capabilities & 4 == 0 {
      (touch, finger) = (nil, nil)
    } else if touch == nil {
      touch = proxy.make(.touch, 2, .new, destructor: release) { [weak self] in self?.handleTouch($0, $1) }
    }
  }

  /// Records an action of the user in a surface.
  private func note(_ serial: UInt32, _ surface: OpaquePointer) {
    if let proxy { globals.lastAction = WaylandAction(serial: serial, seat: proxy, surface: surface) }
  }

  // MARK: - Pointer

  /// Starts adding up the pointer's movements, where the compositor reports them (relative-pointer-unstable-v1).
  private func watchMovements(of pointer: WaylandProxy) {
    relativePointer = globals.relativePointerManager?.make(
      .relativePointer, 1, .new, .object(pointer.pointer), destructor: 0,
      handler: { [weak self] event, arguments in
        guard event == 0, let self else { return }
        travel = (travel ?? .zero) + SIMD2(arguments.fixed(2), arguments.fixed(3))
      })
    travel = relativePointer.map { _ in .zero }
  }

  private func pointerPlace(_ input: WaylandInput) -> WindowEvent.Place {
    input.place(place.x, place.y, travel: travel)
  }

  private func handlePointer(_ event: UInt32, _ arguments: WaylandArguments) {
    switch event {
    case 0:
      hovered = arguments.object(1)
      place = (arguments.fixed(2), arguments.fixed(3))
      guard let input = globals.input(of: hovered) else { return }
      cursor?.show(input, at: place, serial: arguments.uint(0))
      input.deliver(.entered(pointerPlace(input)))
      input.deliver(.moved(pointerPlace(input)))
    case 1:
      globals.input(of: hovered)?.deliver(.left)
      hovered = nil
      // The user's next action is in another surface, so the last one no longer counts.
      globals.lastAction = nil
    case 2:
      place = (arguments.fixed(1), arguments.fixed(2))
      guard let input = globals.input(of: hovered) else { return }
      cursor?.update(input, at: place)
      input.deliver(.moved(pointerPlace(input)))
    case 3: pressButton(arguments)
    case 4: addScroll(arguments.uint(1), distance: arguments.fixed(2))
    // The event frame ends a group of events. Before version 5 there are no groups.
    case 5: finishScroll()
    case 8: addScroll(arguments.uint(0), steps: Double(arguments.int(1)))
    case 9: addScroll(arguments.uint(0), steps: Double(arguments.int(1)) / 120)
    default: break
    }
    if event == 4, pointer?.version ?? 0 < 5 { finishScroll() }
  }

  private func pressButton(_ arguments: WaylandArguments) {
    guard let hovered, let input = globals.input(of: hovered) else { return }
    let isPressed = arguments.uint(3) == 1
    // Linux's codes for buttons (linux/input-event-codes.h): left, right, middle, and further ones.
    let button =
      switch arguments.uint(2) {
      case 0x110: 1
      case 0x111: 3
      case 0x112: 2
      default: 8 + Int(arguments.uint(2) & 0xf)
      }
    // Compositors do not accept a release as the reason for moving or showing a window.
    if isPressed { note(arguments.uint(0), hovered) }
    let place = pointerPlace(input)
    input.deliver(
      isPressed ? .pressed(button: button, place, time: arguments.uint(1)) : .released(button: button, place))
  }

  private func addScroll(_ axis: UInt32, distance: Double = 0, steps: Double? = nil) {
    let direction: SIMD2<Double> = axis == 0 ? [0, 1] : [1, 0]
    scroll.distance += direction * distance
    if let steps { scroll.steps = (scroll.steps ?? .zero) + direction * steps }
  }

  private func finishScroll() {
    defer { scroll = Scroll() }
    let delta = scroll.steps ?? scroll.distance / Scroll.stepDistance
    guard delta != .zero, let input = globals.input(of: hovered) else { return }
    input.deliver(.scrolled(input.place(place.x, place.y), deltaX: delta.x, deltaY: delta.y))
  }

  // MARK: - Keyboard

  private func handleKeyboard(_ event: UInt32, _ arguments: WaylandArguments) {
    switch event {
    case 0: keys.setKeymap(arguments.uint(0), arguments.descriptor(1), Int(arguments.uint(2)))
    case 1: focused = arguments.object(1)
    case 2:
      focused = nil
      repetition.end()
    case 3:
      let key = arguments.uint(2)
      guard arguments.uint(3) == 1 else {
        if repetition.key == key { repetition.end() }
        return
      }
      guard let focused else { return }
      note(arguments.uint(0), focused)
      press(key, isRepeat: false)
      guard keys.repeats(key), let delay = repetition.begin(key) else { return }
      pressAgain(after: delay, in: repetition.number)
    case 4: keys.setModifiers(arguments.uint(1), arguments.uint(2), arguments.uint(3), layout: arguments.uint(4))
    case 5: repetition.set(rate: arguments.int(0), delay: arguments.int(1))
    default: break
    }
  }

  private func press(_ code: UInt32, isRepeat: Bool) {
    if let key = keys.key(code, isRepeat: isRepeat) { globals.input(of: focused)?.deliver(.key(key)) }
  }

  private func pressAgain(after delay: Duration, in number: Int) {
    loop.perform(after: delay) { [weak self] in
      guard let self, number == repetition.number, let key = repetition.key, let interval = repetition.interval else {
        return
      }
      press(key, isRepeat: true)
      pressAgain(after: interval, in: number)
    }
  }

  /// The repetition of a key that is held. On Wayland the program repeats keys itself, as often as the compositor says.
  private struct Repetition {
    /// The key that is held.
    private(set) var key: UInt32?
    /// The number of the key press. A repetition that was planned for an earlier one is dropped.
    private(set) var number = 0
    /// The time between two repetitions, or nil where keys do not repeat.
    private(set) var interval: Duration?
    private var delay = Duration.zero

    /// Sets the values of the event wl_keyboard.repeat_info.
    ///
    /// - Parameters:
    ///   - rate: the number of repetitions in a second; 0 for none.
    ///   - delay: the time before the first repetition, in milliseconds.
    mutating func set(rate: Int, delay: Int) {
      interval = rate > 0 ? .nanoseconds(1_000_000_000 / Int64(rate)) : nil
      self.delay = .milliseconds(max(0, delay))
      if rate <= 0 { end() }
    }

    /// Starts the repetition of a key.
    ///
    /// - Returns: the time until the first repetition, or nil where keys do not repeat.
    mutating func begin(_ key: UInt32) -> Duration? {
      end()
      guard interval != nil else { return nil }
      self.key = key
      return delay
    }

    mutating func end() {
      key = nil
      number += 1
    }
  }

  // MARK: - Touch

  /// Handles the touch screen. The first finger acts like a pointer; further fingers are ignored.
  private func handleTouch(_ event: UInt32, _ arguments: WaylandArguments) {
    switch event {
    case 0:
      guard finger == nil, let surface = arguments.object(2), let input = globals.input(of: surface) else { return }
      let (x, y) = (arguments.fixed(4), arguments.fixed(5))
      finger = (arguments.int(3), surface, x, y)
      note(arguments.uint(0), surface)
      input.deliver(.pressed(button: 1, input.place(x, y), time: arguments.uint(1)))
    case 1:
      guard let finger, finger.id == arguments.int(2) else { return }
      self.finger = nil
      if let input = globals.input(of: finger.surface) {
        input.deliver(.released(button: 1, input.place(finger.x, finger.y)))
      }
    case 2:
      guard let old = finger, old.id == arguments.int(1) else { return }
      let (x, y) = (arguments.fixed(2), arguments.fixed(3))
      finger = (old.id, old.surface, x, y)
      if let input = globals.input(of: old.surface) { input.deliver(.moved(input.place(x, y))) }
    case 4:
      guard let finger else { return }
      self.finger = nil
      if let input = globals.input(of: finger.surface) {
        input.deliver(.released(button: 1, input.place(finger.x, finger.y)))
        input.deliver(.left)
      }
    default: break
    }
  }
}
