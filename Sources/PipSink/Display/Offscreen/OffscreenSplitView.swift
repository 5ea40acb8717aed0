/// A picture in memory in which the local stream has the whole width, or shares it equally with a remote stream.
///
/// A display layer is attached to each of the two renderers. ``showsRemote`` may change while frames flow: both
/// renderers get their new size and ask their layers for the newest frame. Any thread may use it.
package final class OffscreenSplitView: Sendable {
  /// The size of the whole picture in pixels.
  package let size: PictureSize
  /// The renderer of the local stream, on the whole width or in the left half.
  package let local: OffscreenRenderer
  /// The renderer of the remote stream, in the right half.
  package let remote: OffscreenRenderer
  private let isRemoteShown = Locked(false)

  /// Makes a view that shows the local stream only.
  ///
  /// - Parameters:
  ///   - size: the size of the whole picture in pixels, at least two pixels wide.
  ///   - scalingFilter: how frames are scaled.
  /// - Throws: ``PipSinkError/Frame/invalidSize(width:height:)``, ``PipSinkError/Frame/outOfMemory(byteCount:)``.
  package init(size: PictureSize, scalingFilter: ScalingFilter = .automatic) throws(PipSinkError) {
    guard size.isValid, size.width >= 2 else { throw .frame(.invalidSize(width: size.width, height: size.height)) }
    self.size = size
    local = try OffscreenRenderer(size: size, scalingFilter: scalingFilter)
    let half = SplitLayout.rectangles(in: size, showsRemote: true).remote?.size ?? size
    remote = try OffscreenRenderer(size: half, scalingFilter: scalingFilter)
    remote.isVisible = false
  }

  /// Whether the remote stream is shown; false at first.
  package var showsRemote: Bool {
    get { isRemoteShown.withLock { $0 } }
    set {
      isRemoteShown.withLock { isShown in
        guard newValue != isShown else { return }
        isShown = newValue
        // Both halves are valid sizes, since the whole is at least two pixels wide.
        try? local.resize(to: SplitLayout.rectangles(in: size, showsRemote: newValue).local.size)
        remote.isVisible = newValue
      }
    }
  }

  /// A copy of the whole picture, which is black where a stream has no picture.
  package func image() -> BGRAImage {
    let showsRemote = showsRemote
    let places = SplitLayout.rectangles(in: size, showsRemote: showsRemote)
    let parts = [(local, places.local)] + (places.remote.map { [(remote, $0)] } ?? [])
    return BGRAImage(size: size, parts: parts.compactMap { half, place in half.image().map { ($0, place) } })
  }
}
