import CCurl
import Glibc
import PipSink

/// The functions of libcurl 7.85 or later.
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
    // The handle is never closed: other libraries in the process may have begun to use it.
    guard let library = files.lazy.compactMap({ dlopen($0, RTLD_NOW | RTLD_LOCAL) }).first else {
      throw .call(.httpUnavailable(reason: dlerror().map { String(cString: $0) } ?? "it cannot be opened"))
    }
    func find(_ name: String) throws(PipSinkError) -> UnsafeMutableRawPointer {
      guard let function = dlsym(library, name) else {
        throw .call(.httpUnavailable(reason: "it has no function \(name)"))
      }
      return function
    }
    func require<Function>(_ name: String, as type: Function.Type = Function.self) throws(PipSinkError) -> Function {
      unsafeBitCast(try find(name), to: type)
    }
    let start: @convention(c) (Int) -> CURLcode = try require("curl_global_init")
    // CURL_GLOBAL_DEFAULT
    guard start(3) == CURLE_OK else { throw .call(.httpUnavailable(reason: "it cannot be started")) }
    return try CurlLibrary(
      make: require("curl_easy_init"), reset: require("curl_easy_reset"), cleanUp: require("curl_easy_cleanup"),
      perform: require("curl_easy_perform"), text: require("curl_easy_strerror"),
      append: require("curl_slist_append"), freeList: require("curl_slist_free_all"), set: find("curl_easy_setopt"),
      get: find("curl_easy_getinfo"))
  }
}
