import CGStreamer
import PipSink

/// The address of a server for HTTP. The schemes `whep` and `whip` stand for `http`, and `wheps`
/// and `whips` for `https`.
struct HTTPAddress: Sendable {
  /// The address with the scheme `http` or `https`.
  let text: String
  /// The address without user names, passwords and tokens, for messages.
  let shown: String

  /// Scheme, host and port.
  let origin: String
  /// The user name and the password, as they stand in the address.
  private let userInfo: String?

  var isEncrypted: Bool { text.hasPrefix("https:") }

  /// - Throws: ``PipSinkError/Call/invalidURL(_:reason:)``.
  init(_ text: String) throws(PipSinkError) {
    guard !text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }), let uri = g_uri_parse(text, Self.flags, nil) else {
      throw .call(.invalidURL(text, reason: "it cannot be read"))
    }
    defer { g_uri_unref(uri) }
    let scheme = String(cString: g_uri_get_scheme(uri)).lowercased()
    let schemes = [
      "http": "http", "https": "https", "whep": "http", "wheps": "https", "whip": "http", "whips": "https",
    ]
    guard let other = schemes[scheme] else {
      throw .call(.invalidURL(text, reason: "its scheme is not whep, wheps, whip, whips, http or https"))
    }
    guard let host = g_uri_get_host(uri), host.pointee != 0 else {
      throw .call(.invalidURL(text, reason: "it has no host"))
    }
    origin = "\(other)://\(String(cString: host).lowercased()):\(g_uri_get_port(uri))"
    userInfo = g_uri_get_userinfo(uri).map { String(cString: $0) }
    self.text = other + text.dropFirst(scheme.utf8.count)
    shown = BusMessage.Address(self.text)?.text ?? origin
  }

  /// The address that a header of an answer from `base` names: an address, or only a path.
  static func resolve(_ reference: String, from base: String) -> String? {
    guard !reference.utf8.contains(0) else { return nil }
    return String(taking: g_uri_resolve_relative(base, reference, flags, nil))
  }

  /// The same address with the user name and the password of another one, where that is of the same server and this one
  /// has neither.
  func withUser(of other: HTTPAddress) -> HTTPAddress {
    guard userInfo == nil, origin == other.origin, let user = other.userInfo else { return self }
    return (try? HTTPAddress(text.replacing("://", with: "://\(user)@", maxReplacements: 1))) ?? self
  }

  private static let flags = G_URI_FLAGS_ENCODED
}
