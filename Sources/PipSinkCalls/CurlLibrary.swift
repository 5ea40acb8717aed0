import CCurl
import Glibc
import PipSink

/// The functions of libcurl 7.85 or later.
///
/// `@unchecked Sendable`: the addresses are constant, and libcurl's functions may be called on every thread.
struct CurlLibrary: @unchecked Sendable {
  typealias Handle = UnsafeMutableRawPointer

  let make: @convention(c) () -> Handle?
  let reset: @convention(c) (Handle?) -> Void
  let cleanUp: @convention(c) (Handle?) -> Void
  let perform: @convention(c) (Handle?) -> CURLcode
  let text: @convention(c) (CURLcode) -> UnsafePointer<CChar>?
  let append:
    @convention(c) (UnsafeMutablePointer<curl_slist>?, UnsafePointer<CChar>?) -> UnsafeMutablePointer<curl_slist>?
  let freeList: @convention(c) (UnsafeMutablePointer<curl_slist>?) -> Void
  /// The addresses of curl_easy_setopt and curl_easy_getinfo.
  let set, get: UnsafeMutableRawPointer

  /// The names that Debian gives the library, built with OpenSSL and with GnuTLS.
  private static let files = ["libcurl.so.4", "libcurl-gnutls.so.4"]
  private static let result = Result { () throws(PipSinkError) in try load() }

  /// The library; nil where it cannot be opened.
  static var opened: CurlLibrary? { try? result.get() }

  /// Opens the library, where that has not been done.
  ///
  /// - Throws: ``PipSinkError/Call/httpUnavailable(reason:)``.
  static func open() throws(PipSinkError) -> CurlLibrary { try result.get() }

  private static func load() throws(PipSinkError) -> CurlLibrary {
    guard let library = files.lazy.compactMap({ LoadedLibrary($0, loads: true) }).first else {
      throw .call(.httpUnavailable(reason: dlerror().map { String(cString: $0) } ?? "it cannot be opened"))
    }
    func require<Function>(_ name: String) throws(PipSinkError) -> Function {
      guard let function: Function = library.find(name) else {
        throw .call(.httpUnavailable(reason: "it has no function \(name)"))
      }
      return function
    }
    let start: @convention(c) (Int) -> CURLcode = try require("curl_global_init")
    // CURL_GLOBAL_DEFAULT
    guard start(3) == CURLE_OK else { throw .call(.httpUnavailable(reason: "it cannot be started")) }
    return try CurlLibrary(
      make: require("curl_easy_init"), reset: require("curl_easy_reset"), cleanUp: require("curl_easy_cleanup"),
      perform: require("curl_easy_perform"), text: require("curl_easy_strerror"),
      append: require("curl_slist_append"), freeList: require("curl_slist_free_all"), set: require("curl_easy_setopt"),
      get: require("curl_easy_getinfo"))
  }
}
