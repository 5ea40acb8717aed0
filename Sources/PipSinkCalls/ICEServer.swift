import CGStreamer
import PipSink

/// A server that helps two peers to reach each other.
struct ICEServer: Equatable, Sendable {
  /// The address in webrtcbin's form: `stun://HOST:PORT`, or `turn://USER:PASSWORD@HOST:PORT?transport=udp`.
  let url: String

  var isRelay: Bool { !url.hasPrefix("stun:") }

  /// More are not used: each costs time before the offer is made.
  static let limit = 8

  init(url: String) { self.url = url }

  /// Reads the servers in values of the header `Link` (RFC 8288) with the relation "ice-server" (RFC 9725).
  static func servers(inLinks values: [String]) -> [ICEServer] {
    Array(values.lazy.flatMap(links).compactMap(ICEServer.init).prefix(limit))
  }

  /// A link of a header: its target, and its parameters with their names in small letters.
  private struct Link {
    var target: String
    var parameters: [String: String] = [:]
  }

  private init?(_ link: Link) {
    let relations = link.parameters["rel"]?.lowercased().split(separator: " ") ?? []
    guard relations.contains("ice-server"), let colon = link.target.firstIndex(of: ":") else { return nil }
    let scheme = link.target[..<colon].lowercased()
    let server = link.target[link.target.index(after: colon)...]
    let host = server.prefix { $0 != "?" }
    guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"/@\\\"<>#".utf8.contains($0) }) else {
      return nil
    }
    switch scheme {
    case "stun": url = "stun://\(Self.withPort(host, 3478))"
    case "turn", "turns":
      guard let user = link.parameters["username"], let password = link.parameters["credential"],
        let user = Self.escaped(user), let password = Self.escaped(password)
      else { return nil }
      let isTCP = server.dropFirst(host.count).lowercased() == "?transport=tcp"
      let address = Self.withPort(host, scheme == "turn" ? 3478 : 5349)
      url = "\(scheme)://\(user):\(password)@\(address)\(isTCP ? "?transport=tcp" : "")"
    default: return nil
    }
  }

  private static func withPort(_ host: Substring, _ port: Int) -> String {
    // The colons of an IPv6 address are in brackets.
    let end = host.lastIndex(of: "]") ?? host.startIndex
    return host[end...].contains(":") ? String(host) : "\(host):\(port)"
  }

  private static func escaped(_ text: String) -> String? {
    text.utf8.contains(0) ? nil : String(taking: g_uri_escape_string(text, nil, 0))
  }

  /// Reads `<TARGET>; NAME=VALUE; NAME="VALUE", <TARGET> ...`. Reading ends where the text has another form.
  private static func links(in text: String) -> [Link] {
    var links: [Link] = []
    var rest = text[...]
    func skipSpace() { rest = rest.drop { $0 == " " || $0 == "\t" } }
    while true {
      rest = rest.drop { $0 == " " || $0 == "\t" || $0 == "," }
      guard rest.first == "<", let end = rest.firstIndex(of: ">") else { return links }
      var link = Link(target: String(rest[rest.index(after: rest.startIndex)..<end]))
      rest = rest[rest.index(after: end)...]
      skipSpace()
      while rest.first == ";" {
        rest = rest.dropFirst()
        skipSpace()
        let name = rest.prefix { !"=;, \t".contains($0) }.lowercased()
        rest = rest.drop { !"=;,".contains($0) }
        var value = ""
        if rest.first == "=" {
          rest = rest.dropFirst()
          skipSpace()
          value = takeValue(&rest)
          rest = rest.drop { !";,".contains($0) }
        }
        // The first parameter of a name counts.
        if !name.isEmpty, link.parameters[name] == nil { link.parameters[name] = value }
      }
      links.append(link)
    }
  }

  /// Takes a word, or a text in quotes, in which a backslash stands before a quote.
  private static func takeValue(_ rest: inout Substring) -> String {
    guard rest.first == "\"" else {
      let word = rest.prefix { !";, \t".contains($0) }
      rest = rest[word.endIndex...]
      return String(word)
    }
    rest = rest.dropFirst()
    var value = ""
    while let character = rest.popFirst(), character != "\"" {
      if character == "\\" {
        if let next = rest.popFirst() { value.append(next) }
      } else {
        value.append(character)
      }
    }
    return value
  }
}
