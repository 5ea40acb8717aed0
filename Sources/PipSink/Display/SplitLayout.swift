/// The own picture beside the other side's: the whole width alone, half each with it.
public enum SplitLayout {
  /// - Parameter size: of the surface, in pixels.
  /// - Returns: where the local and the remote picture go; no place for the remote one that is not shown.
  public static func frames(in size: PictureSize, showsRemote: Bool) -> (local: PictureRect, remote: PictureRect?) {
    guard showsRemote else { return (PictureRect(x: 0, y: 0, width: size.width, height: size.height), nil) }
    let half = size.width / 2
    return (
      PictureRect(x: 0, y: 0, width: half, height: size.height),
      PictureRect(x: half, y: 0, width: size.width - half, height: size.height)
    )
  }
}
