import CWindows
import Glibc
import PipSink

/// Sets the pointer's image over PipSink's windows. The compositor draws it where it supports that (cursor-shape);
/// otherwise the image comes from the user's cursor theme.
///
/// It is used only on the connection's thread.
final class WaylandCursor {
  /// The images that windows use.
  enum Shape: Sendable {
    case arrow
    /// The arrows for the upper left and lower right corners.
    case resizeFalling
    /// The arrows for the lower left and upper right corners.
    case resizeRising

    fileprivate var deviceShape: WPCursorShapeDevice.Shape {
      switch self {
      case .arrow: .default
      case .resizeFalling: .nwseResize
      case .resizeRising: .neswResize
      }
    }

    /// The names of the image in cursor themes, the usual one first.
    fileprivate var names: [String] {
      switch self {
      case .arrow: ["default", "left_ptr"]
      case .resizeFalling: ["nwse-resize", "bottom_right_corner"]
      case .resizeRising: ["nesw-resize", "bottom_left_corner"]
      }
    }
  }

  private let pointer: WaylandObject<WLPointer>
  private unowned let globals: WaylandGlobals
  private let loop: WaylandEventLoop
  private let device: WaylandObject<WPCursorShapeDevice>?
  private var serial: UInt32 = 0
  private var shown: Shape?
  private var surface: WaylandObject<WLSurface>?
  private var theme: (scale: Int, theme: OpaquePointer)?

  init(_ pointer: WaylandObject<WLPointer>, _ globals: WaylandGlobals, _ loop: WaylandEventLoop) {
    (self.pointer, self.globals, self.loop) = (pointer, globals, loop)
    device = globals.cursorShapeManager?.getPointer(pointer.reference)
  }

  deinit {
    device?.destroy()
    surface?.destroy()
    // Destroying the theme only sends requests, which can be done outside the queue.
    if let theme { wl_cursor_theme_destroy(theme.theme) }
  }

  /// Sets the image when the pointer has entered a window. The protocol leaves the image undefined until then.
  ///
  /// - Parameters:
  ///   - input: what gets the window's input.
  ///   - place: the pointer's position in the window, in units.
  ///   - serial: the serial of the enter event.
  func show(_ input: WaylandInput, at place: (x: Double, y: Double), serial: UInt32) {
    self.serial = serial
    shown = nil
    update(input, at: place)
  }

  /// Sets the image that fits the pointer's position.
  ///
  /// - Parameters:
  ///   - input: what gets the window's input.
  ///   - place: the pointer's position in the window, in units.
  func update(_ input: WaylandInput, at place: (x: Double, y: Double)) {
    let (grips, scale) = input.state.withLock { ($0.gripSize, Int($0.scale.rounded(.up))) }
    var shape = Shape.arrow
    if let grips, case .corner(let isLeft) = WindowGrip(x: place.x, y: place.y, size: grips) {
      shape = isLeft == (place.y < Double(grips.height) / 2) ? .resizeFalling : .resizeRising
    }
    guard shape != shown else { return }
    shown = shape
    if let device {
      device.setShape(serial, shape.deviceShape)
    } else {
      showFromTheme(shape, scale)
    }
    loop.flush()
  }

  private func showFromTheme(_ shape: Shape, _ scale: Int) {
    guard let image = image(shape, scale), let buffer = wl_cursor_image_get_buffer(image) else { return }
    if surface == nil { surface = globals.compositor?.createSurface() }
    guard let surface else { return }
    let (width, height) = (Int(image.pointee.width), Int(image.pointee.height))
    // A buffer whose size is not a multiple of its scale is a protocol error.
    let factor = width % scale == 0 && height % scale == 0 ? scale : 1
    if surface.setBufferScale.isSupported { surface.setBufferScale(factor) }
    surface.attach(WaylandReference(buffer), 0, 0)
    surface.damage(0, 0, .max, .max)
    surface.commit()
    pointer.setCursor(
      serial, surface.reference, Int(image.pointee.hotspot_x) / factor, Int(image.pointee.hotspot_y) / factor)
  }

  private func image(_ shape: Shape, _ scale: Int) -> UnsafeMutablePointer<wl_cursor_image>? {
    if theme?.scale != scale {
      if let theme { wl_cursor_theme_destroy(theme.theme) }
      theme = nil
      let size = getenv("XCURSOR_SIZE").flatMap { Int32(String(cString: $0)) } ?? 24
      let name = getenv("XCURSOR_THEME").map { String(cString: $0) }
      guard let memory = globals.sharedMemory?.pointer,
        let loaded = SizeLimit.withoutSignal({
          wl_cursor_theme_load(name, max(1, min(size, 512)) * Int32(scale), memory)
        })
      else { return nil }
      theme = (scale, loaded)
    }
    guard let theme else { return nil }
    let found = SizeLimit.withoutSignal {
      shape.names.lazy.compactMap { wl_cursor_theme_get_cursor(theme.theme, $0) }.first
    }
    return found.flatMap { $0.pointee.image_count > 0 ? $0.pointee.images[0] : nil }
  }
}
