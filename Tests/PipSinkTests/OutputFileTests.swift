import Foundation
import Glibc
import Testing

@testable import PipSink

@Suite struct OutputFileTests {
  /// A temporary folder of a test.
  private final class Folder {
    let path: String

    init() throws {
      var name = Array("/tmp/pipsink-files-XXXXXX".utf8CString)
      let made = try #require(mkdtemp(&name).map { String(cString: $0) })
      path = made
    }

    deinit {
      try? FileManager.default.removeItem(atPath: path)
    }

    func callAsFunction(_ name: String) -> String { path + "/" + name }

    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }
  }

  private static func text(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }

  private static func status(_ path: String) throws -> stat {
    var status = stat()
    try #require(lstat(path, &status) == 0)
    return status
  }

  @Test func aFileIsMadeAsTheUmaskSaysAndReplacedAsItWas() throws {
    let folder = try Folder()
    let path = folder("file")
    // This file has the mode that the system itself derives from the umask.
    let other = open(folder("other"), O_CREAT | O_WRONLY, 0o666)
    close(other)
    try OutputFile.write("one".utf8, to: path)
    #expect(try Self.status(path).st_mode == Self.status(folder("other")).st_mode)
    chmod(path, 0o640)
    let first = try Self.status(path).st_ino
    try OutputFile.write("two".utf8, to: path)
    #expect(Self.text(path) == "two")
    #expect(try Self.status(path).st_mode & 0o777 == 0o640)
    #expect(try Self.status(path).st_ino != first, "a new file has replaced the old one")
    #expect(folder.names == ["file", "other"])
  }

  @Test func aLinkStaysAndWhatItLeadsToIsReplaced() throws {
    let folder = try Folder()
    try FileManager.default.createDirectory(atPath: folder("deep"), withIntermediateDirectories: true)
    try OutputFile.write("old".utf8, to: folder("deep/target"))
    symlink("deep/target", folder("relative"))
    symlink(folder("relative"), folder("twice"))
    symlink("deep/new", folder("dangling"))
    symlink("circle", folder("circle"))
    try OutputFile.write("new".utf8, to: folder("twice"))
    try OutputFile.write("made".utf8, to: folder("dangling"))
    #expect(Self.text(folder("deep/target")) == "new")
    #expect(Self.text(folder("deep/new")) == "made")
    for link in ["relative", "twice", "dangling"] {
      #expect(try Self.status(folder(link)).st_mode & S_IFMT == S_IFLNK, "\(link)")
    }
    #expect(throws: OutputFileError(code: ELOOP)) { try OutputFile.write("x".utf8, to: folder("circle")) }
    #expect(folder.names == ["circle", "dangling", "deep", "relative", "twice"])
  }

  @Test func whatIsNoRegularFileIsWrittenToOrRefused() throws {
    let folder = try Folder()
    let fifo = folder("fifo")
    mkfifo(fifo, 0o600)
    #expect(throws: OutputFileError("nobody reads it")) { try OutputFile.write("x".utf8, to: fifo) }
    let reader = open(fifo, O_RDONLY | O_NONBLOCK)
    defer { close(reader) }
    try OutputFile.write("hello".utf8, to: fifo)
    var bytes = [UInt8](repeating: 0, count: 16)
    #expect(read(reader, &bytes, 16) == 5)
    // The pipe holds 64 KiB, and nobody reads them.
    #expect(throws: OutputFileError("its reader accepts no data")) {
      try OutputFile.write(Array(repeating: UInt8(1), count: 1_000_000), to: fifo)
    }
    #expect(try Self.status(fifo).st_mode & S_IFMT == S_IFIFO)
    #expect(throws: OutputFileError(code: EISDIR)) { try OutputFile.write("x".utf8, to: folder.path) }
    #expect(throws: OutputFileError(code: EISDIR)) { try OutputFile.write("x".utf8, to: folder.path + "/") }
    #expect(throws: OutputFileError("it has no name")) { try OutputFile.write("x".utf8, to: "") }
    #expect(throws: OutputFileError(code: ENAMETOOLONG)) {
      try OutputFile.write("x".utf8, to: folder(String(repeating: "n", count: 256)))
    }
    #expect(throws: OutputFileError(code: ENOENT)) { try OutputFile.write("x".utf8, to: folder("none/file")) }
    #expect(throws: OutputFileError(code: ENOTDIR)) { try OutputFile.write("x".utf8, to: fifo + "/file") }
    #expect(folder.names == ["fifo"])
    // The test makes its own device, since a mistake would replace the device by a file. Only root may make a device,
    // and not in every file system.
    let null = folder("null")
    guard mknod(null, S_IFCHR | 0o666, makedev(1, 3)) == 0, open(null, O_WRONLY) >= 0 else { return }
    try OutputFile.write("gone".utf8, to: null)
    symlink("null", folder("link"))
    try OutputFile.write("gone".utf8, to: folder("link"))
    #expect(try Self.status(null).st_mode & S_IFMT == S_IFCHR)
  }

  private func makedev(_ major: UInt, _ minor: UInt) -> dev_t { dev_t(major << 8 | minor) }

  @Test func aDescriptorByItsNameIsThatDescriptor() throws {
    let folder = try Folder()
    let descriptor = open(folder("file"), O_CREAT | O_RDWR, 0o600)
    defer { close(descriptor) }
    for path in ["/dev/fd/\(descriptor)", "/proc/self/fd/\(descriptor)"] {
      try OutputFile.write("text ".utf8, to: path)
    }
    #expect(Self.text(folder("file")) == "text text ")
    #expect(throws: OutputFileError.self) { try OutputFile.write("x".utf8, to: "/dev/fd/999999") }
  }

  @Test func theFileThatIsStandardOutputIsNotReplacedWhateverItsName() async {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      let descriptor = open(folder("file"), O_CREAT | O_RDWR, 0o600)
      dup2(descriptor, STDOUT_FILENO)
      symlink("/dev/stdout", folder("link"))
      for path in ["/dev/stdout", "/dev/fd/1", folder("link"), folder("file")] {
        try OutputFile.write("text ".utf8, to: path)
      }
      #expect(Self.text(folder("file")) == "text text text text ")
    }
  }

  /// Whether the kernel's protection of folders that all users can write can be switched on for a test.
  private static let canProtect = getuid() == 0 && access("/proc/sys/fs/protected_regular", W_OK) == 0

  @Test(.enabled(if: canProtect, "root and the kernel's settings are needed"))
  func anotherUsersLinkFileOrFIFOInAFolderOfAllUsersIsRefused() throws {
    let settings = ["symlinks": "1", "regular": "2", "fifos": "2"].map { ("/proc/sys/fs/protected_\($0)", $1) }
    let before = try settings.map { try String(contentsOfFile: $0.0, encoding: .utf8) }
    defer {
      for ((path, _), value) in zip(settings, before) {
        try? value.write(toFile: path, atomically: false, encoding: .utf8)
      }
    }
    for (path, value) in settings { try value.write(toFile: path, atomically: false, encoding: .utf8) }
    let folder = try Folder()
    let shared = folder("shared")
    mkdir(shared, 0o777)
    chmod(shared, 0o1777)
    try OutputFile.write("precious".utf8, to: folder("victim"))
    symlink(folder("victim"), shared + "/link")
    mkfifo(shared + "/fifo", 0o666)
    chmod(shared + "/fifo", 0o666)
    try OutputFile.write("".utf8, to: shared + "/file")
    chmod(shared + "/file", 0o666)
    let reader = open(shared + "/fifo", O_RDONLY | O_NONBLOCK)
    defer { close(reader) }
    // The folder belongs to a third user, since the owner of the folder is trusted.
    chown(shared, 65_533, 65_533)
    for name in ["link", "fifo", "file"] {
      lchown("\(shared)/\(name)", 65_534, 65_534)
      #expect(throws: OutputFileError(code: EACCES), "\(name)") {
        try OutputFile.write("x".utf8, to: "\(shared)/\(name)")
      }
    }
    #expect(Self.text(folder("victim")) == "precious" && Self.text(shared + "/file") == "")
    var byte: UInt8 = 0
    #expect(read(reader, &byte, 1) == 0, "nothing was written into the FIFO")
    try OutputFile.write("own".utf8, to: shared + "/own")
    #expect(Self.text(shared + "/own") == "own")
  }

  @Test func whatCannotBeWrittenWholeLeavesTheOldFileAndNothingElse() async {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      let path = folder("file")
      try OutputFile.write("old".utf8, to: path)
      // A limit on the file's size has the same effect as a full disk. Its signal would end the program.
      signal(SIGXFSZ, SIG_DFL)
      var limit = rlimit(rlim_cur: 1000, rlim_max: rlim_t.max)
      getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
      limit.rlim_cur = 1000
      try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
      for name in ["file", "new"] {
        #expect(throws: OutputFileError(code: EFBIG), "\(name)") {
          try OutputFile.write(Array(repeating: UInt8(1), count: 5000), to: folder(name))
        }
      }
      #expect(Self.text(path) == "old" && folder.names == ["file"])
    }
  }

  @Test func aPictureIsWrittenWholeToo() throws {
    let folder = try Folder()
    let image = BGRAImage(size: PictureSize(width: 2, height: 2), bytes: Array(repeating: 255, count: 16))
    symlink("picture.png", folder("link.png"))
    try image.writePNG(to: folder("link.png"))
    #expect(folder.names == ["link.png", "picture.png"])
    #expect {
      try image.writePNG(to: folder("none/picture.png"))
    } throws: {
      $0 as? PipSinkError
        == .frame(.notWritten(path: folder("none/picture.png"), reason: OutputFileError(code: ENOENT).description))
    }
  }
}
