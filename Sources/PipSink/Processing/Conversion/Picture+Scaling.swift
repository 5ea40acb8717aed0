import CLibYUV

/// Copying and scaling whole pictures.
extension Picture {
  /// Copies all planes into a picture of the same format and size.
  func copy(into target: Picture) {
    for index in 0..<planeCount {
      planes[index].copy(
        into: target.planes[index], byteCount: format.rowByteCount(index, width: Int(planes[index].width)))
    }
  }

  /// Scales all planes to those of a picture with another size, another layout of its planes, or both.
  ///
  /// - Parameters:
  ///   - target: the picture to write to.
  ///   - filter: libyuv's filter.
  ///   - spare: memory for ``spareByteCount(from:to:)`` bytes.
  /// - Returns: false when libyuv has no memory.
  func resample(into target: Picture, filter: FilterModeEnum, spare: UnsafeMutablePointer<UInt8>) -> Bool {
    if format == target.format {
      return (0..<planeCount).allSatisfy { index in
        guard let element = format.element(ofPlane: index) else { return false }
        return planes[index].scale(into: target.planes[index], element: element, filter: filter, spare: spare)
      }
    }
    let element: PlaneElement = format.isTenBit ? .word : .byte
    guard planes[0].scale(into: target.planes[0], element: element, filter: filter, spare: spare) else { return false }
    if target.format == .gray8 { return true }
    if format == .gray8 {
      for index in 1..<target.planeCount {
        let plane = target.planes[index]
        plane.fill(128, byteCount: target.format.rowByteCount(index, width: Int(plane.width)))
      }
      return true
    }
    return resampleChroma(into: target, filter: filter, spare: spare)
  }

  /// The number of bytes that ``resample(into:filter:spare:)`` needs: memory for scaling pairs, and after that memory
  /// for chroma between two layouts.
  static func spareByteCount(from source: (format: PixelFormat, size: PictureSize), to step: ConversionStep) -> Int {
    guard source.format.planeCount > 1 else { return 0 }
    let chroma = step.format.planeCount > 1 ? step.format.planeSize(1, of: step.size) : (0, 0)
    let pairs = source.format.isSemiPlanar
    let scaling = pairs ? Plane.spareByteCount(from: source.format.planeSize(1, of: source.size), into: chroma) : 0
    return scaling + (source.format == step.format ? 0 : 2 * Int(chroma.0) * Int(chroma.1))
  }

  /// Scales chroma in the source's layout, and then merges or splits its samples.
  private func resampleChroma(into target: Picture, filter: FilterModeEnum, spare: UnsafeMutablePointer<UInt8>) -> Bool
  {
    switch (format.isSemiPlanar, target.format.isSemiPlanar) {
    case (false, false):
      let element: PlaneElement = format.isTenBit ? .word : .byte
      return planes[1].scaleChroma(into: target.planes[1], element: element, filter: filter, spare: spare)
        && planes[2].scaleChroma(into: target.planes[2], element: element, filter: filter, spare: spare)
    case (false, true):
      let to = target.planes[1]
      var (u, v) = (planes[1], planes[2])
      if (u.width, u.height) != (to.width, to.height) {
        let scaled = Picture.pair(like: to, in: spare)
        guard u.scaleChroma(into: scaled.0, filter: filter, spare: spare),
          v.scaleChroma(into: scaled.1, filter: filter, spare: spare)
        else {
          return false
        }
        (u, v) = scaled
      }
      if target.format == .nv21 { swap(&u, &v) }
      MergeUVPlane(u.data, u.stride, v.data, v.stride, to.data, to.stride, to.width, to.height)
      return true
    case (true, let staysInPairs):
      var from = planes[1]
      let to = target.planes[1]
      if (to.width, to.height) != (from.width, from.height) {
        let behind = Plane.spareByteCount(from: (from.width, from.height), into: (to.width, to.height))
        let scaled = Plane(data: spare + behind, stride: to.width * 2, width: to.width, height: to.height)
        guard from.scale(into: scaled, element: .bytePair, filter: filter, spare: spare) else { return false }
        from = scaled
      }
      if staysInPairs {
        // NV12 and NV21 differ only in the order of the pair.
        SwapUVPlane(from.data, from.stride, to.data, to.stride, to.width, to.height)
      } else {
        var (u, v) = (to, target.planes[2])
        if format == .nv21 { swap(&u, &v) }
        SplitUVPlane(from.data, from.stride, u.data, u.stride, v.data, v.stride, u.width, u.height)
      }
      return true
    }
  }

  private static func pair(like plane: Plane, in memory: UnsafeMutablePointer<UInt8>) -> (Plane, Plane) {
    let first = Plane(data: memory, stride: plane.width, width: plane.width, height: plane.height)
    var second = first
    second.data = memory + Int(plane.width) * Int(plane.height)
    return (first, second)
  }

  /// `count` columns from `start` on, which must be even.
  func columns(_ start: Int, _ count: Int) -> Picture {
    cropped(to: PictureRect(x: start, y: 0, width: count, height: size.height))
  }
}

extension Picture.Plane {
  /// Scales a plane of chroma, possibly between two layouts of the same picture. To half or twice the rows, only the
  /// two rows that share a sample are combined, as 4:2:2 and 4:2:0 are defined.
  ///
  /// - Parameter element: bytes or words.
  fileprivate func scaleChroma(
    into target: Picture.Plane, element: PlaneElement = .byte, filter: FilterModeEnum,
    spare: UnsafeMutablePointer<UInt8>
  ) -> Bool {
    if width == target.width, (height + 1) / 2 == target.height, height > 1 {
      halveRows(into: target, element)
      return true
    }
    if width == target.width, (target.height + 1) / 2 == height, target.height > 1 {
      doubleRows(into: target, element)
      return true
    }
    return scale(into: target, element: element, filter: filter, spare: spare)
  }

  private func halveRows(into target: Picture.Plane, _ element: PlaneElement) {
    let pairs = height / 2
    if element == .word {
      let second = rows(1, 1).words
      InterpolatePlane_16(
        words, stride, second, stride, target.words, target.stride / 2, width, pairs, 128)
    } else {
      InterpolatePlane(data, stride * 2, row(1), stride * 2, target.data, target.stride, width, pairs, 128)
    }
    guard height % 2 == 1 else { return }
    rows(height - 1, 1).copy(into: target.rows(target.height - 1, 1), byteCount: Int(width * element.byteCount))
  }

  private func doubleRows(into target: Picture.Plane, _ element: PlaneElement) {
    for parity in 0..<Int32(2) {
      let rows = (target.height + 1 - parity) / 2
      CopyPlane(data, stride, target.row(parity), target.stride * 2, width * element.byteCount, rows)
    }
  }
}
