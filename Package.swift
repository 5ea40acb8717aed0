// swift-tools-version: 6.3
import PackageDescription

/// `make` sets this for lint, test and CI, so that a warning in our own code fails the build. Packages that depend on
/// PipSink never see it.
let warnings: [SwiftSetting] =
  Context.environment["PIPSINK_WARNINGS_AS_ERRORS"] == "1" ? [.treatAllWarnings(as: .error)] : []

/// `make fuzz` sets this: the demo is a library then, whose parsers the fuzzing program calls, as no program can be linked
/// with another.
let fuzzes = Context.environment["PIPSINK_FUZZ"] == "1"

/// `make test` sets this for its release build: what a frame costs is tested then, and the other tests are not compiled.
/// Swift that is not optimised allocates for closures, and the sanitizers' builds count other instructions.
let testsCosts = Context.environment["PIPSINK_COST_TESTS"] == "1"

let demoDependencies: [Target.Dependency] = [
  "CGStreamer",
  "PipSink",
  "PipSinkWindows",
  "PipSinkDBus",
  "GstPipSink",
  .product(name: "ArgumentParser", package: "swift-argument-parser"),
  .product(name: "Logging", package: "swift-log"),
]

let package = Package(
  name: "pipsink",
  products: [
    .library(name: "PipSink", targets: ["PipSink"]),
    .library(name: "PipSinkWindows", targets: ["PipSinkWindows"]),
    .library(name: "PipSinkGTK", targets: ["PipSinkGTK"]),
    .library(name: "PipSinkGTK4", targets: ["PipSinkGTK4"]),
    .library(name: "PipSinkDBus", targets: ["PipSinkDBus"]),
    .library(name: "gstpipsink", type: .dynamic, targets: ["GstPipSink"]),
    // For what an app does with these C libraries itself.
    .library(name: "CGStreamer", targets: ["CGStreamer"]),
    .library(name: "CGTK", targets: ["CGTK"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
  ],
  targets: [
    .systemLibrary(
      name: "CGStreamer",
      pkgConfig: "gstreamer-app-1.0 gstreamer-video-1.0 gstreamer-pbutils-1.0",
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
      ],
      swiftSettings: warnings
    ),
    .systemLibrary(
      name: "CWindows",
      pkgConfig:
        "gio-2.0 xcb xcb-shm xcb-randr xcb-xkb xkbcommon xkbcommon-x11 wayland-client wayland-cursor cairo pangocairo",
      providers: [
        .apt([
          "libxcb-shm0-dev", "libxcb-randr0-dev", "libxcb-xkb-dev", "libxkbcommon-x11-dev", "libwayland-dev",
          "libpango1.0-dev",
        ])
      ]
    ),
    .target(
      name: "PipSinkWindows",
      dependencies: ["PipSink", "CLibYUV", "CWindows", .product(name: "Logging", package: "swift-log")],
      swiftSettings: warnings
    ),
    .systemLibrary(
      name: "CGTK",
      pkgConfig: "gtk+-3.0 x11",
      providers: [.apt(["libgtk-3-dev"])]
    ),
    .target(
      name: "PipSinkGTK",
      dependencies: ["PipSink", "PipSinkWindows", "CGTK"],
      swiftSettings: warnings
    ),
    // GTK 4 is no dependency: its functions are found in programs that have it.
    .target(
      name: "PipSinkGTK4", dependencies: ["CGStreamer", "PipSink", "PipSinkWindows"], swiftSettings: warnings),
    .systemLibrary(name: "CGIO", pkgConfig: "gio-2.0", providers: [.apt(["libglib2.0-dev"])]),
    .target(
      name: "PipSinkDBus",
      dependencies: ["PipSink", "CGIO", .product(name: "Logging", package: "swift-log")],
      swiftSettings: warnings
    ),
    .target(
      name: "GstPipSink",
      dependencies: ["CGStreamer", "PipSink", "PipSinkDBus", "PipSinkGTK4", "PipSinkWindows"],
      swiftSettings: warnings
    ),
    .executableTarget(
      name: "call", dependencies: ["PipSink", "PipSinkWindows"], path: "examples/call", swiftSettings: warnings),
    .executableTarget(
      name: "gtk-call",
      dependencies: ["PipSink", "PipSinkGTK", "PipSinkWindows", "CGTK"],
      path: "examples/gtk-call",
      swiftSettings: warnings
    ),
    .target(name: "CCallSDK", path: "examples/sdk-call/sdk"),
    .executableTarget(
      name: "sdk-call",
      dependencies: ["CCallSDK", "PipSink", "PipSinkWindows"],
      path: "examples/sdk-call",
      exclude: ["sdk"],
      swiftSettings: warnings
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
      dependencies: ["CGStreamer", "CGStreamerCheck", "CLibYUV", "GstPipSink", "PipSink", "pipsink-demo"],
      swiftSettings: warnings
    ),
    .testTarget(
      name: "PipSinkTests",
      dependencies: [
        "TestSupport", "PipSink", "CGStreamer", "CGStreamerCheck", "CLibYUV",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Histogram", package: "hdrhistogram-swift"),
      ],
      swiftSettings: warnings
    ),
    .testTarget(
      name: "PipSinkWindowsTests",
      dependencies: ["TestSupport", "PipSink", "PipSinkWindows", "CGTK", "CWindows", "pipsink-demo"],
      exclude: ["holding-compositor.py", "touch-kwin.py", "wayland-protocols.txt"],
      swiftSettings: warnings
    ),
    .testTarget(
      name: "PipSinkGTKTests", dependencies: ["TestSupport", "PipSink", "PipSinkGTK", "gtk-call"],
      swiftSettings: warnings),
    .testTarget(
      name: "PipSinkGTK4Tests",
      dependencies: ["TestSupport", "PipSink", "PipSinkGTK4", "GstPipSink"],
      exclude: ["paintable.py"],
      swiftSettings: warnings
    ),
    .testTarget(
      name: "PipSinkDBusTests",
      dependencies: ["TestSupport", "CGIO", "PipSink", "PipSinkDBus", "pipsink-demo"],
      exclude: ["dbus-flood.py", "dbus-streams.py"],
      swiftSettings: warnings
    ),
    .testTarget(
      name: "GstPipSinkTests",
      dependencies: ["TestSupport", "CGStreamer", "CGStreamerCheck", "GstPipSink", "PipSink"],
      exclude: [
        "host-sleep.c", "host-loop.py", "player.py", "state-changes.py", "foreign-window.c", "foreign-surface.c",
      ],
      swiftSettings: warnings
    ),
    .testTarget(
      name: "DemoTests",
      dependencies: [
        "TestSupport", "CGStreamer", "PipSink", "PipSinkDBus", "pipsink-demo",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      exclude: ["evil-server.py", "rtsp-server.py"],
      swiftSettings: warnings
    ),
    // What belongs to no module: the documents, the examples, the folders of the sources, what is installed.
    .testTarget(
      name: "RepositoryTests",
      dependencies: [
        "TestSupport", "CGStreamer", "CGStreamerCheck", "GstPipSink", "PipSink", "PipSinkGTK", "PipSinkGTK4",
        "PipSinkWindows", "call", "gtk-call", "pipsink-demo", "sdk-call",
      ],
      exclude: ["main-loops.cpp", "main-loops.swift"],
      swiftSettings: warnings
    ),
  ],
  swiftLanguageModes: [.v6]
)

let fuzzDependencies: [Target.Dependency] = [
  "CGIO", "CGStreamer", "PipSink", "PipSinkDBus", "pipsink-demo",
  .product(name: "ArgumentParser", package: "swift-argument-parser"),
  .product(name: "Logging", package: "swift-log"),
]

if fuzzes {
  package.targets += [
    .target(name: "pipsink-demo", dependencies: demoDependencies, exclude: ["PipSinkDemo.swift"]),
    .executableTarget(
      name: "pipsink-fuzz", dependencies: fuzzDependencies, path: "Fuzz", exclude: ["seeds", "SeedTests.swift"]),
  ]
} else {
  package.products.append(.executable(name: "pipsink-demo", targets: ["pipsink-demo"]))
  package.targets += [
    .executableTarget(name: "pipsink-demo", dependencies: demoDependencies, swiftSettings: warnings),
    .testTarget(
      name: "FuzzTests", dependencies: fuzzDependencies, path: "Fuzz", exclude: ["seeds", "FuzzProgram.swift"],
      swiftSettings: warnings),
  ]
}

if testsCosts {
  package.targets.removeAll { $0.type == .test && $0.name != "TestSupport" }
  package.targets.append(
    .testTarget(
      name: "CostTests", dependencies: ["TestSupport", "CAllocationCounter", "CGStreamer", "PipSink", "pipsink-demo"],
      swiftSettings: warnings))
}
