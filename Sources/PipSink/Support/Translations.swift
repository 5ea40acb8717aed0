import CGStreamer
import Glibc

/// Translates a text that is shown to the user into the language of the process (`setlocale`, LC_MESSAGES), with gettext.
///
/// The texts of each language are in `po`. As with those of GLib, an app that is not translated into that language itself
/// has English, unless it uses no gettext. Any thread may call it.
///
/// - Parameter english: the text, written as a literal, since the files in `po` have what stands here in the sources.
/// - Returns: the text itself where there is no translation.
package func translated(_ english: String) -> String {
  _ = Translations.isBound
  return english.withCString { String(cString: g_dgettext(Translations.domain, $0)) }
}

private enum Translations {
  static let domain = "pipsink"

  /// The files are where the data of PipSink's package is, which may be in the user's own folder.
  static let isBound: Bool = {
    var languages: [String] = []
    var next = g_get_language_names()
    while let language = next?.pointee {
      languages.append(String(cString: language))
      next = next?.successor()
    }
    let folder = DataFolders.all.map { "\($0)/locale" }.first { folder in
      languages.contains { access("\(folder)/\($0)/LC_MESSAGES/\(domain).mo", R_OK) == 0 }
    }
    guard let folder, bindtextdomain(domain, folder) != nil else { return false }
    bind_textdomain_codeset(domain, "UTF-8")
    return true
  }()
}
