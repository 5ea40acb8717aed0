// swift-tools-version: 6.3
import PackageDescription

/// The only test targets that there are, for a build of their own. `make test-cost` and `make fuzz` name them, so that no
/// other tests are compiled for them. Without these names there are all but `CostTests`: Swift that is not optimised
/// allocates for closures, and the sanitizers' builds count other instructions.
let testTargets = Context.environment["PIPSINK_TESTS"]?.split(separator: ",").map(String.init)

let package = Package(
  name: "pipsink",
  products: [
    .library(name: "PipSink", targets: ["PipSink"]),
    .library(name: "PipSinkWindows", targets: ["PipSinkWindows"]),
    .library(name: "PipSinkGTK", targets: ["PipSinkGTK"]),
    .library(name: "PipSinkGTK4", targets: ["PipSinkGTK4"]),
    .library(name: "PipSinkDBus", targets: ["PipSinkDBus"]),
    .library(name: "PipSinkCalls", targets: ["PipSinkCalls"]),
    .library(name: "gstpipsink", type: .dynamic, targets: ["GstPipSink"]),
    .executable(name: "pipsink-demo", targets: ["pipsink-demo"]),
    .executable(name: "pipsink-bench", targets: ["pipsink-bench"]),
    // For what an app does with these C libraries itself.
    .library(name: "CGStreamer", targets: ["CGStreamer"]),
    .library(name: "CGTK", targets: ["CGTK"]),
    .library(name: "CWindows", targets: ["CWindows"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
  ],
  targets: [
    .systemLibrary(
      name: "CGStreamer",
      pkgConfig: "gstreamer-allocators-1.0 gstreamer-app-1.0 gstreamer-video-1.0 gstreamer-pbutils-1.0",
      providers: [.apt(["libgstreamer1.0-dev", "libgstreamer-plugins-base1.0-dev"])]
    ),
    .systemLibrary(name: "CLibYUV", providers: [.apt(["libyuv-dev"])]),
    .target(
      name: "PipSink",
      dependencies: [
        "CGStreamer",
        "CLibYUV",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Histogram", package: "hdrhistogram-swift"),
      ]
    ),
    .systemLibrary(
      name: "CWindows",
      pkgConfig:
        "gio-2.0 xcb xcb-shm xcb-present xcb-randr xcb-shape xcb-xkb xkbcommon xkbcommon-x11 wayland-client "
        + "wayland-cursor cairo pangocairo",
      providers: [
        .apt([
          "libxcb-shm0-dev", "libxcb-present-dev", "libxcb-randr0-dev", "libxcb-shape0-dev", "libxcb-xkb-dev",
          "libxkbcommon-x11-dev", "libwayland-dev", "libpango1.0-dev",
        ])
      ]
    ),
    // EGL and OpenGL ES are opened when the first window draws with them.
    .systemLibrary(name: "CGL", providers: [.apt(["libegl-dev", "libgles-dev"])]),
    .target(
      name: "PipSinkWindows",
      dependencies: ["PipSink", "CGL", "CLibYUV", "CWindows", .product(name: "Logging", package: "swift-log")]
    ),
    .systemLibrary(
      name: "CGTK",
      pkgConfig: "gtk+-3.0 x11",
      providers: [.apt(["libgtk-3-dev"])]
    ),
    .target(
      name: "PipSinkGTK",
      dependencies: ["PipSink", "PipSinkWindows", "CGTK"]
    ),
    // GTK 4 is no dependency: its functions are found in programs that have it.
    .target(
      name: "PipSinkGTK4", dependencies: ["CGStreamer", "PipSink", "PipSinkWindows"]),
    .systemLibrary(name: "CGIO", pkgConfig: "gio-2.0", providers: [.apt(["libglib2.0-dev"])]),
    .target(
      name: "PipSinkDBus",
      dependencies: ["PipSink", "CGIO", .product(name: "Logging", package: "swift-log")]
    ),
    // Only what uses PipSinkCalls links the library for session descriptions.
    .systemLibrary(
      name: "CWebRTC",
      pkgConfig: "gstreamer-sdp-1.0",
      providers: [.apt(["libgstreamer-plugins-base1.0-dev"])]
    ),
    // libcurl is opened when the first request is made.
    .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .target(name: "PipSinkCalls", dependencies: ["CCurl", "CGStreamer", "CWebRTC", "PipSink"]),
    .target(
      name: "GstPipSink",
      dependencies: ["CGStreamer", "PipSink", "PipSinkDBus", "PipSinkGTK4", "PipSinkWindows"]
    ),
    // What both programs need: how they read arguments and files, print, fail and end.
    .target(
      name: "PipSinkCommandLine",
      dependencies: [
        "CGStreamer", "PipSink", "PipSinkWindows",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]
    ),
    .executableTarget(
      name: "pipsink-demo",
      dependencies: [
        "CGStreamer", "GstPipSink", "PipSink", "PipSinkCalls", "PipSinkCommandLine", "PipSinkDBus", "PipSinkWindows",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
      ]
    ),
    .executableTarget(
      name: "pipsink-bench",
      dependencies: [
        "CGStreamer", "GstPipSink", "PipSink", "PipSinkCommandLine", "PipSinkWindows",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]
    ),
    .executableTarget(
      name: "call", dependencies: ["PipSink", "PipSinkWindows"], path: "examples/call"),
    .executableTarget(
      name: "poll", dependencies: ["CWindows", "PipSink", "PipSinkWindows"], path: "examples/poll"),
    .executableTarget(
      name: "two-streams", dependencies: ["PipSink", "PipSinkWindows"], path: "examples/two-streams"),
    .executableTarget(
      name: "gtk-call",
      dependencies: ["PipSink", "PipSinkGTK", "PipSinkWindows", "CGTK"],
      path: "examples/gtk-call"
    ),
    .target(name: "CCallSDK", path: "examples/sdk-call/sdk"),
    .executableTarget(
      name: "sdk-call",
      dependencies: ["CCallSDK", "PipSink", "PipSinkWindows"],
      path: "examples/sdk-call",
      exclude: ["sdk"]
    ),
    .target(name: "CAllocationCounter", path: "Tests/CAllocationCounter"),
    .systemLibrary(
      name: "CGStreamerCheck",
      path: "Tests/CGStreamerCheck",
      pkgConfig: "gstreamer-check-1.0",
      providers: [.apt(["libgstreamer1.0-dev"])]
    ),
    // What the tests of several modules use. It is a test target, since it uses what is internal in modules, which
    // release builds of other targets cannot.
    .testTarget(
      name: "TestSupport",
      dependencies: [
        "CGStreamer", "CGStreamerCheck", "CLibYUV", "CWebRTC", "GstPipSink", "PipSink", "pipsink-demo",
      ],
      exclude: [
        "Servers/chromium.py", "Servers/janus.py", "Servers/signalling.py", "Servers/whep-aiortc.py",
        "Servers/whep-chromium.py", "Servers/whep-server.py",
      ]
    ),
    .testTarget(
      name: "PipSinkTests",
      dependencies: [
        "TestSupport", "PipSink", "CGStreamer", "CGStreamerCheck", "CLibYUV",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Histogram", package: "hdrhistogram-swift"),
      ]
    ),
    .testTarget(
      name: "PipSinkCallsTests", dependencies: ["TestSupport", "CGStreamer", "CWebRTC", "PipSink", "PipSinkCalls"]),
    .testTarget(
      name: "PipSinkWindowsTests",
      dependencies: [
        "TestSupport", "PipSink", "PipSinkCommandLine", "PipSinkWindows", "CGTK", "CWindows", "pipsink-demo",
      ],
      exclude: ["holding-compositor.py", "touch-kwin.py", "wayland-protocols.txt"]
    ),
    .testTarget(
      name: "PipSinkGTKTests", dependencies: ["TestSupport", "PipSink", "PipSinkGTK", "gtk-call"]),
    .testTarget(
      name: "PipSinkGTK4Tests",
      dependencies: ["TestSupport", "PipSink", "PipSinkGTK4", "GstPipSink"],
      exclude: ["paintable.py"]
    ),
    .testTarget(
      name: "PipSinkDBusTests",
      dependencies: ["TestSupport", "CGIO", "PipSink", "PipSinkDBus", "pipsink-demo"],
      exclude: ["accessible.py", "dbus-flood.py", "dbus-streams.py", "desktop-services.py"]
    ),
    .testTarget(
      name: "GstPipSinkTests",
      dependencies: ["TestSupport", "CGStreamer", "CGStreamerCheck", "GstPipSink", "PipSink"],
      exclude: [
        "host-sleep.c", "host-loop.py", "player.py", "demand-host.py", "overlay-host.py", "state-changes.py",
        "foreign-window.c", "foreign-surface.c",
      ]
    ),
    .testTarget(
      name: "DemoTests",
      dependencies: [
        "TestSupport", "CGStreamer", "PipSink", "PipSinkCommandLine", "PipSinkDBus", "pipsink-demo",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      exclude: ["evil-server.py", "rtsp-server.py"]
    ),
    .testTarget(
      name: "BenchTests",
      dependencies: [
        "TestSupport", "CGStreamer", "PipSink", "PipSinkCommandLine", "pipsink-bench", "pipsink-demo",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]
    ),
    .testTarget(
      name: "CostTests",
      dependencies: ["TestSupport", "CAllocationCounter", "CGStreamer", "PipSink", "pipsink-bench"]
    ),
    .testTarget(
      name: "FuzzTests",
      dependencies: [
        "CGIO", "CGStreamer", "PipSink", "PipSinkCalls", "PipSinkCommandLine", "PipSinkDBus", "pipsink-demo",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Fuzz",
      exclude: ["seeds"]
    ),
    // What belongs to no module: the documents, the examples, the folders of the sources, what is installed.
    .testTarget(
      name: "RepositoryTests",
      dependencies: [
        "TestSupport", "CGStreamer", "CGStreamerCheck", "GstPipSink", "PipSink", "PipSinkGTK", "PipSinkGTK4",
        "PipSinkCommandLine", "PipSinkWindows", "call", "gtk-call", "pipsink-bench", "pipsink-demo", "sdk-call",
      ],
      exclude: ["main-loops.cpp", "main-loops.swift"]
    ),
  ],
  swiftLanguageModes: [.v6]
)

package.targets.removeAll { target in
  target.type == .test && !(testTargets?.contains(target.name) ?? (target.name != "CostTests"))
}
