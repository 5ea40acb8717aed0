import Glibc

/// What is said where the first argument is no command of the program's.
enum UnknownCommand {
  /// - Parameters:
  ///   - arguments: those of the program, without its name.
  ///   - commands: the names of the commands that there are.
  /// - Returns: nil where the first one is a command or an option, or there is none.
  static func message(for arguments: [String], commands: [String]) -> String? {
    guard let word = arguments.first, !word.isEmpty, !word.hasPrefix("-"), !commands.contains(word) else { return nil }
    if access(word, F_OK) == 0 || word.contains("://") {
      return "There is no command \"\(word)\". To play it: pipsink-demo play \(word)"
    }
    let known = "There is no command \"\(word)\"."
    guard let nearest = commands.min(by: { distance(word, $0) < distance(word, $1) }), distance(word, nearest) <= 2
    else {
      return "\(known) There are \(commands.joined(separator: ", "))."
    }
    return "\(known) Did you mean \"\(nearest)\"?"
  }

  /// How many letters have to be put in or taken out; two that are exchanged are one of each.
  private static func distance(_ word: String, _ command: String) -> Int {
    Array(command).difference(from: Array(word.lowercased())).count
  }
}
