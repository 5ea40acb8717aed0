/// The kinds of memory of GPUs and video engines that GStreamer's elements use, by the names of their caps features.
/// The processor can read few of them.
package enum DeviceMemory {
  /// The elements that copy frames from each kind of memory to system memory, as they are written in a pipeline
  /// description.
  private static let downloads: KeyValuePairs = [
    "DMABuf": "vapostproc, or glupload ! gldownload,", "GLMemory": "gldownload", "VAMemory": "vapostproc",
    "VASurface": "vaapipostproc", "CUDAMemory": "cudadownload", "NVMM": "nvvideoconvert",
    "VulkanImage": "vulkandownload", "VulkanBuffer": "vulkandownload", "MFXSurface": "mfxvpp",
  ]

  /// The caps of raw video in any of these kinds of memory and in any format.
  package static let capsString = downloads.map { "video/x-raw(memory:\($0.key))" }.joined(separator: "; ")

  /// Whether caps, written as GStreamer writes them, describe frames in such memory.
  package static func isNamed(inCaps text: String) -> Bool {
    text.contains("(memory:") && !text.contains("(memory:SystemMemory")
  }

  /// The message for a user who gets no picture because the frames are in such memory.
  ///
  /// - Parameter caps: the frames' caps, as GStreamer writes them.
  package static func advice(forCaps caps: String) -> String {
    guard let known = downloads.first(where: { caps.contains("(memory:\($0.key)") }) else {
      return "Its frames are in memory that the processor cannot read. Put an element that downloads them before it."
    }
    return "Its frames are in memory:\(known.key), which the processor cannot read. Put \(known.value) before it."
  }
}
