/// What is known of the camera or the microphone behind a stream.
public enum DeviceState: String, CaseIterable, Sendable {
  /// Nothing has come of it yet, or nothing comes any more, and nobody has said anything.
  case unknown
  case on
  case off
}

/// The camera or the microphone behind a stream.
enum StreamDevice {
  case camera, microphone
}

extension StreamInfo {
  subscript(device: StreamDevice) -> DeviceState {
    get { device == .camera ? camera : microphone }
    set { if device == .camera { camera = newValue } else { microphone = newValue } }
  }

  /// What follows from the flow of frames and audio; what the app has said goes before it.
  ///
  /// - Returns: whether it is new.
  mutating func observe(_ device: StreamDevice, _ new: DeviceState) -> Bool {
    let old = self[device]
    guard !saidDevices.contains(device), !(new == .off && old == .unknown) else { return false }
    self[device] = new
    return old != new
  }

  /// What the app says; with `unknown` it takes back what it said.
  ///
  /// - Returns: whether it is new.
  mutating func say(_ device: StreamDevice, _ new: DeviceState) -> Bool {
    defer { self[device] = new }
    if new == .unknown { saidDevices.remove(device) } else { saidDevices.insert(device) }
    return self[device] != new
  }
}
