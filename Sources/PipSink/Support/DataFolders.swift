import CGStreamer

/// The folders for the data of programs, by the XDG Base Directory Specification: the user's, and then the system's.
package enum DataFolders {
  package static let all: [String] = {
    var folders: [String] = []
    if let own = g_get_user_data_dir() { folders.append(String(cString: own)) }
    var next = g_get_system_data_dirs()
    while let folder = next?.pointee {
      folders.append(String(cString: folder))
      next = next?.successor()
    }
    return folders
  }()
}
