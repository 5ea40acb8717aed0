/// The kinds of memory of GPUs and video engines that GStreamer's elements have, as caps features name them. Few of
/// them can be read by the processor.
package enum DeviceMemory {
  /// The elements that bring frames from there to the system's memory, as a pipeline description has them.
  private static let downloads: KeyValuePairs = [
    "DMABuf": "vapostproc, or glupload ! gldownload,", "GLMemory": "gldownload", "VAMemory": "vapostproc",
    "VASurface": "vaapipostproc", "CUDAMemory": "cudadownload", "NVMM": "nvvideoconvert",
    "VulkanImage": "vulkandownload", "VulkanBuffer": "vulkandownload", "MFXSurface": "mfxvpp",
  ]

  /// Raw video in any of them and in any format.
  package static let capsString = downloads.map { "video/x-raw(memory:\($0.key))" }.joined(separator: "; ")

  /// Whether caps, written as GStreamer writes them, are of frames in such memory.
  package static func isNamed(inCaps text: String) -> Bool {
    text.contains("(memory:") && !text.contains("(memory:SystemMemory")
  }

  /// What somebody who gets no picture of such frames reads.
  ///
  /// - Parameter caps: the frames' caps, as GStreamer writes them.
  package static func advice(forCaps caps: String) -> String {
    guard let known = downloads.first(where: { caps.contains("(memory:\($0.key)") }) else {
      return "Its frames are in memory that the processor cannot read. Put an element in front that downloads them."
    }
    return "Its frames are in memory:\(known.key), which the processor cannot read. Put \(known.value) in front."
  }
}
