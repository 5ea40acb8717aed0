// The functions of libcurl that are variadic, so that Swift cannot call them.
//
// Nothing is linked with libcurl: it is opened when the first request is made, so that programs that make none do not
// load it and the thirty libraries that it needs in Debian 12. Each function here gets the address of one of libcurl's.
#ifndef PIPSINK_CCURL_SHIM_H
#define PIPSINK_CCURL_SHIM_H

#include <curl/curl.h>

typedef CURLcode (*PipSinkCurlSet)(CURL *, CURLoption, ...);

static inline CURLcode pipsink_curl_set_number(void *set, CURL *handle, CURLoption option, long value) {
  return ((PipSinkCurlSet)set)(handle, option, value);
}

/// libcurl copies the text, except that of CURLOPT_POSTFIELDS.
static inline CURLcode pipsink_curl_set_text(void *set, CURL *handle, CURLoption option, const char *value) {
  return ((PipSinkCurlSet)set)(handle, option, value);
}

static inline CURLcode pipsink_curl_set_pointer(void *set, CURL *handle, CURLoption option, void *value) {
  return ((PipSinkCurlSet)set)(handle, option, value);
}

/// Sets the function that gets the body, or the headers, in pieces.
static inline CURLcode pipsink_curl_set_writer(
    void *set, CURL *handle, CURLoption option, size_t (*value)(char *, size_t, size_t, void *)) {
  return ((PipSinkCurlSet)set)(handle, option, value);
}

/// Sets the function that libcurl calls about once a second, and that ends the transfer by returning 1.
static inline CURLcode pipsink_curl_set_progress(
    void *set, CURL *handle, int (*value)(void *, curl_off_t, curl_off_t, curl_off_t, curl_off_t)) {
  return ((PipSinkCurlSet)set)(handle, CURLOPT_XFERINFOFUNCTION, value);
}

static inline long pipsink_curl_status(void *get, CURL *handle) {
  long status = 0;
  ((CURLcode (*)(CURL *, CURLINFO, ...))get)(handle, CURLINFO_RESPONSE_CODE, &status);
  return status;
}

/// The address of the last answer, after redirects. It belongs to the handle.
static inline const char *pipsink_curl_address(void *get, CURL *handle) {
  char *address = NULL;
  ((CURLcode (*)(CURL *, CURLINFO, ...))get)(handle, CURLINFO_EFFECTIVE_URL, &address);
  return address;
}

#endif
