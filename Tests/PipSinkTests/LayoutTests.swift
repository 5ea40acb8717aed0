import Testing

@testable import PipSink

@Suite struct LayoutTests {
  @Test(
    arguments: [
      (1, 1, 1), (2, 2, 1), (3, 2, 2), (4, 2, 2), (5, 3, 2), (6, 3, 2), (9, 3, 3), (12, 4, 3),
    ])
  func aGridShowsItsTilesAsLargeAsItCan(grid: (count: Int, columns: Int, rows: Int)) {
    let frames = GridLayout.frames(count: grid.count, in: .init(width: 1920, height: 1080))
    #expect(frames.count == grid.count)
    #expect(Set(frames.map(\.y)).count == grid.rows)
    #expect(frames.filter { $0.y == 0 }.count == grid.columns)
  }

  @Test func aTallSurfaceHasItsTilesOneAboveTheOther() {
    let frames = GridLayout.frames(count: 3, in: .init(width: 400, height: 900))
    #expect(frames.map(\.x) == [0, 0, 0])
    #expect(frames.map(\.y) == [0, 300, 600])
  }

  @Test func theShapeOfThePicturesDecidesToo() {
    let size = PictureSize(width: 1920, height: 1080)
    let tall = GridLayout.frames(count: 3, in: size, aspectRatio: 9.0 / 16)
    #expect(tall.map(\.x) == [0, 640, 1280] && tall.allSatisfy { $0.y == 0 && $0.height == 1080 })
    let wide = GridLayout.frames(count: 3, in: size, aspectRatio: 8)
    #expect(wide.map(\.y) == [0, 360, 720] && wide.allSatisfy { $0.width == 1920 })
  }

  @Test func aLastRowThatLacksSeveralTilesIsInTheMiddleToo() {
    let frames = GridLayout.frames(count: 7, in: .init(width: 900, height: 900), aspectRatio: 1)
    #expect(frames.map(\.x) == [0, 300, 600, 0, 300, 600, 300])
    let two = GridLayout.frames(count: 8, in: .init(width: 900, height: 900), aspectRatio: 1)
    #expect(two.suffix(2).map(\.x) == [150, 450])
  }

  @Test(arguments: [PictureSize(width: 0, height: 10), PictureSize(width: 10, height: 0)])
  func aSurfaceWithoutASizeHasNoTiles(size: PictureSize) {
    #expect(GridLayout.frames(count: 3, in: size).isEmpty)
  }

  @Test func tilesFillTheSurfaceWithoutOverlap() {
    for count in 1...20 {
      for size in [PictureSize(width: 1279, height: 719), .init(width: 333, height: 777), .init(width: 7, height: 5)] {
        let frames = GridLayout.frames(count: count, in: size)
        for (index, frame) in frames.enumerated() {
          #expect(frame.x >= 0 && frame.y >= 0 && frame.width >= 0 && frame.height >= 0)
          #expect(frame.x + frame.width <= size.width && frame.y + frame.height <= size.height)
          for other in frames[..<index] {
            let isApart =
              frame.x >= other.x + other.width || other.x >= frame.x + frame.width
              || frame.y >= other.y + other.height || other.y >= frame.y + frame.height
            #expect(isApart, "\(frame) and \(other) of \(count) in \(size)")
          }
        }
      }
    }
    #expect(GridLayout.frames(count: 0, in: .init(width: 10, height: 10)).isEmpty)
  }

  @Test func aLastRowThatIsNotFullIsInTheMiddle() {
    let frames = GridLayout.frames(count: 3, in: .init(width: 800, height: 450))
    #expect(frames[2] == PictureRect(x: 200, y: 225, width: 400, height: 225))
  }

  @Test func aSplitGivesTheLocalPictureAllOrHalf() {
    let size = PictureSize(width: 641, height: 360)
    let alone = SplitLayout.frames(in: size, showsRemote: false)
    #expect(alone.local == PictureRect(x: 0, y: 0, width: 641, height: 360))
    #expect(alone.remote == nil)
    let both = SplitLayout.frames(in: size, showsRemote: true)
    #expect(both.local == PictureRect(x: 0, y: 0, width: 320, height: 360))
    #expect(both.remote == PictureRect(x: 320, y: 0, width: 321, height: 360))
  }
}
