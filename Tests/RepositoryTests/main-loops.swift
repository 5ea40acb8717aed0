// A program whose first argument chooses its main loop, with the snippets of docs/embedding.md about main loops.
// MainLoopTests compiles it.
import CLoops
import Glibc
import PipSink
import PipSinkWindows

/// Runs a loop that waits for descriptors, until the session's window is closed.
@MainActor func poll(_ session: PictureInPictureSession) {
  var isRunning = true
  Task {
    try await session.run()
    isRunning = false
  }
  while isRunning {
    var sources = [pollfd(fd: MainLoop.fileDescriptor, events: Int16(POLLIN), revents: 0)]  // and the app's own
    _ = poll(&sources, nfds_t(sources.count), -1)
    MainLoop.runPendingJobs()
  }
}

/// Runs SDL's loop, which waits for no descriptors: a job waits for 10 ms at most.
@MainActor func runSDL(_ session: PictureInPictureSession) {
  var isRunning = true
  Task {
    try await session.run()
    isRunning = false
  }
  while isRunning {
    var event = SDL_Event()
    if SDL_WaitEventTimeout(&event, 10) != 0 { isRunning = event.type != SDL_QUIT.rawValue }
    MainLoop.runPendingJobs()
  }
}

let session = try PictureInPictureSession("videotestsrc is-live=true ! appsink name=anna", display: WindowDisplay())
let loop = CommandLine.arguments[1]
switch loop {
case "poll": poll(session)
case "sdl":
  SDL_Init(SDL_INIT_EVENTS)
  runSDL(session)
default:
  Task {
    try await session.run()
    quitQt()
  }
  if loop == "qt-glib" { MainLoop.attachToGLib() }
  runQt(loop == "qt-glib" ? -1 : MainLoop.fileDescriptor) { MainLoop.runPendingJobs() }
}
print("The loop has ended.")
