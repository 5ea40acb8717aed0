import Foundation
import PipSink
import Testing

@testable import TestSupport
@testable import pipsink_demo

/// Calls by servers of WHEP and WHIP, from the command line.
@Suite(
  .timeLimit(.minutes(2)),
  .enabled(
    if: ElementInspection.exists("webrtcbin") && ElementInspection.exists("nicesrc"), "webrtcbin is not installed"))
struct CallCommandTests {
  private static let camera =
    "videotestsrc is-live=true pattern=blue ! video/x-raw,width=320,height=240,framerate=30/1 ! appsink"

  @Test func aCallShowsTheOthersAndSendsTheLocalPictureAndTheMicrophone() async throws {
    let server = try await WHEPServer()
    let demo = try Demo.start([
      "call", Self.camera + " name=camera", "--play", server.url("red", scheme: "whep"), "--play",
      server.url("h264/green", scheme: "whep"), "--publish", server.url("whip", scheme: "whip"), "--microphone",
      "audiotestsrc is-live=true", "--surface", "offscreen", "--mode", "pip", "--report", "-",
    ])
    #expect(
      await demo.wait {
        $0.errors.contains(/red [1-9][0-9.]* fps/) && $0.errors.contains(/green [1-9][0-9.]* fps/)
          && server.log.contains("picture blue 320x240") && server.log.contains("sound")
      }, "\(demo.errors) \(server.log)")
    demo.interrupt()
    let result = try await demo.result()
    #expect(result.status == 0, "\(result.errors)")
    #expect(server.log.filter { $0.hasPrefix("DELETE") }.count == 3, "\(server.log)")
    let report = try result.report()
    #expect(report.streams.keys.sorted() == ["camera", "green", "red"])
    let sent = try #require(report.streams["camera"]?.sent)
    #expect(sent.state == "connected" && sent.packets > 0 && sent.bytes > 0)
    #expect(report.streams["red"]?.sent == nil)
    // Picture-in-picture prefers the others to the local picture, which may have come before them.
    let sources = report.pictureInPictureEvents.filter { $0.event == "didStart" || $0.event == "sourceChanged" }
    let last = try #require(sources.last)
    let source = try last.event == "didStart" ? last.stream : String(#require(last.detail?.split(separator: " ").last))
    #expect(["red", "green"].contains(source), "\(report.pictureInPictureEvents)")
  }

  @Test func aStreamIsSentWithItsTokenFromItsStartToItsStop() async throws {
    let server = try await WHEPServer()
    let folder = try TemporaryFolder()
    try Data("secret\n".utf8).write(to: folder.url.appendingPathComponent("token"))
    let demo = try Demo.start([
      "play", "--stream", "a=videotestsrc is-live=true ! appsink", "--stream", "b=\(Self.camera)", "--at",
      "0.1=start:b",
      "--publish", "b=" + server.url("token/whip", scheme: "whip"), "--token", "b=" + folder.path("token"),
      "--at", "15=stop:b", "--surface", "none", "--report", "-",
    ])
    #expect(await demo.wait { _ in server.log.contains("picture blue 320x240") }, "\(demo.errors) \(server.log)")
    #expect(server.log.contains("POST /token/whip 201 token"))
    #expect(await demo.wait { _ in server.log.last == "DELETE /session/1 200 token" }, "\(demo.errors) \(server.log)")
    demo.interrupt()
    let result = try await demo.result()
    #expect(result.status == 0, "\(result.errors)")
  }

  @Test func aServerThatRefusesAStreamMakesTheRunFailAndTheStreamGoesOn() async throws {
    let server = try await WHEPServer()
    let demo = try Demo.start([
      "play", Self.camera + " name=me", "--publish", server.url("status/401", scheme: "whip"), "--surface", "none",
      "--report", "-",
    ])
    let failure = "stream \"me\" is not sent: \(server.url("status/401")) has answered 401: because of 401;"
    #expect(
      await demo.wait { $0.errors.contains(failure) && $0.errors.contains(/me [1-9][0-9.]* fps/) }, "\(demo.errors)")
    demo.interrupt()
    let result = try await demo.result()
    #expect(result.status == 74)
    let report = try result.report()
    #expect(report.streams["me"]?.state == "playing" && report.streams["me"]?.sent?.state == "failed")
  }

  @Test func aServerThatIsNeverReachedMakesTheRunFail() async throws {
    let demo = try Demo.start([
      "play", Self.camera + " name=me", "--publish", "me=whip://127.0.0.1:9/", "--surface", "none",
    ])
    #expect(await demo.wait { $0.errors.contains("sending stream \"me\": ") }, "\(demo.errors)")
    demo.interrupt()
    let result = try await demo.result()
    #expect(result.status == 74)
    #expect(result.errors.contains("stream \"me\" was never sent: "), "\(result.errors)")
  }

  @Test(arguments: [
    (["play", "videotestsrc ! appsink name=a", "--publish", "rtmp://host/"], "'--publish"),
    (["play", "videotestsrc ! appsink name=a", "--publish", "b=whip://host/"], "\"b\""),
    (["play", "videotestsrc ! appsink name=a", "--token", "b"], "'--token"),
    (["play", "videotestsrc ! appsink name=a", "--token", "a=/nonexistent"], "\"/nonexistent\" with a token"),
    (["call", "--play", "http://host/"], "such as wheps://HOST/PATH, and not \"http://host/\""),
    (["call", "--play", "whep:host"], "such as wheps://HOST/PATH, and not \"whep:host\""),
  ])
  func argumentsThatCannotBeUsedAreNamed(arguments: [String], words: String) async throws {
    let result = try await Demo.start(arguments + ["--surface", "none"]).result()
    #expect(result.status == 64)
    #expect(result.errors.contains(words), "\(result.errors)")
  }
}
