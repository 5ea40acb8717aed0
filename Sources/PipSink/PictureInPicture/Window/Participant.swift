/// What is shown of the person in a stream, apart from the picture: with it, and in place of it.
public struct Participant: Equatable, Sendable {
  /// The name for the user; an empty one is not shown.
  public var name: String
  /// Whether a mark says that the person's microphone is off.
  public var isMicrophoneOff = false
  /// Whether a ring says that the person speaks, where several people are shown.
  public var isSpeaking = false
  /// What is said at the moment, as a text over the picture, of one line or several; empty for nothing. Subtitles of a
  /// film are captions, too.
  public var caption = ""
  /// How good the person's connection is. A mark says when it is not good.
  public var connectionQuality = ConnectionQuality.unknown
  /// The picture that stands for the person while the camera is off, on a disc, or there is none; nil for the initials.
  public var image: BGRAImage?

  /// Makes a participant of whom only the name is known.
  public init(name: String) { self.name = name }

  /// The first letters of the name's first and last word, or of its only one, which stand for a picture. Only letters
  /// that have a case are set side by side, since those of other scripts may join or mean a word each.
  package var initials: String {
    let words = name.split(whereSeparator: \.isWhitespace).compactMap { word in
      word.first { $0.isLetter || $0.isNumber }
    }
    guard let first = words.first else { return "" }
    let last = words.count > 1 && first.isCased ? words.last.flatMap { $0.isCased ? $0 : nil } : nil
    return String(first).uppercased() + (last.map { String($0).uppercased() } ?? "")
  }

  /// The hue of the colour that stands for the person, from 0 up to 1. It depends on the name alone, and is the same in
  /// every program.
  package var hue: Double {
    // FNV-1a with 32 bits, since the hashes of the standard library differ from one process to the next.
    let hash = name.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
    return Double(hash % 360) / 360
  }
}

/// How good the connection to a participant is.
public enum ConnectionQuality: String, CaseIterable, Sendable {
  /// Nobody has said anything about it.
  case unknown
  /// Nothing is wrong with it.
  case good
  /// Some of what is sent is lost or late.
  case fair
  /// Much of what is sent is lost or late.
  case poor
}
