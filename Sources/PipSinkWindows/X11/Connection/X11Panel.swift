import CWindows
import PipSink

/// A part of the screen that a panel keeps for itself at one of the screen's edges (EWMH, `_NET_WM_STRUT_PARTIAL`).
struct X11Panel: Equatable, Sendable {
  enum Edge: Int, CaseIterable {
    case left, right, top, bottom
  }

  let edge: Edge
  /// The part of the screen, in pixels.
  let reserved: PictureRect
  /// The panel's own rectangle, or nil where it is not known. Between two monitors, a panel reserves its room from the
  /// edge of the whole screen, and so a part of a monitor on which it is not.
  let window: PictureRect?

  /// - Parameters:
  ///   - numbers: the property's numbers: the widths at the left, right, upper and lower edge of the screen, and, where
  ///     there are twelve, the first and the last pixel at each edge.
  ///   - window: the panel's rectangle, in pixels.
  ///   - screen: the size of the screen, in pixels.
  static func panels(_ numbers: [UInt32], window: PictureRect?, on screen: PictureSize) -> [X11Panel] {
    Edge.allCases.compactMap { edge in
      guard numbers.count >= 4, numbers[edge.rawValue] > 0 else { return nil }
      let isUpright = edge == .left || edge == .right
      let (across, along) = isUpright ? (screen.width, screen.height) : (screen.height, screen.width)
      let width = min(Int(numbers[edge.rawValue]), across)
      let (first, last) =
        numbers.count >= 12
        ? (Int(numbers[4 + 2 * edge.rawValue]), min(Int(numbers[5 + 2 * edge.rawValue]), along - 1)) : (0, along - 1)
      let start = edge == .left || edge == .top ? 0 : across - width
      let length = max(0, last - first + 1)
      return X11Panel(
        edge: edge,
        reserved: isUpright
          ? PictureRect(x: start, y: first, width: width, height: length)
          : PictureRect(x: first, y: start, width: length, height: width),
        window: window)
    }
  }

  /// Returns the part of an area on a monitor that the panel leaves free.
  func free(of area: PictureRect, on monitor: PictureRect) -> PictureRect {
    guard let taken = reserved.intersection(monitor), window.map({ $0.intersection(monitor) != nil }) ?? true else {
      return area
    }
    var (left, top, right, bottom) = (area.x, area.y, area.x + area.width, area.y + area.height)
    switch edge {
    case .left: left = max(left, taken.x + taken.width)
    case .right: right = min(right, taken.x)
    case .top: top = max(top, taken.y + taken.height)
    case .bottom: bottom = min(bottom, taken.y)
    }
    // A panel that leaves nothing is none.
    guard left < right, top < bottom else { return area }
    return PictureRect(x: left, y: top, width: right - left, height: bottom - top)
  }
}

extension X11Screen {
  /// The panels on the screen, whether or not the window manager manages their windows.
  var panels: [X11Panel] {
    var windows = connection.numbers(atoms[.clientList], of: root)
    let query = xcb_query_tree(connection.pointer, root)
    if let tree = connection.answer(query.sequence, as: xcb_query_tree_reply_t.self) {
      windows += UnsafeBufferPointer(start: xcb_query_tree_children(tree), count: Int(tree.pointee.children_len))
      free(tree)
    }
    // All requests are sent before the first answer is awaited.
    let cardinal = UInt32(XCB_ATOM_CARDINAL.rawValue)
    let asked = Set(windows).map { window in
      (
        window,
        [atoms[.strut], atoms[.oldStrut]].map { xcb_get_property(connection.pointer, 0, window, $0, cardinal, 0, 12) }
      )
    }
    return asked.flatMap { window, cookies in
      let answers = cookies.map { cookie in
        guard let reply = connection.answer(cookie.sequence, as: xcb_get_property_reply_t.self) else {
          return [UInt32]()
        }
        defer { free(reply) }
        let count = Int(xcb_get_property_value_length(reply)) / 4
        return (xcb_get_property_value(reply)?.assumingMemoryBound(to: UInt32.self)).map {
          [UInt32](UnsafeBufferPointer(start: $0, count: count))
        } ?? []
      }
      guard let numbers = answers.first(where: { $0.contains { $0 > 0 } }) else { return [X11Panel]() }
      return X11Panel.panels(numbers, window: rectangle(of: window), on: rectangle(of: root)?.size ?? size)
    }
  }

  /// The rectangle of a window on the screen, in pixels, or nil when the window or its server has gone. It begins where
  /// the window was put, which is the corner of the border that some window managers give it.
  func rectangle(of window: UInt32) -> PictureRect? {
    let (place, size) = (
      xcb_translate_coordinates(connection.pointer, window, root, 0, 0), xcb_get_geometry(connection.pointer, window)
    )
    let origin = connection.answer(place.sequence, as: xcb_translate_coordinates_reply_t.self)
    let geometry = connection.answer(size.sequence, as: xcb_get_geometry_reply_t.self)
    defer {
      free(origin)
      free(geometry)
    }
    guard let origin, let geometry else { return nil }
    let border = Int(geometry.pointee.border_width)
    return PictureRect(
      x: Int(origin.pointee.dst_x) - border, y: Int(origin.pointee.dst_y) - border,
      width: Int(geometry.pointee.width), height: Int(geometry.pointee.height))
  }
}
