import CCurl
import Glibc
import PipSink

/// Makes requests by HTTP with libcurl, which is opened when the first one is made. Requests that follow each other share
/// a connection.
final class HTTPClient: Sendable {
  struct Request: Sendable {
    var method = "GET"
    let url: HTTPAddress
    /// A token of RFC 6750, which only the host of `url` gets, and none that it redirects to.
    var token: String?
    /// Lines such as "Accept: application/sdp".
    var headers: [String] = []
    var body: String?
    /// How long everything may take.
    let timeout: Duration
  }

  struct Response: Sendable {
    let status: Int
    /// Where the answer comes from, after redirects.
    let url: String
    /// The headers in their order, with their names in small letters.
    let headers: [(name: String, value: String)]
    let body: String

    /// The values of a header, whose name is given in small letters.
    func values(of name: String) -> [String] { headers.filter { $0.name == name }.map(\.value) }
  }

  /// Longer answers are refused, so that a hostile server does not fill the memory.
  static let byteLimit = SessionDescription.byteLimit
  private static let redirectLimit = 5

  /// The handle of a request that is over, with its connections.
  private let idle = Locked<CurlLibrary.Handle?>(nil)

  deinit {
    if let handle = idle.exchange(nil) { CurlLibrary.opened?.cleanUp(handle) }
  }

  /// Makes a request on a thread of its own. A task that is cancelled returns at once.
  ///
  /// - Throws: ``PipSinkError/Call/requestFailed(url:reason:)``, ``PipSinkError/Call/httpUnavailable(reason:)``.
  func response(to request: Request) async throws(PipSinkError) -> Response {
    let transfer = Transfer()
    let done = Completion<Result<Response, PipSinkError>>()
    let perform: @Sendable () -> Void = {
      done.complete(Result { () throws(PipSinkError) in try self.perform(request, transfer) })
    }
    if WorkerThread(name: "pip-http", body: perform) == nil {
      done.complete(.failure(Self.error(request, "the system gives no more threads")))
    }
    let result = await withTaskCancellationHandler {
      await done.value()
    } onCancel: {
      transfer.isCancelled.withLock { $0 = true }
      done.complete(.failure(Self.error(request, "it was cancelled")))
    }
    return try (result ?? .failure(Self.error(request, "it was cancelled"))).get()
  }

  private static func error(_ request: Request, _ reason: String) -> PipSinkError {
    .call(.requestFailed(url: request.url.shown, reason: reason))
  }

  // MARK: - On the request's thread

  /// What a request has received so far. Its own thread alone uses it, except for `isCancelled`.
  private final class Transfer: @unchecked Sendable {
    var headers: [(name: String, value: String)] = []
    var body: [UInt8] = []
    var byteCount = 0
    let isCancelled = Locked(false)

    /// Counts received bytes; false when there are too many.
    func accept(_ count: Int) -> Bool {
      byteCount += count
      return byteCount <= HTTPClient.byteLimit
    }

    func add(header line: String) {
      // Each answer begins with its status, also that of a redirect and "100 Continue".
      if line.hasPrefix("HTTP/") { (headers, body, byteCount) = ([], [], 0) }
      guard let colon = line.firstIndex(of: ":") else { return }
      let value = line[line.index(after: colon)...].drop { $0 == " " }.prefix { !$0.isNewline }
      headers.append((line[..<colon].lowercased(), String(value)))
    }
  }

  private func perform(_ request: Request, _ transfer: Transfer) throws(PipSinkError) -> Response {
    let library = try CurlLibrary.open()
    guard let handle = idle.exchange(nil) ?? library.make() else {
      throw Self.error(request, "libcurl cannot be started")
    }
    defer {
      library.reset(handle)
      if let other = idle.exchange(handle) { library.cleanUp(other) }
    }
    var lines: UnsafeMutablePointer<curl_slist>?
    defer { library.freeList(lines) }
    for line in request.headers { lines = library.append(lines, line) ?? lines }
    set(request, on: handle, lines, library)
    let receiver = Unmanaged.passUnretained(transfer).toOpaque()
    for option in [CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_XFERINFODATA] {
      _ = pipsink_curl_set_pointer(library.set, handle, option, receiver)
    }
    _ = pipsink_curl_set_writer(library.set, handle, CURLOPT_WRITEFUNCTION) { bytes, _, count, receiver in
      guard let bytes, let receiver else { return 0 }
      let transfer = Unmanaged<Transfer>.fromOpaque(receiver).takeUnretainedValue()
      guard transfer.accept(count) else { return 0 }
      transfer.body += UnsafeRawBufferPointer(start: bytes, count: count)
      return count
    }
    _ = pipsink_curl_set_writer(library.set, handle, CURLOPT_HEADERFUNCTION) { bytes, _, count, receiver in
      guard let bytes, let receiver else { return 0 }
      let transfer = Unmanaged<Transfer>.fromOpaque(receiver).takeUnretainedValue()
      guard transfer.accept(count) else { return 0 }
      transfer.add(header: String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self))
      return count
    }
    _ = pipsink_curl_set_progress(library.set, handle) { receiver, _, _, _, _ in
      let transfer = receiver.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
      return transfer?.isCancelled.withLock { $0 } == true ? 1 : 0
    }
    let code = library.perform(handle)
    guard transfer.byteCount <= Self.byteLimit else {
      throw Self.error(request, "the answer has more than \(Self.byteLimit) bytes")
    }
    guard code == CURLE_OK else {
      let reason =
        switch code {
        case CURLE_OPERATION_TIMEDOUT: "no answer for \(request.timeout / .seconds(1)) s"
        case CURLE_TOO_MANY_REDIRECTS: "it is redirected more than \(Self.redirectLimit) times"
        default: library.text(code).map { String(cString: $0) } ?? "libcurl has failed (\(code.rawValue))"
        }
      throw Self.error(request, reason)
    }
    return Response(
      status: Int(pipsink_curl_status(library.get, handle)),
      url: pipsink_curl_address(library.get, handle).map { String(cString: $0) } ?? request.url.text,
      headers: transfer.headers, body: String(decoding: transfer.body, as: UTF8.self))
  }

  private func set(
    _ request: Request, on handle: UnsafeMutableRawPointer, _ headers: UnsafeMutablePointer<curl_slist>?,
    _ library: CurlLibrary
  ) {
    let milliseconds = Int(max(.milliseconds(1), min(request.timeout, .seconds(600))) / .milliseconds(1))
    // Nobody is sent from an encrypted connection to one that is not.
    let schemes = request.url.isEncrypted ? "https" : "http,https"
    let texts: [(CURLoption, String?)] = [
      (CURLOPT_URL, request.url.text), (CURLOPT_CUSTOMREQUEST, request.method), (CURLOPT_COPYPOSTFIELDS, request.body),
      (CURLOPT_XOAUTH2_BEARER, request.token), (CURLOPT_PROTOCOLS_STR, schemes), (CURLOPT_REDIR_PROTOCOLS_STR, schemes),
      (CURLOPT_USERAGENT, "PipSink/\(PipSink.version)"),
    ]
    for (option, text) in texts {
      if let text { _ = pipsink_curl_set_text(library.set, handle, option, text) }
    }
    let numbers: [(CURLoption, Int)] = [
      (CURLOPT_TIMEOUT_MS, milliseconds), (CURLOPT_FOLLOWLOCATION, 1), (CURLOPT_MAXREDIRS, Self.redirectLimit),
      // A server may redirect by any status; the offer goes with the request then (CURL_REDIR_POST_ALL).
      (CURLOPT_POSTREDIR, 7),
      // Signals would be for the whole process.
      (CURLOPT_NOSIGNAL, 1), (CURLOPT_NOPROGRESS, 0),
    ]
    for (option, number) in numbers { _ = pipsink_curl_set_number(library.set, handle, option, number) }
    if request.token != nil {
      // CURLAUTH_BEARER, which is a macro that Swift does not see.
      _ = pipsink_curl_set_number(library.set, handle, CURLOPT_HTTPAUTH, 1 << 6)
    }
    _ = pipsink_curl_set_pointer(library.set, handle, CURLOPT_HTTPHEADER, headers)
  }
}
