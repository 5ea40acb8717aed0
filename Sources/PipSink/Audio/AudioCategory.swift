/// What an app's sound is for. Desktops route, lower and silence streams by it.
public enum AudioCategory: String, CaseIterable, Sendable {
  /// Films and other recordings; media role "video".
  case playback
  /// Calls; media role "phone", with the echo taken out where the sound server can do that. Servers lower or silence
  /// what others play meanwhile.
  case voiceChat = "voice-chat"

  /// As in PulseAudio's property `media.role`, which PipeWire has, too.
  var mediaRole: String {
    switch self {
    case .playback: "video"
    case .voiceChat: "phone"
    }
  }
}
