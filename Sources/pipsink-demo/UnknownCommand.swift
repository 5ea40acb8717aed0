import Glibc

/// Makes the message for a first argument that is no command of the program.
enum UnknownCommand {
  /// - Parameters:
  ///   - arguments: the program's arguments, without its name.
  ///   - commands: the names of the program's commands.
  /// - Returns: the message; nil when the first argument is a command or an option, or when there is none.
  static func message(for arguments: [String], commands: [String]) -> String? {
    guard let word = arguments.first, !word.isEmpty, !word.hasPrefix("-"), !commands.contains(word) else { return nil }
    if access(word, F_OK) == 0 || word.contains("://") {
      return "There is no command \"\(word)\". To play the file or URI, run: pipsink-demo play \(word)"
    }
    let known = "There is no command \"\(word)\"."
    guard let nearest = commands.min(by: { distance(word, $0) < distance(word, $1) }), distance(word, nearest) <= 2
    else {
      return "\(known) The commands are \(commands.joined(separator: ", "))."
    }
    return "\(known) Did you mean \"\(nearest)\"?"
  }

  /// The number of letters that have to be inserted or removed. Two exchanged letters count as one of each.
  private static func distance(_ word: String, _ command: String) -> Int {
    Array(command).difference(from: Array(word.lowercased())).count
  }
}
