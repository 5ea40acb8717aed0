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
  var proxy: WaylandObject<WLSeat>?
  private unowned let globals: WaylandGlobals
  private let loop: WaylandEventLoop
  private var pointer: WaylandObject<WLPointer>?
  private var keyboard: WaylandObject<WLKeyboard>?
  private var touch: WaylandObject<WLTouch>?
  private var cursor: WaylandCursor?
  private let keys = WaylandKeyboard()
  private var repetition = Repetition()

  /// The surface that the pointer is on.
  private var hovered: WaylandReference<WLSurface>?
  /// The pointer's position in ``hovered``, in units.
  private var place = (x: 0.0, y: 0.0)
  private var relativePointer: WaylandObject<ZWPRelativePointer>?
  /// The sum of the pointer's movements on the desktop, in units, or nil where the compositor does not report them.
  private var travel: SIMD2<Double>?
  private var scroll = Scroll()
  /// The surface that has the keyboard focus.
  private var focused: WaylandReference<WLSurface>?
  /// The first finger on the touch screen, and its position in its surface, in units.
  private var finger: (id: Int, surface: WaylandReference<WLSurface>, x: Double, y: Double)?

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

  /// Sets the handlers of the events of wl_seat.
  func follow(_ events: WaylandHandlers<WLSeat>) {
    events.capabilities { [weak self] capabilities in self?.update(capabilities) }
  }

  private func update(_ capabilities: WLSeat.Capability) {
    guard let proxy else { return }
    if !capabilities.contains(.pointer) {
      (relativePointer, travel) = (nil, nil)
      (pointer, cursor, hovered) = (nil, nil, nil)
    } else if pointer == nil {
      pointer = proxy.getPointer { self.followPointer($0) }
      if let pointer {
        cursor = WaylandCursor(pointer, globals, loop)
        watchMovements(of: pointer)
      }
    }
    if !capabilities.contains(.keyboard) {
      (keyboard, focused) = (nil, nil)
      repetition.end()
    } else if keyboard == nil {
      keyboard = proxy.getKeyboard { self.followKeyboard($0) }
    }
    if !capabilities.contains(.touch) {
      (touch, finger) = (nil, nil)
    } else if touch == nil {
      touch = proxy.getTouch { self.followTouch($0) }
    }
  }

  /// Records an action of the user in a surface.
  private func note(_ serial: UInt32, _ surface: WaylandReference<WLSurface>) {
    if let proxy { globals.lastAction = WaylandAction(serial: serial, seat: proxy, surface: surface) }
  }

  // MARK: - Pointer

  /// Starts adding up the pointer's movements, where the compositor reports them (relative-pointer-unstable-v1).
  private func watchMovements(of pointer: WaylandObject<WLPointer>) {
    relativePointer = globals.relativePointerManager?.getRelativePointer(pointer.reference) { events in
      events.relativeMotion { [weak self] _, _, x, y, _, _ in
        guard let self else { return }
        travel = (travel ?? .zero) + SIMD2(x, y)
      }
    }
    travel = relativePointer.map { _ in .zero }
  }

  private func pointerPlace(_ input: WaylandInput) -> WindowEvent.Place {
    input.place(place.x, place.y, travel: travel)
  }

  private func followPointer(_ events: WaylandHandlers<WLPointer>) {
    events.enter { [weak self] serial, surface, x, y in self?.enter(surface, at: (x, y), serial) }
    events.leave { [weak self] _, _ in self?.leave() }
    events.motion { [weak self] _, x, y in self?.move(to: (x, y)) }
    events.button { [weak self] serial, time, button, state in
      self?.press(button, isPressed: state == .pressed, serial, time)
    }
    events.axis { [weak self] _, axis, distance in
      self?.addScroll(axis, distance: distance)
      // The event frame ends a group of events. Before version 5 there are no groups.
      if self?.pointer?.version ?? 0 < 5 { self?.finishScroll() }
    }
    events.frame { [weak self] in self?.finishScroll() }
    events.axisDiscrete { [weak self] axis, steps in self?.addScroll(axis, steps: Double(steps)) }
    events.axisValue120 { [weak self] axis, value in self?.addScroll(axis, steps: Double(value) / 120) }
  }

  private func enter(_ surface: WaylandReference<WLSurface>?, at place: (x: Double, y: Double), _ serial: UInt32) {
    (hovered, self.place) = (surface, place)
    guard let input = globals.input(of: surface) else { return }
    cursor?.show(input, at: place, serial: serial)
    input.deliver(.entered(pointerPlace(input)))
    input.deliver(.moved(pointerPlace(input)))
  }

  private func leave() {
    globals.input(of: hovered)?.deliver(.left)
    hovered = nil
    // The user's next action is in another surface, so the last one no longer counts.
    globals.lastAction = nil
  }

  private func move(to place: (x: Double, y: Double)) {
    self.place = place
    guard let input = globals.input(of: hovered) else { return }
    cursor?.update(input, at: place)
    input.deliver(.moved(pointerPlace(input)))
  }

  private func press(_ code: UInt32, isPressed: Bool, _ serial: UInt32, _ time: UInt32) {
    guard let hovered, let input = globals.input(of: hovered) else { return }
    // Linux's codes for buttons (linux/input-event-codes.h): left, right, middle, and further ones.
    let button =
      switch code {
      case 0x110: 1
      case 0x111: 3
      case 0x112: 2
      default: 8 + Int(code & 0xf)
      }
    // Compositors do not accept a release as the reason for moving or showing a window.
    if isPressed { note(serial, hovered) }
    let place = pointerPlace(input)
    input.deliver(isPressed ? .pressed(button: button, place, time: time) : .released(button: button, place))
  }

  private func addScroll(_ axis: WLPointer.Axis, distance: Double = 0, steps: Double? = nil) {
    let direction: SIMD2<Double> = axis == .vertical ? [0, 1] : [1, 0]
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

  private func followKeyboard(_ events: WaylandHandlers<WLKeyboard>) {
    events.keymap { [weak self] format, file, size in
      if let self { keys.setKeymap(format, file, Int(size)) } else { close(file.number) }
    }
    events.enter { [weak self] _, surface, _ in
      self?.focused = surface
      self?.globals.input(of: surface)?.deliver(.keyboard(true))
    }
    events.leave { [weak self] _, surface in
      self?.focused = nil
      self?.globals.input(of: surface)?.deliver(.keyboard(false))
      self?.repetition.end()
    }
    events.key { [weak self] serial, _, key, state in self?.change(key, isPressed: state == .pressed, serial) }
    events.modifiers { [weak self] _, depressed, latched, locked, layout in
      self?.keys.setModifiers(depressed, latched, locked, layout: layout)
    }
    events.repeatInfo { [weak self] rate, delay in self?.repetition.set(rate: rate, delay: delay) }
  }

  private func change(_ key: UInt32, isPressed: Bool, _ serial: UInt32) {
    guard isPressed else {
      if repetition.key == key { repetition.end() }
      return
    }
    guard let focused else { return }
    note(serial, focused)
    press(key, isRepeat: false)
    guard keys.repeats(key), let delay = repetition.begin(key) else { return }
    pressAgain(after: delay, in: repetition.number)
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

  /// Sets the handlers of the touch screen's events. The first finger acts like a pointer; further fingers are ignored.
  private func followTouch(_ events: WaylandHandlers<WLTouch>) {
    events.down { [weak self] serial, time, surface, id, x, y in
      guard let self, finger == nil, let surface, let input = globals.input(of: surface) else { return }
      finger = (id, surface, x, y)
      note(serial, surface)
      input.deliver(.pressed(button: 1, input.place(x, y), time: time))
    }
    events.up { [weak self] _, _, id in
      if self?.finger?.id == id { _ = self?.liftFinger() }
    }
    events.motion { [weak self] _, id, x, y in
      guard let self, let old = finger, old.id == id else { return }
      finger = (id, old.surface, x, y)
      if let input = globals.input(of: old.surface) { input.deliver(.moved(input.place(x, y))) }
    }
    events.cancel { [weak self] in self?.liftFinger()?.deliver(.left) }
  }

  /// Ends the touch.
  ///
  /// - Returns: what gets the input on the surface that was touched.
  private func liftFinger() -> WaylandInput? {
    guard let finger else { return nil }
    self.finger = nil
    let input = globals.input(of: finger.surface)
    if let input { input.deliver(.released(button: 1, input.place(finger.x, finger.y))) }
    return input
  }
}
