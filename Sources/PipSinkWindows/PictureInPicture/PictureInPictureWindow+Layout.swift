import PipSink

/// Where the places are in the window.
extension PictureInPictureWindow {
  /// Gives each place its part of the window.
  ///
  /// - Parameter isAnimated: whether places that were there before move to their new parts, unless the desktop's
  ///   animations are off.
  func divide(isAnimated: Bool = false) {
    if isAnimated, native?.look.animates == true, size.isValid {
      let start = rectangles
      isArranging = true
      arranging.run(from: 0, to: 1) { [weak self] in self?.arrange(from: start, $0) }
    } else if !isArranging {
      arrange()
    }
  }

  /// Ends an animation where it is.
  func endArranging() {
    arranging.stop()
    isArranging = false
  }

  /// Puts the places between their old rectangles and those that they have in the window's current size.
  private func arrange(from start: [PictureRect?] = [], _ part: Double = 1) {
    if part >= 1 { isArranging = false }
    let (isLeft, isTop) = (smallCorner.isLeft, smallCorner.isTop)
    let ends = size.isValid ? presentation?.rectangles(in: size, isLeft: isLeft, isTop: isTop) : nil
    rectangles = (ends ?? slots.map { _ in nil }).enumerated().map { slot, end in
      let first = slot < start.count ? start[slot] : nil
      return first.flatMap { first in end.map { first.moved(towards: $0, part) } } ?? end
    }
    for (slot, rectangle) in rectangles.enumerated() { move(slot, to: rectangle) }
    // Only a grid has gaps. Pictures that move may be where they will be.
    let hasGaps = part >= 1 && size.isValid && presentation?.layout == .grid
    gaps.move(to: hasGaps ? GridLayout.gaps(beside: rectangles.compactMap(\.self), in: size) : [], in: native)
    draw()
    native?.flush()
  }

  private func move(_ slot: Int, to rectangle: PictureRect?) {
    // A window that is lost meanwhile reports that.
    if rectangle != nil, slots[slot].tile == nil {
      slots[slot].tile = try? native?.makeTile(decoration: overlays[slot], renderer: windowRenderer)
    }
    slots[slot].tile?.rectangle = rectangle
  }

  /// Lets frames be shown in the places that there are.
  func showPlaces() {
    let shown = Set(content?.hidesPictures == true ? [] : presentation?.places.map(\.slot) ?? [])
    for (index, slot) in slots.enumerated() { slot.isShown = isOpen && shown.contains(index) }
  }

  // MARK: - The small picture

  /// The rectangle of the small picture in the `speaker` layout, in pixels; nil where there is none.
  var smallPicture: PictureRect? {
    guard let presentation, presentation.layout == .speaker, presentation.places.count > 1 else { return nil }
    return rectangles[presentation.places[1].slot]
  }

  /// Shows the small picture away from its corner while the user drags it. It stays inside the window.
  ///
  /// - Parameters:
  ///   - start: its rectangle when the drag began, in pixels.
  ///   - x: how far it has been dragged to the right, in pixels.
  ///   - y: how far it has been dragged down, in pixels.
  func dragSmallPicture(_ start: PictureRect, x: Int, y: Int) {
    guard smallPicture != nil, let slot = presentation?.places[1].slot else { return }
    rectangles[slot] = PictureRect(
      x: max(0, min(start.x + x, size.width - start.width)), y: max(0, min(start.y + y, size.height - start.height)),
      width: start.width, height: start.height)
    move(slot, to: rectangles[slot])
    draw()
    native?.flush()
  }

  /// Moves the small picture to the corner that is nearest to it.
  func dropSmallPicture() {
    guard let small = smallPicture else { return }
    smallCorner = .nearest(to: small, in: PictureRect(x: 0, y: 0, width: size.width, height: size.height))
    divide(isAnimated: true)
  }
}

extension PictureRect {
  /// The rectangle on the way to another one.
  ///
  /// - Parameter part: how far it is, from 0 to 1.
  fileprivate func moved(towards end: PictureRect, _ part: Double) -> PictureRect {
    func between(_ edge: KeyPath<PictureRect, Int>) -> Int {
      Int(nearest: Double(self[keyPath: edge]) * (1 - part) + Double(end[keyPath: edge]) * part)
    }
    return PictureRect(x: between(\.x), y: between(\.y), width: between(\.width), height: between(\.height))
  }
}
