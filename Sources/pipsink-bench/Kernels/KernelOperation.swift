import PipSink

/// One of the operations on pixels that `kernels` measures.
struct KernelOperation {
  let name: String
  let format: PixelFormat
  let size: PictureSize
  /// The colorimetry of the source; nil for GStreamer's default.
  var colorimetry: String?
  var output = PixelConverter.Output()
  var kind = Kind.convert

  enum Kind {
    case convert
    case grayscale
    /// The planes of an app are copied into a stream (`StreamInput.push(copying:)`).
    case push
  }

  /// Whether GstVideoConverter can do the same. It neither rotates pictures nor removes their colours.
  var hasReference: Bool { output.orientation == .upright && kind == .convert }

  private static let hd = PictureSize(width: 1920, height: 1080)
  private static let small = PictureSize(width: 320, height: 180)

  static let all = [
    KernelOperation(name: "I420 to NV12, 1080p", format: .i420, size: hd, output: .init(pixelFormat: .nv12)),
    KernelOperation(name: "NV12 to I420, 1080p", format: .nv12, size: hd, output: .init(pixelFormat: .i420)),
    KernelOperation(name: "I420 to BGRA, 1080p", format: .i420, size: hd, output: .init(pixelFormat: .bgra)),
    KernelOperation(name: "NV12 to BGRA, 1080p", format: .nv12, size: hd, output: .init(pixelFormat: .bgra)),
    KernelOperation(name: "YUY2 to BGRA, 1080p", format: .yuy2, size: hd, output: .init(pixelFormat: .bgra)),
    KernelOperation(name: "P010 to BGRA, 1080p", format: .p010, size: hd, output: .init(pixelFormat: .bgra)),
    KernelOperation(
      name: "P010 with PQ to BGRA, 1080p", format: .p010, size: hd, colorimetry: "bt2100-pq",
      output: .init(pixelFormat: .bgra)),
    KernelOperation(name: "BGRA to I420, 1080p", format: .bgra, size: hd, output: .init(pixelFormat: .i420)),
    KernelOperation(
      name: "1080p I420 to 320x180 BGRA", format: .i420, size: hd, output: .init(pixelFormat: .bgra, size: small)),
    KernelOperation(
      name: "1080p NV12 to 320x180 BGRA", format: .nv12, size: hd, output: .init(pixelFormat: .bgra, size: small)),
    KernelOperation(
      name: "1080p BGRA to 320x180 BGRA", format: .bgra, size: hd, output: .init(pixelFormat: .bgra, size: small)),
    KernelOperation(
      name: "1080p P010 to 320x180 BGRA", format: .p010, size: hd, output: .init(pixelFormat: .bgra, size: small)),
    KernelOperation(
      name: "1080p P010 with PQ to 640x360 BGRA", format: .p010, size: hd, colorimetry: "bt2100-pq",
      output: .init(pixelFormat: .bgra, size: .init(width: 640, height: 360))),
    KernelOperation(
      name: "1080p I420 to 1280x720 BGRA", format: .i420, size: hd,
      output: .init(pixelFormat: .bgra, size: .init(width: 1280, height: 720))),
    KernelOperation(
      name: "640x360 I420 to 1080p BGRA", format: .i420, size: .init(width: 640, height: 360),
      output: .init(pixelFormat: .bgra, size: hd)),
    KernelOperation(
      name: "rotate by 90, 1080p I420", format: .i420, size: hd, output: .init(orientation: .init(rotation: .quarter))),
    KernelOperation(
      name: "rotate by 180, 1080p I420", format: .i420, size: hd, output: .init(orientation: .init(rotation: .half))),
    KernelOperation(name: "mirror, 1080p I420", format: .i420, size: hd, output: .init(orientation: .mirrored)),
    KernelOperation(
      name: "rotate by 90, 1080p NV12", format: .nv12, size: hd, output: .init(orientation: .init(rotation: .quarter))),
    KernelOperation(
      name: "rotate, 1080p I420 to 180x320 BGRA", format: .i420, size: hd,
      output: .init(
        pixelFormat: .bgra, size: .init(width: 180, height: 320), orientation: .init(rotation: .quarter))),
    KernelOperation(name: "grayscale, 1080p I420", format: .i420, size: hd, kind: .grayscale),
    KernelOperation(name: "grayscale, 1080p NV12", format: .nv12, size: hd, kind: .grayscale),
    KernelOperation(name: "push a copy, 1080p I420", format: .i420, size: hd, kind: .push),
    KernelOperation(name: "push a copy, 1080p NV12", format: .nv12, size: hd, kind: .push),
  ]
}
