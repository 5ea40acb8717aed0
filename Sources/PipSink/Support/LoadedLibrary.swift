import Glibc

/// A shared library that is opened at run time. It is never closed, since libraries keep threads and types.
///
/// `@unchecked Sendable`: the handle is constant.
package struct LoadedLibrary: @unchecked Sendable {
  private let handle: UnsafeMutableRawPointer

  /// - Parameters:
  ///   - file: the library's name, such as "libgtk-4.so.1".
  ///   - loads: whether the library is loaded where the process does not have it.
  /// - Returns: nil where it cannot be opened; `dlerror()` says why.
  package init?(_ file: String, loads: Bool) {
    guard let handle = dlopen(file, RTLD_LAZY | (loads ? RTLD_LOCAL : RTLD_NOLOAD)) else { return nil }
    self.handle = handle
  }

  /// The exported function with a name, in the library or those that it is linked with; nil where there is none.
  package func find<Function>(_ name: String, as type: Function.Type = Function.self) -> Function? {
    dlsym(handle, name).map { unsafeBitCast($0, to: type) }
  }
}
