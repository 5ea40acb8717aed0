import Foundation

/// Returns the names of the process's threads by their system IDs.
func threads() -> [String: String] {
  let folder = "/proc/self/task"
  let ids = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
  let names = ids.compactMap { id -> (String, String)? in
    guard let name = try? String(contentsOfFile: "\(folder)/\(id)/comm", encoding: .utf8) else { return nil }
    return (id, name.trimmingCharacters(in: .newlines))
  }
  return Dictionary(uniqueKeysWithValues: names)
}
