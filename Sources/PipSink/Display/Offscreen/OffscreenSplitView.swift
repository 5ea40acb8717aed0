/// A picture in memory with the own stream over its whole width, or in one half with the other side's in the other.
///
/// A display layer is attached to each of the two surfaces. ``showsRemote`` changes while frames flow: both surfaces
/// get their new size, and ask their layers for the newest frame.
public final class OffscreenSplitView: Sendable {
  public let size: PictureSize
  public let local: OffscreenRenderer
  public let remote: OffscreenRenderer
  private let isRemoteShown = Locked(false)

  /// - Throws: ``PipSinkError/Frame/invalidSize(width:height:)``.
  public init(size: PictureSize, scalingFilter: ScalingFilter = .automatic) throws(PipSinkError) {
    guard size.isValid, size.width >= 2 else { throw .frame(.invalidSize(width: size.width, height: size.height)) }
    self.size = size
    local = try OffscreenRenderer(size: size, scalingFilter: scalingFilter)
    let half = SplitLayout.frames(in: size, showsRemote: true).remote?.size ?? size
    remote = try OffscreenRenderer(size: half, scalingFilter: scalingFilter)
    remote.isVisible = false
  }

  /// Whether the remote picture is shown; at first it is not.
  public var showsRemote: Bool {
    get { isRemoteShown.withLock { $0 } }
    set {
      isRemoteShown.withLock { isShown in
        guard newValue != isShown else { return }
        isShown = newValue
        // Both halves are valid sizes, since the whole is at least two pixels wide.
        try? local.resize(to: SplitLayout.frames(in: size, showsRemote: newValue).local.size)
        remote.isVisible = newValue
      }
    }
  }

  /// A copy of what is shown; black where a stream has no picture.
  public func image() -> BGRAImage {
    let showsRemote = showsRemote
    let frames = SplitLayout.frames(in: size, showsRemote: showsRemote)
    let parts = [(local, frames.local)] + (frames.remote.map { [(remote, $0)] } ?? [])
    return BGRAImage(size: size, parts: parts.compactMap { half, frame in half.image().map { ($0, frame) } })
  }
}
