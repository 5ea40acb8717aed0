/// The camera or the microphone behind a stream.
struct StreamDevice: Hashable {
  enum Kind {
    case camera, microphone
  }

  let stream: StreamID
  let kind: Kind

  init(_ stream: StreamID, _ kind: Kind) {
    self.stream = stream
    self.kind = kind
  }
}

extension StreamInfo {
  subscript(device: StreamDevice.Kind) -> DeviceState {
    get { device == .camera ? camera : microphone }
    set { if device == .camera { camera = newValue } else { microphone = newValue } }
  }
}
