/// What keys do, in the windows and on the terminal.
enum Keys {
  static func action(for key: Character) -> TimedAction.Action? {
    switch key {
    case "p": .toggle
    case "n": .next
    case "s": .snapshot
    case " ": .pause
    case "m": .mute
    case "f": .fullscreen
    case "q": .quit
    case "?": .help
    default: nil
    }
  }

  static let help = """
    p      picture-in-picture on and off
    n      the next stream in picture-in-picture
    s      write pictures (needs --snapshots)
    space  pause and go on
    m      sound off and on
    f      fullscreen
    ?      this help
    q      quit
    """
}
