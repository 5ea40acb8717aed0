import CGStreamer
import Glibc

/// How loud a stream was during one interval of its pipeline's `level` element (100 ms by default).
public struct AudioLevel: Equatable, Sendable {
  /// The root mean square over all channels, in dBFS: 0 is the loudest square wave, -3 the loudest sine wave.
  package var rms: Double
  /// The highest sample of all channels, in dBFS.
  package var peak: Double

  /// Makes a level from values in dBFS.
  init(rms: Double, peak: Double) {
    self.rms = rms
    self.peak = peak
  }

  /// The amplitude of the peak, from 0 (silent) to 1, as in WebRTC's `audioLevel`.
  /// ``PictureInPictureSession/setAudioLevel(_:of:)`` takes it.
  public var linear: Double { Self.clamped(Self.power(peak).squareRoot()) }

  /// Clamps a volume to the range from 0 to 1; NaN becomes 0.
  static func clamped(_ value: Double) -> Double { value > 0 ? min(1, value) : 0 }

  /// The power that corresponds to a level in decibels.
  private static func power(_ decibels: Double) -> Double { pow(10, decibels / 10) }
}

extension AudioLevel {
  /// Reads a message of a `level` element; nil for every other message.
  package init?(_ message: UnsafeMutablePointer<GstMessage>) {
    guard gst_message_has_name(message, "level") != 0, let structure = gst_message_get_structure(message),
      let rms = Self.channels(of: structure, "rms"), let peak = Self.channels(of: structure, "peak"), !rms.isEmpty
    else { return nil }
    let meanPower = rms.reduce(0) { $0 + Self.power($1) } / Double(rms.count)
    self.init(rms: 10 * log10(meanPower), peak: peak.max() ?? -.infinity)
  }

  /// The values of all channels in a field of the message.
  private static func channels(of structure: UnsafePointer<GstStructure>, _ field: String) -> [Double]? {
    guard let value = gst_structure_get_value(structure, field),
      g_type_check_value_holds(value, g_type_from_name("GValueArray")) != 0,
      let array = g_value_get_boxed(value)?.assumingMemoryBound(to: GValueArray.self)
    else { return nil }
    return (0..<Int(array.pointee.n_values)).map { g_value_get_double(array.pointee.values + $0) }
  }
}
